//! The seam between the front (HTTP) and the core (objects): a request that is parsed
//! and decoded, and an answer that is not yet encoded. One async function per verb.

use crate::error::ApiError;
use crate::identity::Identity;
use crate::item::Item;
use crate::registry::Resource;
use crate::server::Server;
use bytes::Bytes;
use futures::Stream;
use serde_json::Value;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use windlass_store::Event;

/// How a patch is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchType {
    /// `application/json-patch+json`.
    Json,
    /// `application/merge-patch+json`.
    Merge,
    /// `application/strategic-merge-patch+json`.
    Strategic,
    /// `application/apply-patch+yaml` (or JSON): the body is decoded already.
    Apply,
}

/// What happens to unknown and repeated fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FieldValidation {
    /// Dropped in silence.
    Ignore,
    /// Dropped with a warning.
    #[default]
    Warn,
    /// Refused.
    Strict,
}

/// Query options of all verbs, as sent; the verbs check what they use.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// `dryRun=All`.
    pub dry_run: bool,
    /// `fieldManager`.
    pub field_manager: Option<String>,
    /// `fieldValidation`.
    pub field_validation: FieldValidation,
    /// `force` (apply).
    pub force: bool,
    /// `resourceVersion`; `None` if absent or empty.
    pub resource_version: Option<String>,
    /// `resourceVersionMatch`.
    pub resource_version_match: Option<String>,
    /// `limit`; 0 for none.
    pub limit: u64,
    /// `continue`.
    pub continue_token: Option<String>,
    /// `labelSelector`.
    pub label_selector: Option<String>,
    /// `fieldSelector`.
    pub field_selector: Option<String>,
    /// `timeoutSeconds`.
    pub timeout_seconds: Option<u64>,
    /// `allowWatchBookmarks`.
    pub allow_watch_bookmarks: bool,
    /// `sendInitialEvents`.
    pub send_initial_events: Option<bool>,
    /// `propagationPolicy` (the body's wins).
    pub propagation_policy: Option<String>,
    /// `gracePeriodSeconds` (the body's wins).
    pub grace_period_seconds: Option<i64>,
    /// `orphanDependents` (deprecated; the body's wins).
    pub orphan_dependents: Option<bool>,
}

/// Warnings gathered on the way: the front sends them as `Warning` headers.
#[derive(Clone, Debug, Default)]
pub struct Warnings(Arc<Mutex<Vec<String>>>);

impl Warnings {
    /// Adds one, unless it was given before.
    pub fn add(&self, text: impl Into<String>) {
        let text = text.into();
        let mut list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !list.contains(&text) {
            list.push(text);
        }
    }

    /// All of them.
    pub fn list(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A request, parsed and decoded.
#[derive(Clone, Debug)]
pub struct Call {
    /// What it is about; the front has looked it up and answered 404 otherwise.
    pub resource: Arc<Resource>,
    /// Empty: cluster-scoped, or all namespaces.
    pub namespace: String,
    /// Empty for collections.
    pub name: String,
    /// Empty for the main resource.
    pub subresource: String,
    /// Query options.
    pub options: Options,
    /// Who asks.
    pub identity: Identity,
    /// The User-Agent header; the default field manager is its part up to the first slash.
    pub user_agent: String,
    /// The body, decoded to JSON: an object, a patch, or DeleteOptions.
    pub body: Option<Value>,
    /// Patches only.
    pub patch: Option<PatchType>,
    /// Where warnings go. Keep a clone.
    pub warnings: Warnings,
}

/// A list, not yet encoded.
#[derive(Clone, Debug)]
pub struct List {
    /// What it lists: gives apiVersion and list kind.
    pub resource: Arc<Resource>,
    /// The objects.
    pub items: Vec<Item>,
    /// The revision at which it holds.
    pub resource_version: u64,
    /// `metadata.continue`; empty for none.
    pub continue_token: String,
    /// `metadata.remainingItemCount`.
    pub remaining: Option<u64>,
}

/// What a watch event says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventType {
    /// It is there, or entered the selection.
    Added,
    /// It changed.
    Modified,
    /// It is gone, or left the selection; the object is its last state at the new revision.
    Deleted,
    /// Only the revision counts.
    Bookmark,
    /// A Status; the stream ends.
    Error,
}

impl EventType {
    /// As on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Added => "ADDED",
            Self::Modified => "MODIFIED",
            Self::Deleted => "DELETED",
            Self::Bookmark => "BOOKMARK",
            Self::Error => "ERROR",
        }
    }
}

