//! Asking a member: health, version, APIs, nodes and what is used of them.

use crate::kinds::NODES;
use futures::future::join;
use http::Request;
use serde_json::Value;
use std::time::Duration;
use windlass_api::cluster::ApiEnablement;
use windlass_members::{Member, discover};

/// How long a reading waits for the first list of nodes and pods: a member that is ready without its room being known
/// would be passed over by bindings that ask for room.
const READ: Duration = Duration::from_secs(2);

/// How a member answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Health {
    /// Its health endpoint says ok.
    Healthy,
    /// It answers, but not ok.
    NotReady,
    /// It doesn't answer.
    Offline,
    /// Its Cluster object doesn't say how to ask.
    Unusable(String),
}

impl Health {
    /// As the condition's status.
    pub(super) fn status(&self) -> &'static str {
        if *self == Health::Healthy { "True" } else { "False" }
    }
}

/// What a healthy member told.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// `v1.36.0`; empty if it wasn't told.
    pub(super) version: String,
    /// Its APIs.
    pub(super) apis: Vec<ApiEnablement>,
    /// Parts of the APIs that could not be read.
    pub(super) missing: Vec<String>,
    /// Its nodes, if they have been read.
    pub(super) nodes: Option<Vec<std::sync::Arc<Value>>>,
    /// Its pods: what they ask for and where they are.
    pub(super) pods: Vec<std::sync::Arc<Value>>,
    /// Something could not be read yet: ask again soon.
    pub(super) incomplete: bool,
}

/// How long a member's health endpoint may take. One that is slower is of no use to anybody.
const PROBE_TIMEOUT: Duration = Duration::from_secs(10);

/// How long everything else may take, before it is left for the next reading.
const COLLECT_TIMEOUT: Duration = Duration::from_secs(30);

async fn status_of(member: &Member, path: &str) -> Option<u16> {
    let request = Request::get(path).body(kube::client::Body::empty()).ok()?;
    let response = tokio::time::timeout(PROBE_TIMEOUT, member.client().send(request)).await.ok()?.ok()?;
    Some(response.status().as_u16())
}

/// One attempt at its health endpoint.
pub(super) async fn probe(member: &Member) -> Health {
    let mut code = status_of(member, "/readyz").await;
    if code == Some(404) {
        code = status_of(member, "/healthz").await;
    }
    match code {
        Some(200) => Health::Healthy,
        Some(201..=299) => Health::NotReady,
        _ => Health::Offline,
    }
}

/// Everything else; nothing if the member is too slow for it.
pub(super) async fn collect(member: &Member) -> Option<Facts> {
    let version = async {
        let request = Request::get("/version").body(Vec::new()).ok()?;
        let answer: Value = member.client().request(request).await.ok()?;
        answer.get("gitVersion").and_then(Value::as_str).map(str::to_owned)
    };
    let asked = join(version, discover(member.client()));
    let (version, apis) = tokio::time::timeout(COLLECT_TIMEOUT, asked).await.ok()?;
    let mut facts = Facts { version: version.unwrap_or_default(), ..Facts::default() };
    match apis {
        Ok(table) => {
            facts.apis = table.enablements();
            facts.missing = table.missing.clone();
        }
        Err(error) => facts.missing.push(error.to_string()),
    }
    let nodes = member.informers().watch(&*NODES);
    let pods = member.informers().watch(crate::kinds::pods_in_short());
    let read = async {
        nodes.synced().await;
        pods.synced().await;
    };
    if tokio::time::timeout(READ, read).await.is_ok() {
        facts.nodes = Some(nodes.list());
        facts.pods = pods.list();
    } else {
        facts.incomplete = true;
    }
    Some(facts)
}
