//! Works of a binding, and what their statuses add up to.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise; clippy exempts only the test functions themselves"
)]

use serde_json::{Value, json};
use windlass_object::Meta;
use windlass_object::condition::find;
use windlass_policy::overrides::Overridden;
use windlass_policy::status::{aggregate, binding_status, dispatching, fully_applied, manifest_status};
use windlass_policy::work::{
    build, completions, conflict_resolution, direct_purges_pending, expected_clusters, is_suspended, merge,
    orphans, prune, targets,
};

fn template() -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop", "uid": "u1",
        "resourceVersion": "7", "generation": 4, "labels": {"app": "web"},
        "annotations": {"deployment.kubernetes.io/revision": "3"}}, "spec": {"replicas": 2}, "status": {"replicas": 2}})
}

fn binding() -> Value {
    json!({"apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding", "metadata": {"name": "web-deployment",
        "namespace": "shop", "generation": 5, "labels": {"resourcebinding.karmada.io/permanent-id": "rb1"}},
        "spec": {"resource": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "web"},
            "replicas": 2, "clusters": [{"name": "m1", "replicas": 2}]}})
}

fn plain(object: Value) -> Overridden {
    Overridden { object, cluster_rules: Vec::new(), rules: Vec::new() }
}

fn work(cluster: &str) -> Value {
    build(&binding(), cluster, &plain(template()), false)
}

#[test]
fn a_whole_work() {
    let manifest = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop",
        "labels": {"app": "web", "karmada.io/managed": "true", "resourcebinding.karmada.io/permanent-id": "rb1"},
        "annotations": {
            "resourcebinding.karmada.io/name": "web-deployment",
            "resourcebinding.karmada.io/namespace": "shop",
            "resourcetemplate.karmada.io/generation": "4",
            "resourcetemplate.karmada.io/managed-annotations": "resourcebinding.karmada.io/name,\
                resourcebinding.karmada.io/namespace,resourcetemplate.karmada.io/generation,\
                resourcetemplate.karmada.io/managed-annotations,resourcetemplate.karmada.io/managed-labels,\
                resourcetemplate.karmada.io/uid,work.karmada.io/conflict-resolution,work.karmada.io/name,\
                work.karmada.io/namespace",
            "resourcetemplate.karmada.io/managed-labels":
                "app,karmada.io/managed,resourcebinding.karmada.io/permanent-id",
            "resourcetemplate.karmada.io/uid": "u1",
            "work.karmada.io/conflict-resolution": "abort",
            "work.karmada.io/name": "web-56d6c779bb",
            "work.karmada.io/namespace": "karmada-es-m1"}},
        "spec": {"replicas": 2}});
    assert_eq!(
        work("m1"),
        json!({"apiVersion": "work.karmada.io/v1alpha1", "kind": "Work", "metadata": {"name": "web-56d6c779bb",
            "namespace": "karmada-es-m1", "labels": {"resourcebinding.karmada.io/permanent-id": "rb1"},
            "annotations": {"resourcebinding.karmada.io/name": "web-deployment",
                "resourcebinding.karmada.io/namespace": "shop", "work.karmada.io/conflict-resolution": "abort"},
            "finalizers": ["karmada.io/execution-controller"]},
            "spec": {"workload": {"manifests": [manifest]}, "suspendDispatching": false,
                "preserveResourcesOnDeletion": false}})
    );
}

#[test]
fn meeting_the_work_that_exists() {
    let fresh = work("m1");
    let mut existing = fresh.clone();
    existing.set_label("work.karmada.io/permanent-id", "w1");
    existing.set_annotation("policy.karmada.io/applied-overrides", "[]");
    existing["metadata"]["finalizers"] = json!(["a/b", "karmada.io/execution-controller"]);
    let merged = merge(Some(&existing), fresh.clone()).unwrap().unwrap();
    let manifest = &merged["spec"]["workload"]["manifests"][0];
    assert_eq!(manifest.label("work.karmada.io/permanent-id"), Some("w1"));
    assert!(
        manifest
            .annotation("resourcetemplate.karmada.io/managed-labels")
            .unwrap()
            .ends_with("work.karmada.io/permanent-id")
    );
    assert_eq!(merged.annotation("policy.karmada.io/applied-overrides"), None);
    assert_eq!(merged.finalizers().len(), 2);
    assert_eq!(merge(Some(&merged), fresh.clone()), Ok(None));
    let mut other = fresh.clone();
    other.set_annotation("resourcebinding.karmada.io/name", "web.example-deployment");
    assert!(
        merge(Some(&merged), other)
            .unwrap_err()
            .to_string()
            .contains("belongs to binding shop/web-deployment")
    );
    let mut going = merged;
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
    assert!(merge(Some(&going), fresh).is_err());
}

