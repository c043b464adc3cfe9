//! Built-in objects come out as a real kube-apiserver 1.36.3 stores them (recorded: `cases/canonical.json`), but for what
//! its strategies and allocators add after decoding, which is not this crate's affair.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise; clippy exempts only the test functions themselves"
)]

use serde_json::{Map, Value};
use windlass_object::Meta;
use windlass_schema::{builtin::table, canonical, canonical::Unknown};

/// Added by kube-apiserver when it creates an object: by kind, JSON pointers.
const ADDED: &[(&str, &[&str])] = &[
    ("Namespace", &["/spec/finalizers", "/status/phase"]),
    ("Pod", &["/status"]),
    ("DaemonSet", &["/metadata/annotations"]),
    (
        "Service",
        &[
            "/spec/clusterIP",
            "/spec/clusterIPs",
            "/spec/ipFamilies",
            "/spec/ipFamilyPolicy",
            "/spec/ports/0/nodePort",
            "/spec/healthCheckNodePort",
        ],
    ),
    ("Job", &["/spec/selector", "/spec/template/metadata", "/metadata/labels"]),
    ("CustomResourceDefinition", &["/status"]),
    ("APIService", &["/status"]),
    ("Node", &["/status"]),
    ("PersistentVolume", &["/status/lastPhaseTransitionTime"]),
];

#[test]
fn objects_are_as_kube_apiserver_stores_them() {
    let text = include_str!("cases/objects.yaml");
    let recorded: Value = serde_json::from_str(include_str!("cases/canonical.json")).unwrap();
    let mut faults = Vec::new();
    for document in text.split("\n---\n") {
        let mut object: Value = serde_saphyr::from_str(document).unwrap();
        let name = format!("{}-{}", object.kind().to_lowercase(), object.name().split('.').next().unwrap());
        let Some(expected) = recorded.get(&name) else { continue };
        let view = table().schema(&object.gvk()).unwrap();
        canonical::canonicalize(view, &mut object, Unknown::Error)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let once = object.clone();
        canonical::canonicalize(view, &mut object, Unknown::Error).unwrap();
        assert_eq!(object, once, "{name} changes when it is canonicalised again");
        let mut expected = expected.clone();
        let kind = object.kind().to_owned();
        for (_, pointers) in ADDED.iter().filter(|(own, _)| *own == kind) {
            for pointer in *pointers {
                remove(&mut expected, pointer);
                remove(&mut object, pointer);
            }
        }
        compare(&name, &expected, &object, &mut faults);
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

fn remove(value: &mut Value, pointer: &str) {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    if let Some(Value::Object(map)) = value.pointer_mut(parent) {
        map.remove(name);
    }
}

fn compare(at: &str, expected: &Value, found: &Value, faults: &mut Vec<String>) {
    match (expected, found) {
        (Value::Object(a), Value::Object(b)) => {
            let both: Map<String, Value> = a.iter().chain(b).map(|(k, v)| (k.clone(), v.clone())).collect();
            for key in both.keys() {
                let at = format!("{at}.{key}");
                match (a.get(key), b.get(key)) {
                    (Some(a), Some(b)) => compare(&at, a, b, faults),
                    (Some(a), None) => faults.push(format!("{at}: {a} is missing")),
                    (None, Some(b)) => faults.push(format!("{at}: {b} is too much")),
                    (None, None) => {}
                }
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).enumerate().for_each(|(i, (a, b))| compare(&format!("{at}[{i}]"), a, b, faults));
        }
        _ if expected == found => {}
        _ => faults.push(format!("{at}: expected {expected}, found {found}")),
    }
}
