//! A client over the network, from a Cluster and its Secret.

use crate::ConnectError;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::{Value, json};
use std::time::Duration;
use windlass_api::Cluster;
use windlass_api::labels::{SECRET_CA_BUNDLE, SECRET_TOKEN};

/// How long a connection may take to open.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Makes the client.
pub(crate) async fn client(cluster: &Cluster, secret: &Value) -> Result<Client, ConnectError> {
    let name = cluster.name();
    let wrong = |message: String| ConnectError::Client { cluster: name.to_owned(), message };
    let token = entry(secret, SECRET_TOKEN)
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .ok_or_else(|| wrong(format!("its secret has no `{SECRET_TOKEN}`")))?;
    let mut server = json!({
        "server": cluster.spec.api_endpoint,
        "insecure-skip-tls-verify": cluster.spec.insecure_skip_tls_verification,
    });
    if let Some(bundle) = entry(secret, SECRET_CA_BUNDLE)
        && !cluster.spec.insecure_skip_tls_verification
        && let Some(map) = server.as_object_mut()
    {
        map.insert("certificate-authority-data".into(), json!(STANDARD.encode(bundle)));
    }
    if !cluster.spec.proxy_url.is_empty()
        && let Some(map) = server.as_object_mut()
    {
        map.insert("proxy-url".into(), json!(cluster.spec.proxy_url));
    }
    let file = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": name,
        "clusters": [{"name": name, "cluster": server}],
        "users": [{"name": name, "user": {"token": token}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
    });
    let file: Kubeconfig = serde_json::from_value(file).map_err(|error| wrong(error.to_string()))?;
    let options = KubeConfigOptions::default();
    let mut config =
        Config::from_custom_kubeconfig(file, &options).await.map_err(|error| wrong(error.to_string()))?;
    config.connect_timeout = Some(CONNECT_TIMEOUT);
    // Watches are long; kube's default would end them in the middle.
    config.read_timeout = None;
    Client::try_from(config).map_err(|error| wrong(error.to_string()))
}

fn entry(secret: &Value, key: &str) -> Option<Vec<u8>> {
    let text = secret.get("data")?.get(key)?.as_str()?;
    STANDARD.decode(text).ok()
}
