//! What every cluster has from the start; written if it is not there.

use crate::error::ApiError;
use crate::server::{Server, StartError};
use crate::system;
use futures::future::try_join_all;
use serde_json::{Value, json};
use std::net::SocketAddr;

const NAMESPACES: &[&str] = &["default", "kube-system", "kube-public", "kube-node-lease"];
/// The cluster IP of `default/kubernetes`: the first of the range.
const KUBERNETES_IP: &str = "10.96.0.1";

/// Everything is written at once, so that a durable store commits it as one group.
pub(crate) async fn run(server: &Server, advertise: Option<SocketAddr>) -> Result<(), StartError> {
    let namespaces = NAMESPACES.iter().map(|name| {
        let object = json!({"metadata": {"name": name}});
        ensure(server, ("", "v1", "namespaces"), "", name, object)
    });
    try_join_all(namespaces).await?;
    let mut rest = vec![ensure(server, ("", "v1", "services"), "default", "kubernetes", service(advertise))];
    if let Some(address) = advertise {
        let slices = ("discovery.k8s.io", "v1", "endpointslices");
        rest.push(ensure(server, slices, "default", "kubernetes", slice(address)));
    }
    rest.push(ensure(server, ("networking.k8s.io", "v1", "servicecidrs"), "", "kubernetes", range()));
    for (name, value, description) in [
        (
            "system-cluster-critical",
            2_000_000_000,
            "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
        ),
        (
            "system-node-critical",
            2_000_001_000,
            "Used for system critical pods that must not be moved from their current node.",
        ),
    ] {
        let class = json!({"metadata": {"name": name}, "value": value, "description": description});
        rest.push(ensure(server, ("scheduling.k8s.io", "v1", "priorityclasses"), "", name, class));
    }
    try_join_all(rest).await.map(|_| ())
}

/// The range that cluster IPs come from.
fn range() -> Value {
    json!({
        "metadata": {"name": "kubernetes"},
        "spec": {"cidrs": [crate::services::RANGE]},
        "status": {"conditions": [{
            "type": "Ready", "status": "True", "reason": "", "lastTransitionTime": windlass_object::time::now(),
            "message": "Kubernetes Service CIDR is ready",
        }]},
    })
}

fn service(advertise: Option<SocketAddr>) -> Value {
    json!({
        "metadata": {"name": "kubernetes", "labels": {"component": "apiserver", "provider": "kubernetes"}},
        "spec": {
            "type": "ClusterIP", "clusterIP": KUBERNETES_IP,
            "ports": [{
                "name": "https", "port": 443, "protocol": "TCP",
                "targetPort": advertise.map_or(443, |address| address.port()),
            }],
        },
    })
}

fn slice(address: SocketAddr) -> Value {
    json!({
        "metadata": {"name": "kubernetes", "labels": {"kubernetes.io/service-name": "kubernetes"}},
        "addressType": if address.is_ipv4() { "IPv4" } else { "IPv6" },
        "endpoints": [{"addresses": [address.ip().to_string()], "conditions": {"ready": true}}],
        "ports": [{"name": "https", "port": address.port(), "protocol": "TCP"}],
    })
}

async fn ensure(
    server: &Server,
    (group, version, plural): (&str, &str, &str),
    namespace: &str,
    name: &str,
    object: Value,
) -> Result<(), StartError> {
    let failed = |error: ApiError| StartError::Bootstrap {
        server: server.name().to_owned(),
        object: format!("{plural}/{name}"),
        source: Box::new(error),
    };
    let resource = system::builtin(server, group, version, plural).map_err(failed)?;
    if server.store().snapshot().get(&resource.key(namespace, name)).is_some() {
        return Ok(());
    }
    match Box::pin(system::create(server, &resource, namespace, object)).await {
        Err(error) if error.reason != "AlreadyExists" => Err(failed(error)),
        _ => Ok(()),
    }
}
