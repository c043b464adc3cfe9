//! Objects of one resource as plain JSON: the requests that controllers make, without a Rust type per kind.
//! Single objects come without `metadata.managedFields`, as from informers.

use http::{Method, Request, Response};
use kube::client::Body;
use kube::core::response::Status;
use kube::{Client, Error};
use serde_json::{Value, json};
use windlass_object::gvk::Gvr;
use windlass_object::handover;
use windlass_object::slim;

/// How a deletion treats the objects that the deleted one owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Propagation {
    /// They go afterwards.
    Background,
    /// They go first.
    Foreground,
    /// They stay.
    Orphan,
}

/// Requests on one resource; `namespace` is empty for cluster-scoped ones.
#[derive(Clone)]
pub struct Objects {
    client: Client,
    base: String,
    resource: String,
}

impl Objects {
    /// Requests on `gvr` through `client`.
    pub fn new(client: Client, gvr: &Gvr) -> Self {
        Self { client, base: base(gvr), resource: gvr.resource.clone() }
    }

    /// The client beneath.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The object; None if there is none.
    pub async fn get(&self, namespace: &str, name: &str) -> Result<Option<Value>, Error> {
        found(self.send(Method::GET, &self.path(namespace, name), None, None).await)
    }

    /// The items of a list; `labels` is a selector, empty for all.
    pub async fn list(&self, namespace: &str, labels: &str) -> Result<Vec<Value>, Error> {
        let mut path = self.collection(namespace);
        if !labels.is_empty() {
            path.push_str("?labelSelector=");
            path.push_str(&escape(labels));
        }
        let mut list = self.send(Method::GET, &path, None, None).await?;
        match list.get_mut("items").map(Value::take) {
            Some(Value::Array(items)) => Ok(items),
            _ => Ok(Vec::new()),
        }
    }

    /// Creates the object, in the namespace it names.
    pub async fn create(&self, object: &Value) -> Result<Value, Error> {
        self.send(Method::POST, &self.collection(str_of(object, "namespace")), Some(object), None).await
    }

    /// Replaces the object; its `resourceVersion`, if set, must be the current one.
    pub async fn replace(&self, object: &Value) -> Result<Value, Error> {
        let path = self.path(str_of(object, "namespace"), str_of(object, "name"));
        self.send(Method::PUT, &path, Some(object), None).await
    }

    /// Replaces the object's status.
    pub async fn replace_status(&self, object: &Value) -> Result<Value, Error> {
        let path = self.path(str_of(object, "namespace"), str_of(object, "name")) + "/status";
        self.send(Method::PUT, &path, Some(object), None).await
    }

    /// Applies a JSON Patch (a list of operations).
    pub async fn patch_json(&self, namespace: &str, name: &str, patch: &Value) -> Result<Value, Error> {
        self.send(
            Method::PATCH,
            &self.path(namespace, name),
            Some(patch),
            Some("application/json-patch+json"),
        )
        .await
    }

    /// Applies a JSON Patch to the status.
    pub async fn patch_status_json(
        &self,
        namespace: &str,
        name: &str,
        patch: &Value,
    ) -> Result<Value, Error> {
        let path = self.path(namespace, name) + "/status";
        self.send(Method::PATCH, &path, Some(patch), Some("application/json-patch+json")).await
    }

    /// Applies a merge patch.
    pub async fn patch_merge(&self, namespace: &str, name: &str, patch: &Value) -> Result<Value, Error> {
        self.send(
            Method::PATCH,
            &self.path(namespace, name),
            Some(patch),
            Some("application/merge-patch+json"),
        )
        .await
    }

    /// Applies a merge patch to the status.
    pub async fn patch_status_merge(
        &self,
        namespace: &str,
        name: &str,
        patch: &Value,
    ) -> Result<Value, Error> {
        let path = self.path(namespace, name) + "/status";
        self.send(Method::PATCH, &path, Some(patch), Some("application/merge-patch+json")).await
    }

    /// Applies the object server-side as `manager`; with `force`, fields of other managers are taken over.
    pub async fn apply(&self, object: &Value, manager: &str, force: bool) -> Result<Value, Error> {
        let path = self.path(str_of(object, "namespace"), str_of(object, "name"));
        let path = format!("{path}?fieldManager={}&force={force}", escape(manager));
        self.send(Method::PATCH, &path, Some(object), Some("application/apply-patch+yaml")).await
    }

