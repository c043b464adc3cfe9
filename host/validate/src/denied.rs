//! A refused write, and a remark on an accepted one.

use std::fmt;

/// A write that is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Denied {
    /// HTTP status code.
    pub code: u16,
    /// Reason in the answer's Status.
    pub reason: &'static str,
    /// Why, for the user.
    pub message: String,
    /// The webhook that refuses where admission is one, for the form of the message that clients know.
    pub webhook: Option<&'static str>,
}

impl Denied {
    pub(crate) fn forbidden(message: impl Into<String>) -> Self {
        Self { code: 403, reason: "Forbidden", message: message.into(), webhook: None }
    }

    pub(crate) fn undecodable(path: &str, error: impl fmt::Display) -> Self {
        let message = format!("the object can't be read: {path}: {error}");
        Self { code: 400, reason: "BadRequest", message, webhook: None }
    }

    /// The message as an API server with admission webhooks words it.
    pub fn for_clients(&self) -> String {
        match self.webhook {
            Some(name) => format!("admission webhook \"{name}\" denied the request: {}", self.message),
            None => self.message.clone(),
        }
    }
}

/// A remark on an accepted write, for the `Warning` header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning(pub String);

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
