//! A kubeconfig for the people who use what we serve: one context per server.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::authority::{Authority, ClientCertificate};

/// One context to be written.
#[derive(Clone, Debug)]
pub struct Context {
    /// The context's name, also that of its cluster.
    pub name: String,
    /// Where it is served, with the member's path prefix.
    pub server: String,
}

/// A kubeconfig with these contexts, the first being the current one, all for
/// one user with a client certificate. Write it with [`super::files::write_private`].
pub fn kubeconfig(
    authority: &Authority,
    user: &str,
    client: &ClientCertificate,
    contexts: &[Context],
) -> Value {
    let root = STANDARD.encode(authority.certificate_pem());
    json!({
        "apiVersion": "v1",
        "kind": "Config",
        "preferences": {},
        "current-context": contexts.first().map(|context| context.name.as_str()).unwrap_or_default(),
        "clusters": contexts.iter().map(|context| json!({
            "name": context.name,
            "cluster": {"server": context.server, "certificate-authority-data": root},
        })).collect::<Vec<_>>(),
        "users": [{
            "name": user,
            "user": {
                "client-certificate-data": STANDARD.encode(&client.certificate),
                "client-key-data": STANDARD.encode(&client.key),
            },
        }],
        "contexts": contexts.iter().map(|context| json!({
            "name": context.name,
            "context": {"cluster": context.name, "user": user},
        })).collect::<Vec<_>>(),
    })
}
