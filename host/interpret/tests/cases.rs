//! Pruning, recording and retention against their case files.

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_interpret::{manifest, retention};

#[derive(Deserialize)]
struct Pruned {
    name: String,
    object: Value,
    pruned: Value,
}

#[derive(Deserialize)]
struct Retained {
    name: String,
    desired: Value,
    observed: Value,
    result: Value,
}

#[test]
fn pruning() {
    let cases: Vec<Pruned> = serde_saphyr::from_str(include_str!("cases/manifest.yaml")).unwrap();
    for case in cases {
        let mut object = case.object;
        manifest::prune(&mut object);
        assert_eq!(object, case.pruned, "{}", case.name);
    }
}

#[test]
fn generic_retention() {
    let cases: Vec<Retained> = serde_saphyr::from_str(include_str!("cases/retention.yaml")).unwrap();
    for case in cases {
        let mut desired = json!({ "metadata": case.desired });
        retention::retain(&mut desired, &json!({ "metadata": case.observed }));
        assert_eq!(desired["metadata"], case.result, "{}", case.name);
    }
}

#[test]
fn recording_is_stable() {
    let mut object = json!({ "metadata": { "labels": { "karmada.io/managed": "true", "app": "x" }, "annotations": { "z": "1" } } });
    manifest::record_managed(&mut object, "id");
    assert_eq!(
        object["metadata"]["annotations"],
        json!({
            "z": "1",
            "resourcetemplate.karmada.io/managed-annotations": "resourcetemplate.karmada.io/managed-annotations,resourcetemplate.karmada.io/managed-labels,z",
            "resourcetemplate.karmada.io/managed-labels": "app,karmada.io/managed,work.karmada.io/permanent-id",
        })
    );
    let before = object.clone();
    manifest::record_managed(&mut object, "id");
    assert_eq!(object, before);
}