#[test]
fn clusters_of_a_binding() {
    let mut binding = binding();
    binding["spec"]["requiredBy"] =
        json!([{"name": "a", "clusters": [{"name": "m1", "replicas": 9}, {"name": "m3"}]}]);
    binding["spec"]["gracefulEvictionTasks"] =
        json!([{"fromCluster": "m4"}, {"fromCluster": "m5", "purgeMode": "Directly"}]);
    let list: Vec<(String, i64, bool)> =
        targets(&binding).into_iter().map(|t| (t.cluster, t.replicas, t.required_by)).collect();
    assert_eq!(list, [("m1".to_owned(), 2, false), ("m3".to_owned(), 0, true)]);
    let expected: Vec<String> = expected_clusters(&binding).into_iter().collect();
    assert_eq!(expected, ["m1", "m3", "m4"]);
    let works = ["m1", "m4", "m5", "m6"].map(work);
    let works: Vec<&Value> = works.iter().collect();
    let orphans: Vec<&str> = orphans(&binding, &works).into_iter().map(Meta::namespace).collect();
    assert_eq!(orphans, ["karmada-es-m5", "karmada-es-m6"]);
    assert_eq!(direct_purges_pending(&binding, &works), ["m5"]);
}

#[test]
fn completions_are_shared() {
    type Row<'a> = (i64, &'a [i64], &'a str, Option<&'a [i64]>);
    let table: [Row<'_>; 6] = [
        (10, &[5, 5], "", Some(&[5, 5])),
        (10, &[1, 1, 1], "00000000-0000-0000-0000-000000000001", Some(&[4, 3, 3])),
        (10, &[1, 1, 1], "11111111-1111-1111-1111-111111111111", Some(&[3, 3, 4])),
        (4, &[2, 1], "", Some(&[3, 1])),
        (7, &[3, 1, 0], "", Some(&[5, 2, 0])),
        (7, &[0, 0], "", None),
    ];
    for (total, weights, uid, expect) in table {
        let clusters: Vec<Value> = (1..)
            .zip(weights)
            .map(|(i, w): (i32, _)| json!({"name": format!("m{i}"), "replicas": w}))
            .collect();
        let mut binding = binding();
        binding["spec"]["clusters"] = clusters.into();
        binding["spec"]["placement"] = json!({"replicaScheduling": {"replicaSchedulingType": "Divided"}});
        let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"uid": uid}, "spec": {"completions": total}});
        let shares =
            completions(&binding, &job, &targets(&binding)).map(|s| s.into_values().collect::<Vec<i64>>());
        assert_eq!(shares.as_deref(), expect, "{weights:?}");
        binding["spec"]["placement"] = json!({});
        assert_eq!(completions(&binding, &job, &targets(&binding)), None);
    }
}

#[test]
fn conflicts_suspension_and_state() {
    let mut binding = binding();
    let mut object = template();
    assert_eq!(conflict_resolution(&object, &binding), "abort");
    binding["spec"]["conflictResolution"] = "Overwrite".into();
    assert_eq!(conflict_resolution(&object, &binding), "overwrite");
    object.set_annotation("work.karmada.io/conflict-resolution", "abort");
    assert_eq!(conflict_resolution(&object, &binding), "abort");
    assert!(!is_suspended(&binding, "m1"));
    binding["spec"]["suspension"] = json!({"dispatchingOnClusters": {"clusterNames": ["m1"]}});
    assert!(is_suspended(&binding, "m1") && !is_suspended(&binding, "m2"));
    binding["spec"]["gracefulEvictionTasks"] = json!([{"fromCluster": "m0", "purgeMode": "Directly",
        "clustersBeforeFailover": ["m0"], "preservedLabelState": {"state": "s1"}}]);
    let state = |inject| {
        let work = build(&binding, "m1", &plain(template()), inject);
        work["spec"]["workload"]["manifests"][0].label("state").map(str::to_owned)
    };
    assert_eq!((state(true).as_deref(), state(false)), (Some("s1"), None));
}

