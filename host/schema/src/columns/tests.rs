use super::*;
use crate::builtin::table;
use windlass_object::{Gvk, Meta};

const NOW: &str = "2026-01-02T03:10:00Z";

fn columns(api_version: &str, kind: &str) -> &'static Columns {
    Columns::builtin(table().kind(&Gvk::from_api_version(api_version, kind)).unwrap())
}

/// The cells by heading.
fn row(object: &Value) -> Value {
    let columns = columns(object.api_version(), object.kind());
    let cells = columns.cells(object, time::parse(NOW).unwrap());
    columns.iter().map(|c| c.name.clone()).zip(cells).collect::<Map<String, Value>>().into()
}

#[test]
fn every_line_of_the_file_is_read_and_every_kind_is_named() {
    let text = include_str!("../../data/columns.txt");
    for line in text.lines().filter(|line| !line.starts_with(['#', '='])) {
        assert!(parse_column(line).is_some(), "{line}");
    }
    for kind in table().kinds().iter().filter(|kind| kind.allows("list")) {
        let columns = Columns::builtin(kind);
        assert!(columns.iter().any(|c| c.format == "name"), "{} has no name", kind.gvk());
        let object = json!({"metadata": {"name": "a"}});
        let cells = columns.cells(&object, Timestamp::UNIX_EPOCH);
        assert!(cells.contains(&object.name().into()), "{}", kind.gvk());
    }
    for line in text.lines().filter_map(|line| line.strip_prefix("= ")) {
        let (api_version, kind) = line.rsplit_once('/').unwrap();
        assert!(table().kind(&Gvk::from_api_version(api_version, kind)).is_some(), "{line}");
    }
}

#[test]
fn pods() {
    let cases: Value = serde_json::from_str(include_str!("../../tests/cases/columns/pods.json")).unwrap();
    for case in cases.as_array().unwrap() {
        let mut pod = case["pod"].clone();
        pod["apiVersion"] = "v1".into();
        pod["kind"] = "Pod".into();
        let row = row(&pod);
        for (name, expected) in case["row"].as_object().unwrap() {
            assert_eq!(&row[name], expected, "{}: {name}", case["name"]);
        }
    }
}

#[test]
fn a_table_of_deployments() {
    let object = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "creationTimestamp": "2026-01-02T03:04:00Z"},
        "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "web"}, "matchExpressions": [{"key": "a", "operator": "In", "values": ["y", "x"]}]},
            "template": {"spec": {"containers": [{"name": "a", "image": "a:1"}, {"name": "b", "image": "b:1"}]}}},
        "status": {"readyReplicas": 2, "updatedReplicas": 3},
    });
    let now = time::parse(NOW).unwrap();
    let table = columns("apps/v1", "Deployment").table(
        json!({"resourceVersion": "7"}),
        [&object],
        Include::Metadata,
        true,
        now,
    );
    assert_eq!(
        table["columnDefinitions"][0],
        json!({"name": "Name", "type": "string", "format": "name", "description": "", "priority": 0})
    );
    assert_eq!(
        table["rows"][0]["cells"],
        json!(["web", "2/3", 3, 0, "6m", "a,b", "a:1,b:1", "a in (x,y),app=web"])
    );
    assert_eq!(table["rows"][0]["object"]["kind"], "PartialObjectMetadata");
}

#[test]
fn services_nodes_and_events() {
    let service =
        |spec: Value| json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": spec});
    let shown = row(&service(
        json!({"type": "ClusterIP", "clusterIP": "10.0.0.1", "ports": [{"port": 80, "protocol": "TCP"}]}),
    ));
    assert_eq!(
        (&shown["Cluster-IP"], &shown["External-IP"], &shown["Port(s)"]),
        (&json!("10.0.0.1"), &json!("<none>"), &json!("80/TCP"))
    );
    assert_eq!((&shown["Age"], &shown["Selector"]), (&json!("<unknown>"), &json!("<none>")));
    let shown = row(&service(
        json!({"type": "LoadBalancer", "ports": [{"port": 80, "nodePort": 30080, "protocol": "UDP"}]}),
    ));
    assert_eq!((&shown["External-IP"], &shown["Port(s)"]), (&json!("<pending>"), &json!("80:30080/UDP")));
    let node = row(&json!({"apiVersion": "v1", "kind": "Node",
        "metadata": {"name": "n", "labels": {"node-role.kubernetes.io/worker": "", "node-role.kubernetes.io/control-plane": ""}},
        "spec": {"unschedulable": true}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}}));
    assert_eq!(
        (&node["Status"], &node["Roles"]),
        (&json!("Ready,SchedulingDisabled"), &json!("control-plane,worker"))
    );
    let event = row(
        &json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"}, "involvedObject": {"kind": "Pod", "name": "p"},
        "count": 3, "firstTimestamp": "2026-01-02T03:00:00Z", "lastTimestamp": "2026-01-02T03:09:00Z", "message": " m\n",
        "source": {"component": "kubelet", "host": "n"}}),
    );
    assert_eq!(
        (&event["Last Seen"], &event["First Seen"], &event["Object"]),
        (&json!("60s"), &json!("10m"), &json!("pod/p"))
    );
    assert_eq!(
        (&event["Count"], &event["Message"], &event["Source"]),
        (&json!(3), &json!("m"), &json!("kubelet, n"))
    );
}

#[test]
fn jobs_and_autoscalers() {
    let job = row(
        &json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": {"completions": 2},
        "status": {"succeeded": 1, "startTime": "2026-01-02T03:00:00Z"}}),
    );
    assert_eq!(
        (&job["Status"], &job["Completions"], &job["Duration"]),
        (&json!("Running"), &json!("1/2"), &json!("10m"))
    );
    let hpa = row(
        &json!({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "h"},
        "spec": {"scaleTargetRef": {"kind": "Deployment", "name": "web"}, "maxReplicas": 5, "minReplicas": 1, "metrics": [
            {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}]},
        "status": {"currentReplicas": 2}}),
    );
    assert_eq!((&hpa["Targets"], &hpa["Replicas"]), (&json!("cpu: <unknown>/80%"), &json!(2)));
}

#[test]
fn custom_resources() {
    let version = json!({"additionalPrinterColumns": [
        {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
        {"name": "Ready", "type": "string", "jsonPath": ".status.conditions[?(@.type=='Ready')].status", "priority": 1},
        {"name": "List", "type": "string", "jsonPath": ".spec.list"},
        {"name": "When", "type": "date", "jsonPath": ".spec.when"},
        {"name": "Odd", "type": "boolean", "jsonPath": ".spec.size"},
    ]});
    let columns = Columns::of_crd(&version);
    let object = json!({"metadata": {"name": "a"}, "spec": {"size": 3, "list": [1, 2], "when": "2026-01-02T03:00:00Z"},
        "status": {"conditions": [{"type": "Ready", "status": "True"}]}});
    let now = time::parse(NOW).unwrap();
    assert_eq!(
        columns.cells(&object, now),
        vec![json!("a"), json!(3), json!("True"), json!("[1,2]"), json!("10m"), Value::Null]
    );
    assert_eq!(
        columns.cells(&json!({"metadata": {"name": "b"}}), now),
        vec![json!("b"), Value::Null, Value::Null, Value::Null, Value::Null, Value::Null]
    );
    let object = json!({"metadata": {"name": "a", "creationTimestamp": "2026-01-02T03:00:00Z"}});
    assert_eq!(Columns::of_crd(&json!({})).cells(&object, now), vec![json!("a"), json!("10m")]);
}
