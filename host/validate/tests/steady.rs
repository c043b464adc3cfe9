//! Admission of a Work that a controller wrote changes nothing: both prune and record alike.

use serde_json::{Value, json};
use windlass_policy::work;
use windlass_validate::{Operation, admit};

#[test]
fn admission_leaves_a_controllers_work_alone() {
    let cases: Vec<Value> =
        serde_saphyr::from_str(include_str!("../../policy/tests/cases/prune.yaml")).unwrap();
    for case in cases {
        let mut manifest = case["object"].clone();
        work::prune(&mut manifest);
        let mut stored = json!({
            "apiVersion": "work.karmada.io/v1alpha1", "kind": "Work",
            "metadata": { "name": "w", "namespace": "karmada-es-m1", "labels": { "work.karmada.io/permanent-id": "id" } },
            "spec": { "workload": { "manifests": [manifest] } },
        });
        work::record_managed_keys(&mut stored);
        let gvk = windlass_object::gvk::Gvk::new("work.karmada.io", "v1alpha1", "Work");
        let mut written = stored.clone();
        admit(Operation::Update, &gvk, &mut written, Some(&stored)).unwrap();
        assert_eq!(written, stored, "{}", case["name"]);
    }
}
