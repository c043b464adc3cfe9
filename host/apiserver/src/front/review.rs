//! Reviews: may I, may they, who am I, whose token is this. Answered on the
//! spot; nothing is stored.

use serde_json::{Value, json};

use super::info::Address;
use crate::auth::{Attributes, Decision, ResourceAttributes};
use crate::error::ApiError;
use crate::identity::Identity;
use crate::registry::Resource;
use crate::server::Server;

const AUTHORIZATION: &str = "authorization.k8s.io";
const AUTHENTICATION: &str = "authentication.k8s.io";

/// Whether creating such an object means asking a question.
pub(super) fn is_review(resource: &Resource) -> bool {
    matches!(
        (resource.group.as_str(), resource.resource.as_str()),
        (AUTHORIZATION, "selfsubjectaccessreviews" | "subjectaccessreviews")
            | (AUTHORIZATION, "localsubjectaccessreviews" | "selfsubjectrulesreviews")
            | (AUTHENTICATION, "tokenreviews" | "selfsubjectreviews")
    )
}

/// Answers a review.
pub(super) async fn answer(
    server: &Server,
    resource: &Resource,
    address: &Address,
    caller: Identity,
    mut body: Value,
) -> Result<Value, ApiError> {
    let spec = body.get("spec").cloned().unwrap_or_default();
    let status = match resource.resource.as_str() {
        "selfsubjectaccessreviews" => access(server, &caller, &spec, ""),
        "subjectaccessreviews" => access(server, &subject(&spec), &spec, ""),
        "localsubjectaccessreviews" => access(server, &subject(&spec), &spec, &address.namespace),
        "selfsubjectrulesreviews" => rules(server, &caller, &spec),
        "selfsubjectreviews" => json!({"userInfo": user_info(&caller)}),
        _ => token(server, &spec).await,
    };
    let Some(object) = body.as_object_mut() else {
        return Err(ApiError::bad_request("the review is no object"));
    };
    object.insert("apiVersion".into(), resource.api_version.as_str().into());
    object.insert("kind".into(), resource.kind.as_str().into());
    object.entry("metadata").or_insert_with(|| json!({}));
    object.insert("status".into(), status);
    Ok(body)
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn texts(value: Option<&Value>) -> Vec<String> {
    let list = value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The one that a SubjectAccessReview asks about.
fn subject(spec: &Value) -> Identity {
    let extra = spec.get("extra").and_then(Value::as_object).into_iter().flatten();
    Identity {
        user: text(spec, "user").to_owned(),
        uid: text(spec, "uid").to_owned(),
        groups: texts(spec.get("groups")),
        extra: extra.map(|(key, values)| (key.clone(), texts(Some(values)))).collect(),
    }
}

fn decide(server: &Server, who: &Identity, what: &Attributes<'_>) -> Decision {
    if who.is_master() { Decision::Allow } else { server.front().authorizer.authorize(who, what) }
}

fn access(server: &Server, who: &Identity, spec: &Value, namespace: &str) -> Value {
    let decision = match (spec.get("resourceAttributes"), spec.get("nonResourceAttributes")) {
        (Some(what), _) => {
            let resource = ResourceAttributes {
                group: text(what, "group"),
                version: text(what, "version"),
                resource: text(what, "resource"),
                subresource: text(what, "subresource"),
                namespace: if namespace.is_empty() { text(what, "namespace") } else { namespace },
                name: text(what, "name"),
            };
            decide(server, who, &Attributes { verb: text(what, "verb"), resource: Some(resource), path: "" })
        }
        (None, Some(what)) => decide(
            server,
            who,
            &Attributes { verb: text(what, "verb"), resource: None, path: text(what, "path") },
        ),
        (None, None) => {
            Decision::Deny("neither resourceAttributes nor nonResourceAttributes given".to_owned())
        }
    };
    match decision {
        Decision::Allow => json!({"allowed": true}),
        Decision::Deny(reason) => json!({"allowed": false, "reason": reason}),
    }
}

/// What someone may do in a namespace. The authorizer answers single questions,
/// so this asks the widest one.
fn rules(server: &Server, who: &Identity, spec: &Value) -> Value {
    let namespace = text(spec, "namespace");
    let widest =
        ResourceAttributes { group: "*", version: "*", resource: "*", namespace, ..Default::default() };
    let resources = decide(server, who, &Attributes { verb: "*", resource: Some(widest), path: "" });
    let paths = decide(server, who, &Attributes { verb: "*", resource: None, path: "*" });
    let everything = resources == Decision::Allow;
    let rule = |allowed: bool, rule: Value| if allowed { json!([rule]) } else { json!([]) };
    json!({
        "resourceRules": rule(everything, json!({"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]})),
        "nonResourceRules": rule(paths == Decision::Allow, json!({"verbs": ["*"], "nonResourceURLs": ["*"]})),
        "incomplete": !everything,
    })
}

async fn token(server: &Server, spec: &Value) -> Value {
    let token = text(spec, "token");
    if let Some(identity) = server.front().tokens.fixed(token) {
        return json!({"authenticated": true, "user": user_info(identity)});
    }
    match server.front().tokens.check(server, token, &texts(spec.get("audiences"))).await {
        Ok((bearer, audiences)) => {
            json!({"authenticated": true, "user": user_info(&bearer.identity()), "audiences": audiences})
        }
        Err(error) => json!({"authenticated": false, "user": {}, "error": error.to_string()}),
    }
}

fn user_info(identity: &Identity) -> Value {
    let mut info = json!({"username": identity.user, "groups": identity.groups});
    if let Some(info) = info.as_object_mut() {
        if !identity.uid.is_empty() {
            info.insert("uid".into(), identity.uid.as_str().into());
        }
        if !identity.extra.is_empty() {
            info.insert("extra".into(), json!(identity.extra));
        }
    }
    info
}