#[test]
fn pruned_by_kind() {
    let table = [
        (
            json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "uid": "1"},
                "spec": {"clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1"], "ports": []}}),
            json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {"ports": []}}),
        ),
        (
            json!({"apiVersion": "v1", "kind": "Service", "metadata": {}, "spec": {"clusterIP": "None"}}),
            json!({"apiVersion": "v1", "kind": "Service", "metadata": {}, "spec": {"clusterIP": "None"}}),
        ),
        (
            json!({"apiVersion": "serving.example/v1", "kind": "Service", "metadata": {}, "spec": {"clusterIP": "x"}}),
            json!({"apiVersion": "serving.example/v1", "kind": "Service", "metadata": {}, "spec": {"clusterIP": "x"}}),
        ),
        (
            json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "a"},
                "secrets": [{"name": "a-token-1"}, {"name": "a-token-2"}, {"name": "own"}]}),
            json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "a"}, "secrets": [{"name": "own"}]}),
        ),
        (
            json!({"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/service-account-token", "metadata": {},
                "data": {"token": "x"}}),
            json!({"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/service-account-token", "metadata": {},
                "data": null}),
        ),
        (
            json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {}, "spec": {"ttlSecondsAfterFinished": 1,
                "selector": {"matchLabels": {"controller-uid": "1", "a": "b"}},
                "template": {"metadata": {"labels": {"job-name": "j", "batch.kubernetes.io/controller-uid": "1", "a": "b"}}}}}),
            json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {}, "spec": {"selector": {"matchLabels": {"a": "b"}},
                "template": {"metadata": {"labels": {"a": "b"}}}}}),
        ),
    ];
    for (mut object, expect) in table {
        prune(&mut object);
        assert_eq!(object, expect);
    }
}

#[test]
fn statuses_add_up() {
    let condition = |status: &str, message: &str| json!([{"type": "Applied", "status": status, "reason": "R", "message": message}]);
    let (mut one, mut two) = (work("m2"), work("m1"));
    one["status"] = json!({"conditions": condition("False", "no room")});
    let entry = manifest_status(&two, &template(), Some(json!({"replicas": 2})), "Healthy").unwrap();
    assert_eq!(
        entry["identifier"],
        json!({"ordinal": 0, "group": "apps", "version": "v1", "kind": "Deployment",
        "resource": "", "namespace": "shop", "name": "web"})
    );
    two["status"] = json!({"conditions": condition("True", ""), "manifestStatuses": [entry]});
    let mut binding = binding();
    let items = aggregate(&binding, &[&one, &two]).unwrap();
    assert_eq!(
        items,
        [
            json!({"clusterName": "m1", "applied": true, "health": "Healthy", "status": {"replicas": 2}}),
            json!({"clusterName": "m2", "appliedMessage": "no room", "health": "Unknown"}),
        ]
    );
    assert_eq!(fully_applied(&binding, &items).status, "False");
    assert_eq!(fully_applied(&binding, &items[..1]).reason, "FullyAppliedSuccess");
    assert_eq!(fully_applied(&binding, &[]).status, "False");
    let now = "2026-06-01T00:00:00Z";
    let status = binding_status(&binding, &[&two], now).unwrap().unwrap();
    assert_eq!(
        find(status["conditions"].as_array().unwrap(), "FullyApplied").unwrap()["observedGeneration"],
        5
    );
    binding["status"] = status;
    assert_eq!(binding_status(&binding, &[&two], "2027-01-01T00:00:00Z"), Ok(None));
    let mut renamed = two;
    renamed["spec"]["workload"]["manifests"][0]["metadata"]["name"] = "other".into();
    assert!(binding_status(&binding, &[&renamed], now).is_err());
    assert_eq!(dispatching(&one).reason, "Dispatching");
}