    /// Deletes the object; false if there was none. With a `uid`, only the object of that uid.
    pub async fn delete(
        &self,
        namespace: &str,
        name: &str,
        uid: Option<&str>,
        propagation: Propagation,
    ) -> Result<bool, Error> {
        let mut options = json!({
            "kind": "DeleteOptions",
            "apiVersion": "v1",
            "propagationPolicy": match propagation {
                Propagation::Background => "Background",
                Propagation::Foreground => "Foreground",
                Propagation::Orphan => "Orphan",
            },
        });
        if let (Some(uid), Some(map)) = (uid, options.as_object_mut()) {
            map.insert("preconditions".into(), json!({ "uid": uid }));
        }
        found(self.send(Method::DELETE, &self.path(namespace, name), Some(&options), None).await)
            .map(|o| o.is_some())
    }

    fn collection(&self, namespace: &str) -> String {
        collection(&self.base, &self.resource, namespace)
    }

    fn path(&self, namespace: &str, name: &str) -> String {
        format!("{}/{}", self.collection(namespace), escape(name))
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        content: Option<&str>,
    ) -> Result<Value, Error> {
        let bytes = match body {
            Some(value) => serde_json::to_vec(value).map_err(Error::SerdeError)?,
            None => Vec::new(),
        };
        let mut request = Request::builder().method(method).uri(path);
        if body.is_some() {
            request = request.header(http::header::CONTENT_TYPE, content.unwrap_or("application/json"));
        }
        let request = request.body(Body::from(bytes)).map_err(Error::HttpError)?;
        read(self.client.send(request).await?).await
    }
}

/// The object of an answer: as a server in this process hands it over, or from its bytes.
async fn read(response: Response<Body>) -> Result<Value, Error> {
    let code = response.status();
    if code.is_success()
        && let Some(handover::Object(object)) = response.extensions().get()
    {
        return Ok(object.slim());
    }
    let bytes = response.into_body().collect_bytes().await?;
    if code.is_success() {
        return slim::parse(&bytes).map_err(Error::SerdeError);
    }
    let status = serde_json::from_slice(&bytes).unwrap_or_else(|_| {
        // Not our servers' answer, but that of something between.
        let text = String::from_utf8_lossy(&bytes);
        Status::failure(text.trim(), "Failed to parse error data").with_code(code.as_u16())
    });
    Err(Error::Api(status.boxed()))
}

/// An error in words for people: the server's message without its details.
pub fn words(error: &Error) -> String {
    match error {
        Error::Api(status) if !status.message.is_empty() => status.message.clone(),
        Error::Api(status) => format!("the server answered {}", status.code),
        other => other.to_string(),
    }
}

/// Whether the error says that the object isn't there.
pub fn is_not_found(error: &Error) -> bool {
    code(error) == Some(404)
}

/// Whether the error says that the object is not as expected (409 of any reason, also AlreadyExists).
pub fn is_conflict(error: &Error) -> bool {
    code(error) == Some(409)
}

/// Whether the error says that the object is there already.
pub fn is_already_exists(error: &Error) -> bool {
    matches!(error, Error::Api(status) if status.code == 409 && status.reason == "AlreadyExists")
}

/// The HTTP status code of the API server's answer, if that is what the error is.
pub fn code(error: &Error) -> Option<u16> {
    match error {
        Error::Api(status) => Some(status.code),
        _ => None,
    }
}

/// `/api/v1` or `/apis/<group>/<version>`.
pub(crate) fn base(gvr: &Gvr) -> String {
    match gvr.group.as_str() {
        "" => format!("/api/{}", gvr.version),
        group => format!("/apis/{group}/{}", gvr.version),
    }
}

pub(crate) fn collection(base: &str, resource: &str, namespace: &str) -> String {
    match namespace {
        "" => format!("{base}/{resource}"),
        _ => format!("{base}/namespaces/{namespace}/{resource}"),
    }
}

/// Percent-encodes a text for a path or a query.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                escaped.push(char::from(byte))
            }
            _ => escaped.push_str(&format!("%{byte:02X}")),
        }
    }
    escaped
}

fn found(result: Result<Value, Error>) -> Result<Option<Value>, Error> {
    match result {
        Ok(object) => Ok(Some(object)),
        Err(error) if is_not_found(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

fn str_of<'a>(object: &'a Value, field: &str) -> &'a str {
    object.get("metadata").and_then(|m| m.get(field)).and_then(Value::as_str).unwrap_or_default()
}
