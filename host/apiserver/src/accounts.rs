//! Service accounts: Secrets of type `kubernetes.io/service-account-token` are filled in,
//! and in members every namespace has its default account and `kube-root-ca.crt`.

use crate::auth::jws::ISSUER;
use crate::auth::service_account::{Bearer, Reference};
use crate::delete::{self, Deletion};
use crate::error::ApiError;
use crate::server::{Profile, Server};
use crate::system;
use crate::worker::Task;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use windlass_object::meta::Meta as _;
use windlass_object::path;
use windlass_store::Entry;

const TOKEN_TYPE: &str = "kubernetes.io/service-account-token";
const ACCOUNT_NAME: &str = "kubernetes.io/service-account.name";
const ACCOUNT_UID: &str = "kubernetes.io/service-account.uid";
const SECRETS: &str = "/core/secrets/";
const ACCOUNTS: &str = "/core/serviceaccounts/";
const CONFIG_MAPS: &str = "/core/configmaps/";
const ROOT_CA: &str = "kube-root-ca.crt";

/// What an event means for service accounts.
pub(crate) fn concern(
    server: &Server,
    key: &str,
    previous: Option<&Entry>,
    new: Option<&Entry>,
) -> Option<Task> {
    let namespace = |rest: &str| rest.split('/').next().unwrap_or_default().to_owned();
    let furnishes = |name: &str| {
        (server.profile() == Profile::Member && new.is_none() && key.ends_with(name)).then_some(())
    };
    if let Some(rest) = key.strip_prefix(SECRETS) {
        let text = std::str::from_utf8(new?.bytes()).ok()?;
        return text.contains(TOKEN_TYPE).then(|| Task::Tokens(namespace(rest)));
    }
    if let Some(rest) = key.strip_prefix(ACCOUNTS) {
        if furnishes("/default").is_some() {
            return Some(Task::Furnish(namespace(rest)));
        }
        return (previous.is_none() || new.is_none()).then(|| Task::Tokens(namespace(rest)));
    }
    let rest = key.strip_prefix(CONFIG_MAPS)?;
    furnishes(ROOT_CA).map(|()| Task::Furnish(namespace(rest)))
}

/// Fills in the token Secrets of a namespace, and deletes those whose account is gone.
pub(crate) async fn tokens(server: &Server, namespace: &str) -> Result<(), ApiError> {
    let snapshot = server.store().snapshot();
    let secrets = system::builtin(server, "", "v1", "secrets")?;
    for (key, entry) in snapshot.range(&secrets.range(namespace), None) {
        let typed = std::str::from_utf8(entry.bytes()).is_ok_and(|text| text.contains(TOKEN_TYPE));
        if !typed {
            continue;
        }
        let secret = entry.json_uncached();
        if path::str_at(&secret, &["type"]) != TOKEN_TYPE || secret.is_deleting() {
            continue;
        }
        let account_name = secret.annotation(ACCOUNT_NAME).unwrap_or_default();
        let wanted_uid = secret.annotation(ACCOUNT_UID).unwrap_or_default();
        let account =
            snapshot.get(&format!("{ACCOUNTS}{namespace}/{account_name}")).map(Entry::json_uncached);
        let name = key.rsplit('/').next().unwrap_or_default();
        let call = system::call(&secrets, namespace, name);
        match account {
            Some(account) if wanted_uid.is_empty() || wanted_uid == account.uid() => {
                if complete(&secret) {
                    continue;
                }
                let data = data(server, namespace, &account, &secret)?;
                let filled = system::modify(server, &call, |secret| {
                    secret.set_annotation(ACCOUNT_UID, account.uid());
                    for (key, value) in &data {
                        if path::str_at(secret, &["data", key]).is_empty() {
                            path::set(secret, &["data", key], json!(value));
                        }
                    }
                });
                Box::pin(filled).await?;
            }
            // It had an account, which is gone.
            _ if !wanted_uid.is_empty() => {
                let deletion = Deletion { uid: Some(secret.uid().to_owned()), ..Deletion::default() };
                match Box::pin(delete::delete_object(server, &call, &deletion)).await {
                    Err(error) if error.reason != "NotFound" => return Err(error),
                    _ => {}
                }
            }
            // Its account may still come.
            _ => {}
        }
    }
    Ok(())
}

fn complete(secret: &Value) -> bool {
    !path::str_at(secret, &["data", "token"]).is_empty() && secret.annotation(ACCOUNT_UID).is_some()
}

fn data(
    server: &Server,
    namespace: &str,
    account: &Value,
    secret: &Value,
) -> Result<Vec<(&'static str, String)>, ApiError> {
    let reference =
        |object: &Value| Reference { name: object.name().to_owned(), uid: object.uid().to_owned() };
    let bearer = Bearer {
        namespace: namespace.to_owned(),
        account: reference(account),
        pod: None,
        secret: Some(reference(secret)),
        audiences: vec![ISSUER.to_owned()],
        id: uuid::Uuid::new_v4().to_string(),
    };
    let claims = bearer.claims(jiff::Timestamp::now().as_second(), None);
    let token = server.front().issuer()?.issue(&claims).map_err(ApiError::internal)?;
    let mut data = vec![("token", STANDARD.encode(token)), ("namespace", STANDARD.encode(namespace))];
    if let Some(ca) = server.ca() {
        data.push(("ca.crt", STANDARD.encode(ca)));
    }
    Ok(data)
}

/// Gives a member's namespace what every namespace has.
pub(crate) async fn furnish(server: &Server, namespace: &str) -> Result<(), ApiError> {
    let snapshot = server.store().snapshot();
    let alive =
        snapshot.get(&format!("/core/namespaces/{namespace}")).is_some_and(|e| !e.json().is_deleting());
    if !alive {
        return Ok(());
    }
    let wanted = [
        ("serviceaccounts", "default", json!({"metadata": {"name": "default"}})),
        (
            "configmaps",
            ROOT_CA,
            json!({
                "metadata": {"name": ROOT_CA, "annotations": {
                    "kubernetes.io/description": "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.",
                }},
                "data": {"ca.crt": server.ca().unwrap_or_default()},
            }),
        ),
    ];
    for (plural, name, object) in wanted {
        let resource = system::builtin(server, "", "v1", plural)?;
        if snapshot.get(&resource.key(namespace, name)).is_some() {
            continue;
        }
        match Box::pin(system::create(server, &resource, namespace, object)).await {
            Err(error) if !matches!(error.reason, "AlreadyExists" | "Forbidden" | "NotFound") => {
                return Err(error);
            }
            _ => {}
        }
    }
    Ok(())
}
