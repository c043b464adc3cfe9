//! Attached bindings: built, shared by referrers, and left.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise; clippy exempts only the test functions themselves"
)]

use serde_json::{Value, json};
use windlass_object::Meta;
use windlass_policy::dependencies::{attached, detach, means_object, merge, orphans, record};

fn dependent() -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata":
        {"name": "conf", "namespace": "shop", "uid": "c1", "resourceVersion": "3", "labels": {"app": "web"}}})
}

fn independent(name: &str, spec: Value) -> Value {
    json!({"kind": "ResourceBinding", "metadata": {"name": name, "namespace": "shop",
        "labels": {"resourcebinding.karmada.io/permanent-id": format!("id-{name}")}}, "spec": spec})
}

#[test]
fn referrers_share_one() {
    let one = independent("web-deployment", json!({"clusters": [{"name": "m1"}]}));
    let two = independent(
        "api-deployment",
        json!({"clusters": [{"name": "m2"}], "conflictResolution": "Overwrite"}),
    );
    let find = |_: &str, name: &str| [&one, &two].into_iter().find(|binding| binding.name() == name);
    let (first, disagreements) = merge(None, attached(&dependent(), &one), find).unwrap();
    let first = first.unwrap();
    assert!(disagreements.is_empty());
    assert_eq!(first.name(), "conf-configmap");
    assert_eq!(first.label("resourcebinding.karmada.io/depended-by-8546649456"), Some("id-web-deployment"));
    assert_eq!(first["spec"]["conflictResolution"], "Abort");
    assert_eq!(merge(Some(&first), attached(&dependent(), &one), find).unwrap().0, None);
    let (both, disagreements) = merge(Some(&first), attached(&dependent(), &two), find).unwrap();
    let both = both.unwrap();
    assert_eq!(disagreements, ["conflictResolution"]);
    assert_eq!(both["spec"]["requiredBy"].as_array().unwrap().len(), 2);
    assert_eq!(both["spec"]["conflictResolution"], "Overwrite");
    let left = detach(&both, "shop", "api-deployment", find).unwrap();
    assert_eq!(left, first);
    let shell = detach(&left, "shop", "web-deployment", find).unwrap();
    assert_eq!((shell["spec"].get("requiredBy"), shell["spec"].get("conflictResolution")), (None, None));
    assert_eq!(detach(&shell, "shop", "web-deployment", find), None);
    let mut foreign = first;
    foreign["metadata"]["ownerReferences"][0]["uid"] = "else".into();
    assert!(merge(Some(&foreign), attached(&dependent(), &one), find).is_err());
}

#[test]
fn own_policies_word_counts() {
    let one = independent("web-deployment", json!({"conflictResolution": "Overwrite"}));
    let find = |_: &str, _: &str| Some(&one);
    let mut own = attached(&dependent(), &one);
    own["spec"]["placement"] = json!({});
    own["spec"]["conflictResolution"] = "Abort".into();
    assert_eq!(merge(Some(&own), attached(&dependent(), &one), find).unwrap().0, None);
}

#[test]
fn what_a_dependency_means() {
    let by = |part: Value| {
        let mut dependency = json!({"apiVersion": "v1", "kind": "ConfigMap", "namespace": "shop"});
        dependency.as_object_mut().unwrap().extend(part.as_object().unwrap().clone());
        dependency
    };
    let (name, labels) =
        (by(json!({"name": "conf"})), by(json!({"labelSelector": {"matchLabels": {"app": "web"}}})));
    let (other, none) =
        (by(json!({"name": "x"})), by(json!({"labelSelector": {"matchLabels": {"app": "x"}}})));
    let object = dependent();
    let verdicts: Vec<bool> = [&name, &labels, &other, &none].map(|d| means_object(d, &object)).to_vec();
    assert_eq!(verdicts, [true, true, false, false]);
    let binding = attached(&object, &independent("web-deployment", json!({})));
    let left = |dependencies: &[Value], known: bool| {
        orphans(&[&binding], dependencies, |_| known.then_some(&object)).len()
    };
    assert_eq!(
        (
            left(std::slice::from_ref(&name), false),
            left(std::slice::from_ref(&labels), true),
            left(&[labels], false)
        ),
        (0, 0, 1)
    );
    assert_eq!(left(&[other.clone(), none], true), 1);
    assert_eq!(record(&[name.clone(), other.clone()]), record(&[other, name]));
}
