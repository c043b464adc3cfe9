//! `serviceaccounts/<name>/token`: tokens on request, bound to what the request names.

use serde_json::{Value, json};
use windlass_object::meta::Meta as _;

use super::info::Address;
use super::inside;
use crate::auth::jws::ISSUER;
use crate::auth::service_account::{Bearer, Reference};
use crate::error::{ApiError, Cause, Target};
use crate::server::Server;

/// What a token lives if the request does not say, in seconds.
const DEFAULT_SECONDS: i64 = 3600;
/// Shorter lives are refused, as Kubernetes does: clients could not renew in time.
const MIN_SECONDS: i64 = 600;
/// Longer lives are cut to a year: nobody takes such a token back.
const MAX_SECONDS: i64 = 365 * 24 * 3600;

/// Whether the address is that of the token subresource.
pub(super) fn is_token_request(address: &Address) -> bool {
    address.group.is_empty() && address.resource == "serviceaccounts" && address.subresource == "token"
}

/// Issues a token and fills in the request's status.
pub(super) async fn issue(server: &Server, address: &Address, mut body: Value) -> Result<Value, ApiError> {
    let account =
        inside::get(server, ("", "v1", "serviceaccounts"), &address.namespace, &address.name).await?;
    let spec = body.get("spec").cloned().unwrap_or_default();
    let seconds = spec.get("expirationSeconds").and_then(Value::as_i64).unwrap_or(DEFAULT_SECONDS);
    if seconds < MIN_SECONDS {
        let detail = format!("may not specify a duration less than {} minutes", MIN_SECONDS / 60);
        let cause = Cause::invalid("spec.expirationSeconds", &json!(seconds), &detail);
        return Err(ApiError::invalid(
            Target::new("authentication.k8s.io", "TokenRequest", &address.name),
            vec![cause],
        ));
    }
    let seconds = seconds.min(MAX_SECONDS);
    let mut audiences: Vec<String> = spec
        .get("audiences")
        .and_then(Value::as_array)
        .map(|list| list.iter().filter_map(Value::as_str).map(str::to_owned).collect())
        .unwrap_or_default();
    if audiences.is_empty() {
        audiences.push(ISSUER.to_owned());
    }
    let mut bearer = Bearer {
        namespace: address.namespace.clone(),
        account: Reference { name: address.name.clone(), uid: account.uid().to_owned() },
        pod: None,
        secret: None,
        audiences: audiences.clone(),
        id: uuid::Uuid::new_v4().to_string(),
    };
    if let Some(bound) = spec.get("boundObjectRef").filter(|bound| bound.is_object()) {
        bind(server, &mut bearer, bound).await?;
    }
    let now = jiff::Timestamp::now();
    let claims = bearer.claims(now.as_second(), Some(seconds));
    let token = server.front().issuer()?.issue(&claims).map_err(ApiError::internal)?;
    let until = now + jiff::SignedDuration::from_secs(seconds);
    let Some(object) = body.as_object_mut() else {
        return Err(ApiError::bad_request("the TokenRequest is no object"));
    };
    object.insert("apiVersion".into(), "authentication.k8s.io/v1".into());
    object.insert("kind".into(), "TokenRequest".into());
    object.insert(
        "metadata".into(),
        json!({
            "name": address.name, "namespace": address.namespace, "creationTimestamp": rfc3339(now),
        }),
    );
    let mut filled = spec;
    if !filled.is_object() {
        filled = json!({});
    }
    if let Some(filled) = filled.as_object_mut() {
        filled.insert("audiences".into(), json!(audiences));
        filled.insert("expirationSeconds".into(), seconds.into());
        filled.entry("boundObjectRef").or_insert(Value::Null);
    }
    object.insert("spec".into(), filled);
    object.insert("status".into(), json!({"token": token, "expirationTimestamp": rfc3339(until)}));
    Ok(body)
}

/// Binds a token to a Pod or Secret, which must exist.
async fn bind(server: &Server, bearer: &mut Bearer, bound: &Value) -> Result<(), ApiError> {
    let text = |key: &str| bound.get(key).and_then(Value::as_str).unwrap_or_default();
    let resource = match text("kind") {
        "Pod" => "pods",
        "Secret" => "secrets",
        other => {
            let detail = "cannot bind a token for serviceaccount to this kind; expected Pod or Secret";
            return Err(ApiError::bad_request(format!("spec.boundObjectRef.kind is {other:?}: {detail}")));
        }
    };
    let object = inside::get(server, ("", "v1", resource), &bearer.namespace, text("name")).await?;
    if !text("uid").is_empty() && text("uid") != object.uid() {
        let detail = format!(
            "the UID in the bound object reference ({}) does not match the UID in record. The object might have been deleted and then recreated",
            text("uid")
        );
        return Err(ApiError::conflict(Target::new("", resource, text("name")), &detail));
    }
    let reference = Reference { name: text("name").to_owned(), uid: object.uid().to_owned() };
    match resource {
        "pods" => bearer.pod = Some(reference),
        _ => bearer.secret = Some(reference),
    }
    Ok(())
}

fn rfc3339(moment: jiff::Timestamp) -> String {
    moment.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
