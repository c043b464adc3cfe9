//! Generated names against the vectors of the reference.

use serde::Deserialize;
use windlass_api::names;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Vector {
    kind: String,
    name: String,
    namespace: String,
    binding_name: String,
    binding_reference_key: String,
    derived_service: String,
    endpoint_slice: String,
    policy_name: String,
    work_name: String,
}

#[test]
fn names_are_the_references() {
    let text = include_str!("../../../tests/conformance/names.ndjson");
    let mut count = 0;
    for line in text.lines() {
        let v: Vector = serde_json::from_str(line).unwrap();
        count += 1;
        assert_eq!(names::binding(&v.kind, &v.name), v.binding_name, "{line}");
        assert_eq!(names::work(&v.kind, &v.name, &v.namespace), v.work_name, "{line}");
        assert_eq!(names::binding_reference_key(&v.namespace, &v.name), v.binding_reference_key, "{line}");
        assert_eq!(names::derived_service(&v.name), v.derived_service, "{line}");
        assert_eq!(names::imported_endpoint_slice("m1", &v.name), v.endpoint_slice, "{line}");
        assert_eq!(names::policy(&v.namespace, &v.name, "apps", "v1", &v.kind), v.policy_name, "{line}");
    }
    assert!(count >= 40, "only {count} vectors");
}
