//! Building a binding, and meeting the one that exists.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise; clippy exempts only the test functions themselves"
)]

use serde_json::{Value, json};
use windlass_object::Meta;
use windlass_policy::binding::{BindingError, Facts, desired, merge};

fn template() -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop",
        "uid": "u1", "resourceVersion": "7", "labels": {"team": "red"}}})
}

fn policy(spec: Value) -> Value {
    json!({"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy", "metadata":
        {"name": "pp", "namespace": "shop", "labels": {"propagationpolicy.karmada.io/permanent-id": "id"}}, "spec": spec})
}

#[test]
fn all_fields() {
    let spec = json!({"placement": {"workloadAffinity": {"affinity": {"groupByLabelKey": "team"},
        "antiAffinity": {"groupByLabelKey": "absent"}}}, "schedulerName": "default-scheduler", "propagateDeps": true,
        "conflictResolution": "Abort", "preserveResourcesOnDeletion": false, "priority": 4,
        "suspension": {"dispatching": true}});
    let facts = Facts {
        replicas: 2,
        requirements: Some(json!({"resourceRequest": {"cpu": "1"}})),
        priority: Some(100),
        affinity_groups: true,
        ..Facts::default()
    };
    let binding = desired(&template(), &policy(spec.clone()), &facts);
    assert_eq!(
        binding,
        json!({"apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding",
            "metadata": {"name": "web-deployment", "namespace": "shop",
                "labels": {"propagationpolicy.karmada.io/permanent-id": "id"},
                "annotations": {"propagationpolicy.karmada.io/namespace": "shop",
                    "propagationpolicy.karmada.io/name": "pp"},
                "finalizers": ["karmada.io/binding-controller"],
                "ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "u1",
                    "controller": true, "blockOwnerDeletion": true}]},
            "spec": {"resource": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "web",
                    "uid": "u1", "resourceVersion": "7"},
                "replicas": 2, "replicaRequirements": {"resourceRequest": {"cpu": "1"}},
                "propagateDeps": true, "schedulerName": "default-scheduler", "placement": spec["placement"],
                "conflictResolution": "Abort", "preserveResourcesOnDeletion": false,
                "schedulePriority": {"priority": 100}, "suspension": {"dispatching": true},
                "workloadAffinityGroups": {"affinityGroup": "team=red"}}})
    );
    assert_eq!(merge(None, binding.clone()), Ok(Some(binding.clone())));
    assert_eq!(merge(Some(&binding), binding.clone()), Ok(None));
}

#[test]
fn cluster_scoped() {
    let template = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
        "metadata": {"name": "system:tom", "uid": "u2"}});
    let policy = json!({"kind": "ClusterPropagationPolicy", "metadata": {"name": "cpp",
        "labels": {"clusterpropagationpolicy.karmada.io/permanent-id": "id"}}, "spec": {}});
    let binding = desired(&template, &policy, &Facts::default());
    assert_eq!(binding["kind"], "ClusterResourceBinding");
    assert_eq!((binding.name(), binding.namespace()), ("system.tom-clusterrole", ""));
    assert_eq!(binding["metadata"]["finalizers"], json!(["karmada.io/cluster-resource-binding-controller"]));
    assert_eq!(binding["spec"]["placement"], json!({}));
    assert_eq!(binding["spec"]["resource"].get("namespace"), None);
}

#[test]
fn what_others_wrote_stays() {
    let mut existing =
        desired(&template(), &policy(json!({"failover": {}, "placement": {"a": 1}})), &Facts::default());
    existing["spec"]["clusters"] = json!([{"name": "m1"}]);
    existing["spec"]["requiredBy"] = json!([{"name": "x"}]);
    existing.set_label("mine", "1");
    existing.set_label("clusterpropagationpolicy.karmada.io/permanent-id", "old");
    existing.add_finalizer("mine/too");
    let facts = Facts { replicas: 5, ..Facts::default() };
    let merged = merge(Some(&existing), desired(&template(), &policy(json!({})), &facts)).unwrap().unwrap();
    assert_eq!(merged["spec"]["clusters"], json!([{"name": "m1"}]));
    assert_eq!(merged["spec"]["requiredBy"], json!([{"name": "x"}]));
    assert_eq!((merged["spec"]["replicas"].as_i64(), &merged["spec"]["placement"]), (Some(5), &json!({})));
    assert_eq!(merged["spec"].get("failover"), None);
    assert_eq!((merged.label("mine"), merged.finalizers().len()), (Some("1"), 2));
    assert_eq!(merged.label("clusterpropagationpolicy.karmada.io/permanent-id"), None);
}

#[test]
fn suspension_is_shared() {
    let part = json!({"dispatching": true});
    let table = [
        (Some(part.clone()), None, Some(part.clone())),
        (
            Some(part),
            Some(json!({"scheduling": true, "dispatchingOnClusters": {}})),
            Some(json!({"dispatching": true, "scheduling": true})),
        ),
        (None, None, None),
        (None, Some(json!({"dispatching": true})), None),
        (None, Some(json!({"dispatching": true, "scheduling": true})), Some(json!({"scheduling": true}))),
    ];
    for (wanted, before, after) in table {
        let mut existing = desired(&template(), &policy(json!({})), &Facts::default());
        if let Some(before) = &before {
            existing["spec"]["suspension"] = before.clone();
        }
        let spec = wanted.map_or_else(|| json!({}), |suspension| json!({ "suspension": suspension }));
        let wanted = desired(&template(), &policy(spec), &Facts::default());
        let merged = merge(Some(&existing), wanted).unwrap().unwrap_or(existing);
        assert_eq!(merged["spec"].get("suspension"), after.as_ref(), "{before:?}");
    }
}

#[test]
fn another_objects_binding_is_refused() {
    let existing = desired(&template(), &policy(json!({})), &Facts::default());
    let mut other = template();
    other["apiVersion"] = "example.com/v1".into();
    other["metadata"]["uid"] = "u9".into();
    let error = merge(Some(&existing), desired(&other, &policy(json!({})), &Facts::default())).unwrap_err();
    assert!(
        error.to_string().contains("shop/web-deployment belongs to apps/v1 Deployment web (u1)"),
        "{error}"
    );
    let mut going = existing.clone();
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
    assert!(matches!(merge(Some(&going), existing), Err(BindingError::Deleting { .. })));
}