/// One event of a watch. Cheap to clone.
#[derive(Clone, Debug)]
pub struct WatchEvent {
    /// What it says.
    pub kind: EventType,
    /// The object; a Status for errors.
    pub object: Item,
    shared: Option<(Arc<Event>, u64)>,
}

impl WatchEvent {
    /// An event of this watch alone.
    pub fn new(kind: EventType, object: Item) -> Self {
        Self { kind, object, shared: None }
    }

    /// An event of the store; watchers that show it in the same form (any number) share its frame.
    pub fn shared(kind: EventType, object: Item, event: Arc<Event>, form: u64) -> Self {
        Self { kind, object, shared: Some((event, form)) }
    }

    /// `{"type":…,"object":…}` and a newline.
    pub fn frame(&self) -> Bytes {
        let make = || {
            let mut out = Vec::with_capacity(1024);
            out.extend_from_slice(b"{\"type\":\"");
            out.extend_from_slice(self.kind.as_str().as_bytes());
            out.extend_from_slice(b"\",\"object\":");
            self.object.append(&mut out);
            out.extend_from_slice(b"}\n");
            Bytes::from(out)
        };
        match &self.shared {
            Some((event, form)) => event.frame(*form, make),
            None => make(),
        }
    }
}

/// The events of a watch; its end is the end of the response.
pub type EventStream = Pin<Box<dyn Stream<Item = WatchEvent> + Send>>;

/// An answer, not yet encoded.
pub enum Outcome {
    /// One object: 200 or 201 (202 for a delete that goes on).
    Object {
        /// The HTTP code.
        code: u16,
        /// The object. Its kind need not be the resource's (`Scale`, `Status`, …).
        object: Item,
    },
    /// A list, 200.
    List(List),
    /// Events, 200.
    Watch(EventStream),
    /// A `metav1.Status` of success.
    Status {
        /// The HTTP code.
        code: u16,
        /// The document.
        status: Value,
    },
}

/// GET of one object or subresource.
pub async fn get(server: &Server, call: Call) -> Result<Outcome, ApiError> {
    crate::get::get(server, call).await
}

/// GET of a collection.
pub async fn list(server: &Server, call: Call) -> Result<Outcome, ApiError> {
    crate::list::list(server, call).await
}

/// GET of a collection with `watch=true`; a watch of one object has its name in the call.
pub async fn watch(server: &Server, call: Call) -> Result<Outcome, ApiError> {
    crate::watch::watch(server, call).await
}

/// POST to a collection, or to a subresource such as `binding` and `eviction`.
pub async fn create(server: &Server, call: Call) -> Result<Outcome, ApiError> {
    crate::create::create(server, call).await
}

/// PUT.
pub async fn update(server: &Server, call: Call) -> Result<Outcome, ApiError> {
    crate::update::update(server, call).await
}

/// PATCH.
pub async fn patch(server: &Server, call: Call) -> Result<Outcome, ApiError> {
    crate::patch::patch(server, call).await
}

/// DELETE of one object; the body, if any, is DeleteOptions.
pub async fn delete(server: &Server, call: Call) -> Result<Outcome, ApiError> {
    crate::delete::delete(server, call).await
}

/// DELETE of a collection; the body, if any, is DeleteOptions.
pub async fn delete_collection(server: &Server, call: Call) -> Result<Outcome, ApiError> {
    crate::delete::delete_collection(server, call).await
}
