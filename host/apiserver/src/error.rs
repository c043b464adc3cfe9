//! What goes wrong, as clients see it: one type that knows its HTTP code and its
//! `metav1.Status`, with constructors that speak Kubernetes' own words.

use serde_json::{Map, Value, json};

/// One entry of `details.causes`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// `FieldValueInvalid`, `FieldValueRequired`, `NamespaceTerminating`, …
    pub reason: String,
    /// For people, without the field's name.
    pub message: String,
    /// The field's path (`spec.replicas`); empty if the cause is no field.
    pub field: String,
}

impl Cause {
    /// A cause of any reason.
    pub fn new(reason: &str, field: &str, message: impl Into<String>) -> Self {
        Self { reason: reason.into(), message: message.into(), field: field.into() }
    }

    /// `field: Required value: detail`.
    pub fn required(field: &str, detail: &str) -> Self {
        Self::new("FieldValueRequired", field, joined("Required value", detail))
    }

    /// `field: Invalid value: "x": detail`.
    pub fn invalid(field: &str, value: &Value, detail: &str) -> Self {
        Self::new("FieldValueInvalid", field, joined(&format!("Invalid value: {}", shown(value)), detail))
    }

    /// `field: Forbidden: detail`.
    pub fn forbidden(field: &str, detail: &str) -> Self {
        Self::new("FieldValueForbidden", field, joined("Forbidden", detail))
    }

    /// `field: Duplicate value: "x"`.
    pub fn duplicate(field: &str, value: &Value) -> Self {
        Self::new("FieldValueDuplicate", field, format!("Duplicate value: {}", shown(value)))
    }

    /// `field: Unsupported value: "x": supported values: "a", "b"`.
    pub fn not_supported(field: &str, value: &Value, allowed: &[&str]) -> Self {
        let allowed: Vec<String> = allowed.iter().map(|a| format!("{a:?}")).collect();
        let text = format!("Unsupported value: {}: supported values: {}", shown(value), allowed.join(", "));
        Self::new("FieldValueNotSupported", field, text)
    }

    /// `field: Too long: detail`.
    pub fn too_long(field: &str, limit: usize) -> Self {
        Self::new("FieldValueTooLong", field, format!("Too long: may not be more than {limit} bytes"))
    }

    /// `field: Not found: "x"`.
    pub fn absent(field: &str, value: &Value) -> Self {
        Self::new("FieldValueNotFound", field, format!("Not found: {}", shown(value)))
    }

    /// A fault as the schema crate tells it.
    pub fn field(error: &windlass_schema::field_error::FieldError) -> Self {
        Self::new(error.reason.cause(), &error.field, error.body())
    }

    fn line(&self) -> String {
        if self.field.is_empty() { self.message.clone() } else { format!("{}: {}", self.field, self.message) }
    }

    fn json(&self) -> Value {
        let mut cause = Map::new();
        if !self.reason.is_empty() {
            cause.insert("reason".into(), json!(self.reason));
        }
        cause.insert("message".into(), json!(self.message));
        if !self.field.is_empty() {
            cause.insert("field".into(), json!(self.field));
        }
        Value::Object(cause)
    }
}

fn joined(head: &str, detail: &str) -> String {
    if detail.is_empty() { head.to_owned() } else { format!("{head}: {detail}") }
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text:?}"),
        other => other.to_string(),
    }
}

/// What an error is about: fills `details` and the message's first words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// The API group; empty for the core group.
    pub group: String,
    /// The plural resource, or the kind for `Invalid`.
    pub kind: String,
    /// The object's name; may be empty.
    pub name: String,
}

impl Target {
    /// A target from its three parts.
    pub fn new(group: &str, kind: &str, name: &str) -> Self {
        Self { group: group.into(), kind: kind.into(), name: name.into() }
    }

    /// `deployments.apps`, or `pods` in the core group.
    pub fn qualified(&self) -> String {
        if self.group.is_empty() { self.kind.clone() } else { format!("{}.{}", self.kind, self.group) }
    }
}

