//! What `update` costs, for people: `cargo test --release … speed -- --ignored --nocapture`.

use crate::support::builtin_view;
use serde_json::{Value, json};
use std::time::Instant;
use windlass_schema::apply::{self, Manager};

#[test]
#[ignore = "measures, and asserts nothing"]
fn speed_of_update() {
    let mut data = serde_json::Map::new();
    for n in 0..8 {
        data.insert(format!("key-{n}"), Value::String("x".repeat(100)));
    }
    let config = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": data,
        "metadata": {"name": "c", "namespace": "d", "uid": "u", "labels": {"a": "b"}}});
    let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "d", "namespace": "d", "uid": "u", "annotations": {"deployment.kubernetes.io/revision": "1"}},
        "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "a"}}, "strategy": {"type": "Recreate"},
            "template": {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [
                {"name": "c", "image": "i", "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
                 "ports": [{"containerPort": 80, "protocol": "TCP"}], "resources": {"requests": {"cpu": "1"}}}]}}},
        "status": {"replicas": 3, "conditions": [{"type": "Available", "status": "True"}]}});
    for (kind, object, pointer) in
        [("v1 ConfigMap", config, "/data/key-3"), ("apps/v1 Deployment", deployment, "/spec/strategy/type")]
    {
        let view = builtin_view(kind);
        let manager = Manager { time: "2024-01-01T00:00:00Z".into(), ..Manager::new("m", "v1", true) };
        let mut live = object.clone();
        apply::update(view, None, &mut live, &manager);
        let mut changed = live.clone();
        *changed.pointer_mut(pointer).unwrap() = json!("other");
        for (what, was, new) in [
            ("create", None, &object),
            ("no change", Some(&live), &live),
            ("one field", Some(&live), &changed),
        ] {
            const ROUNDS: u32 = 5_000;
            let inputs: Vec<Value> = (0..ROUNDS).map(|_| new.clone()).collect();
            let start = Instant::now();
            for mut input in inputs {
                apply::update(view, was, &mut input, &manager);
            }
            println!("{kind}, {what}: {:?}", start.elapsed() / ROUNDS);
        }
    }
}
