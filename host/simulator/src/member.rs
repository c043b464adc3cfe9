//! A running simulated member, and the door to it that faults stand in.

use crate::access::Access;
use crate::faults::{Fault, Faults};
use crate::kinds::Kind;
use crate::options::Options;
use crate::plan::Write;
use crate::world;
use axum::body::Body;
use axum::response::IntoResponse;
use futures::future::BoxFuture;
use http::{Request, Response, StatusCode};
use serde_json::{Value, json};
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio_util::sync::CancellationToken;
use tower::Service;
use windlass_apiserver::error::ApiError;
use windlass_apiserver::identity::Identity;
use windlass_apiserver::server::Server;
use windlass_apiserver::tls::Endpoint;
use windlass_object::meta::Meta;
use windlass_object::time;
use windlass_store::Store;

/// Why a member could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A node could not be made.
    #[error("member {member}: could not make node {node}: {message}")]
    Node {
        /// The member's name.
        member: String,
        /// The node's name.
        node: String,
        /// What the server said.
        message: String,
    },
}

/// A simulated member. Clones are handles to the same one.
#[derive(Clone)]
pub struct Member {
    server: Server,
    faults: Faults,
}

impl Member {
    /// Gives a server (of the member profile) nodes, and starts the loops that make workloads run on them.
    ///
    /// # Errors
    /// When a node can't be made.
    pub async fn start(
        server: Server,
        store: Arc<dyn Store>,
        options: Options,
        stop: CancellationToken,
    ) -> Result<Self, StartError> {
        let access = Access { server: server.clone(), store };
        for number in 1..=options.nodes.count {
            let node = node(server.name(), number, &options);
            make_node(&access, &node).await.map_err(|error| StartError::Node {
                member: server.name().to_owned(),
                node: node.name().to_owned(),
                message: error.to_string(),
            })?;
        }
        tokio::spawn(world::run(access, options, stop));
        Ok(Self { server, faults: Faults::default() })
    }

    /// The member's name.
    pub fn name(&self) -> &str {
        self.server.name()
    }

    /// Its API server, past all faults.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// The switch for what goes wrong.
    pub fn faults(&self) -> &Faults {
        &self.faults
    }

    /// A service for clients in this process; faults apply.
    pub fn service(&self, identity: Identity) -> MemberService {
        MemberService { member: self.clone(), identity }
    }

    async fn answer(
        &self,
        request: Request<Body>,
        identity: Option<Identity>,
    ) -> Result<Response<Body>, Unreachable> {
        match self.faults.current() {
            Fault::Gone => return Err(Unreachable(self.name().to_owned())),
            Fault::Refusing => {
                return Ok((StatusCode::SERVICE_UNAVAILABLE, "the member refuses requests\n").into_response());
            }
            Fault::NotReady if matches!(request.uri().path(), "/readyz" | "/healthz" | "/livez") => {
                return Ok((StatusCode::ACCEPTED, "not ready\n").into_response());
            }
            Fault::Slow(time) => tokio::time::sleep(time).await,
            Fault::None | Fault::NotReady => {}
        }
        Ok(match identity {
            Some(identity) => match self.server.service(identity).call(request).await {
                Ok(response) => response,
                Err(never) => match never {},
            },
            None => self.server.call(request).await,
        })
    }
}

impl Endpoint for Member {
    fn call(&self, request: Request<Body>) -> BoxFuture<'static, Response<Body>> {
        let member = self.clone();
        Box::pin(async move {
            let answer = member.answer(request, None).await;
            answer.unwrap_or_else(|error| (StatusCode::BAD_GATEWAY, format!("{error}\n")).into_response())
        })
    }
}

/// The member's door is shut: what a client sees of a machine that is gone.
#[derive(Clone, Debug, thiserror::Error)]
#[error("member {0} is gone: connection refused")]
pub struct Unreachable(String);

/// A tower service for clients in this process.
#[derive(Clone)]
pub struct MemberService {
    member: Member,
    identity: Identity,
}

impl<B> Service<Request<B>> for MemberService
where
    B: axum::body::HttpBody<Data = axum::body::Bytes> + Send + 'static,
    B::Error: Into<axum::BoxError>,
{
    type Response = Response<Body>;
    type Error = Unreachable;
    type Future = BoxFuture<'static, Result<Response<Body>, Unreachable>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Unreachable>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let MemberService { member, identity } = self.clone();
        Box::pin(async move { member.answer(request.map(Body::new), Some(identity)).await })
    }
}

async fn make_node(access: &Access, node: &Value) -> Result<(), ApiError> {
    access.write(Write::Create(Kind::Node, node.clone())).await?;
    let key = crate::kinds::Key::new(Kind::Node, "", node.name());
    access.write(Write::Merge(key, "status", json!({"status": node["status"]}))).await
}

fn node(member: &str, number: usize, options: &Options) -> Value {
    let name = format!("{member}-node{number}");
    let now = time::now();
    let shape = &options.nodes;
    let resources = json!({
        "cpu": shape.cpu.to_string(), "memory": format!("{}Gi", shape.memory), "pods": shape.pods.to_string(),
        "ephemeral-storage": "1Ti",
    });
    let condition = |kind: &str, status: &str, reason: &str| {
        json!({
            "type": kind, "status": status, "reason": reason, "message": "simulated",
            "lastHeartbeatTime": now, "lastTransitionTime": now,
        })
    };
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "labels": {
            "kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
        }},
        "status": {
            "capacity": resources, "allocatable": resources,
            "conditions": [
                condition("MemoryPressure", "False", "KubeletHasSufficientMemory"),
                condition("DiskPressure", "False", "KubeletHasNoDiskPressure"),
                condition("PIDPressure", "False", "KubeletHasSufficientPID"),
                condition("Ready", "True", "KubeletReady"),
            ],
            "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}, {"type": "Hostname", "address": name}],
            "nodeInfo": {
                "kubeletVersion": "v1.36.0", "kubeProxyVersion": "", "osImage": "simulated", "kernelVersion": "",
                "containerRuntimeVersion": "simulated://1", "architecture": "amd64", "operatingSystem": "linux",
                "machineID": "", "systemUUID": "", "bootID": "",
            },
        },
    })
}