/// An answer that is no success.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ApiError {
    /// The HTTP code.
    pub code: u16,
    /// `metav1.StatusReason`; empty where Kubernetes gives none.
    pub reason: &'static str,
    /// For people.
    pub message: String,
    /// What it is about, if it is about an object or a resource.
    pub target: Option<Box<Target>>,
    /// The uid of the object concerned; empty if unknown.
    pub uid: Box<str>,
    /// Single faults.
    pub causes: Vec<Cause>,
    /// Seconds after which asking again makes sense; 0 for none.
    pub retry_after: u32,
    /// A fresh continue token (`metadata.continue`), where a list cannot go on as it began.
    pub continue_token: Box<str>,
}

impl ApiError {
    /// An error of any code; prefer the named constructors.
    pub fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            reason,
            message: message.into(),
            target: None,
            uid: Box::default(),
            causes: Vec::new(),
            retry_after: 0,
            continue_token: Box::default(),
        }
    }

    /// Adds what the error is about.
    #[must_use]
    pub fn about(mut self, target: Target) -> Self {
        self.target = Some(Box::new(target));
        self
    }

    /// Adds a cause.
    #[must_use]
    pub fn cause(mut self, cause: Cause) -> Self {
        self.causes.push(cause);
        self
    }

    /// 404 for an object.
    pub fn not_found(target: Target) -> Self {
        Self::new(404, "NotFound", format!("{} {:?} not found", target.qualified(), target.name))
            .about(target)
    }

    /// 404 for a path that nothing serves.
    pub fn no_such_path() -> Self {
        let target = Target::default();
        Self::new(404, "NotFound", "the server could not find the requested resource").about(target)
    }

    /// 409, the name is taken.
    pub fn already_exists(target: Target) -> Self {
        Self::new(409, "AlreadyExists", format!("{} {:?} already exists", target.qualified(), target.name))
            .about(target)
    }

    /// 409, somebody else was faster or a precondition failed.
    pub fn conflict(target: Target, detail: &str) -> Self {
        let message =
            format!("Operation cannot be fulfilled on {} {:?}: {detail}", target.qualified(), target.name);
        Self::new(409, "Conflict", message).about(target)
    }

    /// 409 with the sentence for a stale resourceVersion.
    pub fn modified(target: Target) -> Self {
        Self::conflict(
            target,
            "the object has been modified; please apply your changes to the latest version and try again",
        )
    }

    /// 409 of server-side apply.
    pub fn apply_conflict(causes: Vec<Cause>) -> Self {
        let lines: Vec<String> = causes.iter().map(|c| format!("{}: {}", c.message, c.field)).collect();
        let message = match lines.as_slice() {
            [one] => format!("Apply failed with 1 conflict: {one}"),
            many => format!("Apply failed with {} conflicts: {}", many.len(), many.join("\n")),
        };
        let mut error = Self::new(409, "Conflict", message);
        error.causes = causes;
        error
    }

    /// 422; the target carries the kind, not the resource.
    pub fn invalid(target: Target, causes: Vec<Cause>) -> Self {
        let lines: Vec<String> = causes.iter().map(Cause::line).collect();
        let what = match lines.as_slice() {
            [one] => one.clone(),
            many => format!("[{}]", many.join(", ")),
        };
        let message = format!("{} {:?} is invalid: {what}", target.qualified(), target.name);
        let mut error = Self::new(422, "Invalid", message).about(target);
        error.causes = causes;
        error
    }

    /// 403 for an object or, with an empty name, for a resource.
    pub fn forbidden(target: Target, detail: &str) -> Self {
        let message = if target.name.is_empty() {
            format!("{} is forbidden: {detail}", target.qualified())
        } else {
            format!("{} {:?} is forbidden: {detail}", target.qualified(), target.name)
        };
        Self::new(403, "Forbidden", message).about(target)
    }

    /// 401.
    pub fn unauthorized() -> Self {
        Self::new(401, "Unauthorized", "Unauthorized")
    }

    /// 410: the revision or the continue token is gone.
    pub fn expired(message: impl Into<String>) -> Self {
        Self::new(410, "Expired", message)
    }

    /// 400.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    /// 405: `action` is the verb as the message names it (`create`, `patch`, …).
    pub fn method_not_allowed(target: Target, action: &str) -> Self {
        let message = format!("{action} is not supported on resources of kind {:?}", target.qualified());
        Self::new(405, "MethodNotAllowed", message).about(target)
    }

    /// 405, where the path has no such method.
    pub fn no_such_method() -> Self {
        let message = "the server does not allow this method on the requested resource";
        Self::new(405, "MethodNotAllowed", message).about(Target::default())
    }

    /// 406.
    pub fn not_acceptable(accepted: &[&str]) -> Self {
        Self::new(
            406,
            "NotAcceptable",
            format!("only the following media types are accepted: {}", accepted.join(", ")),
        )
    }

    /// 415.
    pub fn unsupported_media_type(accepted: &[&str]) -> Self {
        let message = format!(
            "the body of the request was in an unknown format - accepted media types include: {}",
            accepted.join(", ")
        );
        Self::new(415, "UnsupportedMediaType", message)
    }

    /// 413.
    pub fn too_large(limit: usize) -> Self {
        Self::new(413, "RequestEntityTooLarge", format!("Request entity is too large: limit is {limit}"))
    }

    /// 429.
    pub fn too_many_requests(message: impl Into<String>, retry_after: u32) -> Self {
        let mut error = Self::new(429, "TooManyRequests", message);
        error.retry_after = retry_after;
        error
    }

    /// 504: asked for a revision that does not exist yet.
    pub fn too_large_resource_version(asked: u64, current: u64) -> Self {
        let message = format!("Timeout: Too large resource version: {asked}, current: {current}");
        let mut error = Self::new(504, "Timeout", message).about(Target::default()).cause(Cause::new(
            "ResourceVersionTooLarge",
            "",
            "Too large resource version",
        ));
        error.retry_after = 1;
        error
    }

    /// 504.
    pub fn timeout(message: &str) -> Self {
        Self::new(504, "Timeout", format!("Timeout: {message}"))
    }

    /// 500.
    pub fn internal(message: impl std::fmt::Display) -> Self {
        let text = message.to_string();
        Self::new(500, "InternalError", format!("Internal error occurred: {text}"))
            .cause(Cause::new("", "", text))
    }

    /// 503.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(503, "ServiceUnavailable", message)
    }

    /// The `metav1.Status` document.
    pub fn status(&self) -> Value {
        let mut status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": self.message, "code": self.code,
        });
        if !self.reason.is_empty()
            && let Some(map) = status.as_object_mut()
        {
            map.insert("reason".into(), json!(self.reason));
        }
        if !self.continue_token.is_empty()
            && let Some(metadata) = status.get_mut("metadata").and_then(Value::as_object_mut)
        {
            metadata.insert("continue".into(), json!(self.continue_token));
        }
        let mut details = Map::new();
        if let Some(target) = &self.target {
            for (key, text) in [("name", &target.name), ("group", &target.group), ("kind", &target.kind)] {
                if !text.is_empty() {
                    details.insert(key.into(), json!(text));
                }
            }
        }
        if !self.uid.is_empty() {
            details.insert("uid".into(), json!(self.uid));
        }
        if !self.causes.is_empty() {
            details.insert("causes".into(), self.causes.iter().map(Cause::json).collect());
        }
        if self.retry_after > 0 {
            details.insert("retryAfterSeconds".into(), json!(self.retry_after));
        }
        if (!details.is_empty() || self.target.is_some())
            && let Some(map) = status.as_object_mut()
        {
            map.insert("details".into(), Value::Object(details));
        }
        status
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_kubernetes() {
        let error = ApiError::not_found(Target::new("apps", "deployments", "web"));
        assert_eq!(error.message, "deployments.apps \"web\" not found");
        let error = ApiError::invalid(
            Target::new("", "Pod", "x"),
            vec![
                Cause::required("spec.containers", ""),
                Cause::invalid("spec.a", &json!(-1), "must be positive"),
            ],
        );
        assert_eq!(
            error.message,
            "Pod \"x\" is invalid: [spec.containers: Required value, spec.a: Invalid value: -1: must be positive]"
        );
        assert_eq!(error.status()["details"]["causes"][1]["field"], "spec.a");
    }
}
