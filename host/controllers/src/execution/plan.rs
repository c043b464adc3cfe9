//! What to do about one manifest, and what a Work's status says: pure.

use serde_json::{Value, json};
use windlass_api::conditions::{APPLIED, DISPATCHING};
use windlass_api::labels::{
    ANNOTATION_CONFLICT_RESOLUTION, ANNOTATION_TEMPLATE_UID, ANNOTATION_WORK_NAME, ANNOTATION_WORK_NAMESPACE,
    CONFLICT_OVERWRITE, LABEL_MANAGED, OWNED_ANNOTATIONS, OWNED_LABELS, VALUE_TRUE,
};
use windlass_object::condition;
use windlass_object::meta::Meta;
use windlass_object::path::{bool_at, i64_at, list_at, str_at};
use windlass_policy::status;

/// The control plane writes to it.
pub(super) fn is_push(cluster: &Value) -> bool {
    str_at(cluster, &["spec", "syncMode"]) == "Push"
}

/// Nothing is to be dispatched.
pub(super) fn is_suspended(work: &Value) -> bool {
    bool_at(work, &["spec", "suspendDispatching"])
}

/// Its objects stay when it goes.
pub(super) fn is_preserved(work: &Value) -> bool {
    bool_at(work, &["spec", "preserveResourcesOnDeletion"])
}

/// What it holds.
pub(super) fn manifests(work: &Value) -> &[Value] {
    list_at(work, &["spec", "workload", "manifests"])
}

/// This very generation has been applied: what differs now is drift, or the member's own.
pub(super) fn is_current(work: &Value) -> bool {
    condition::find(condition::of(work), APPLIED).is_some_and(|applied| {
        str_at(applied, &["status"]) == "True"
            && i64_at(applied, &["observedGeneration"]) == Some(work.generation())
    })
}

/// A status as interpreted, with the generation that the member's controller has observed: without it nobody could tell
/// whether the rest is about the newest spec. One that an interpreter tells stays.
pub(super) fn with_observed_generation(object: &Value, mut status: Value) -> Value {
    let observed = object.pointer("/status/observedGeneration").filter(|observed| observed.is_i64());
    if let (Some(fields), Some(observed)) = (status.as_object_mut(), observed)
        && fields.contains_key("generation")
        && !fields.contains_key("observedGeneration")
    {
        fields.insert("observedGeneration".to_owned(), observed.clone());
    }
    status
}

/// Some generation has been tried.
pub(super) fn was_tried(work: &Value) -> bool {
    condition::find(condition::of(work), APPLIED).is_some()
}

/// The status that a Work tells of an object.
pub(super) fn held_status(work: &Value, object: &Value) -> Option<Value> {
    let gvk = object.gvk();
    let is_of = |entry: &&Value| {
        let part = |key: &str| str_at(entry, &["identifier", key]);
        (part("group"), part("kind")) == (&gvk.group, &gvk.kind)
            && (part("namespace"), part("name")) == (object.namespace(), object.name())
    };
    list_at(work, &["status", "manifestStatuses"]).iter().find(is_of)?.get("status").cloned()
}

/// The template that a Work's manifest was made from.
pub(super) struct Template {
    pub(super) api_version: String,
    pub(super) kind: String,
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) uid: String,
}

/// It, if its uid is known.
pub(super) fn template(work: &Value) -> Option<Template> {
    let manifest = manifests(work).first()?;
    let uid = manifest.annotation(ANNOTATION_TEMPLATE_UID).filter(|uid| !uid.is_empty())?;
    Some(Template {
        api_version: manifest.api_version().to_owned(),
        kind: manifest.kind().to_owned(),
        namespace: manifest.namespace().to_owned(),
        name: manifest.name().to_owned(),
        uid: uid.to_owned(),
    })
}

/// May an object that is there already be written?
///
/// # Errors
/// Says whose it is and what to do.
pub(super) fn check_owner(manifest: &Value, live: &Value, cluster: &str) -> Result<(), String> {
    let managed = live.label(LABEL_MANAGED) == Some(VALUE_TRUE);
    let strategy = manifest.annotation(ANNOTATION_CONFLICT_RESOLUTION).unwrap_or_default();
    let work = |object: &Value| {
        let name = object.annotation(ANNOTATION_WORK_NAME)?;
        Some(format!("{}/{name}", object.annotation(ANNOTATION_WORK_NAMESPACE)?))
    };
    let name = windlass_api::names::namespaced(live.namespace(), live.name());
    let kind = live.gvk();
    if strategy == CONFLICT_OVERWRITE {
        return Ok(());
    }
    if !managed {
        return Err(format!(
            "resource(kind={kind}, {name}) already exists in the cluster {cluster} and the \
             {ANNOTATION_CONFLICT_RESOLUTION} strategy is {strategy:?}, Karmada will not manage this resource: set \
             conflictResolution to Overwrite in the policy to take it over"
        ));
    }
    match (work(live), work(manifest)) {
        (Some(held), Some(wanted)) if held != wanted => Err(format!(
            "resource(kind={kind}, {name}) in the cluster {cluster} belongs to work {held}, not to {wanted}"
        )),
        _ => Ok(()),
    }
}

/// A Work that failed may have waited for this object of its member: the namespace of what it holds, or the
/// definition of its kind.
pub(super) fn waited_for(work: &Value, live: &Value) -> bool {
    if condition::status(condition::of(work), APPLIED) != Some("False") || live.is_deleting() {
        return false;
    }
    match (live.api_version(), live.kind()) {
        ("v1", "Namespace") => manifests(work).iter().any(|manifest| manifest.namespace() == live.name()),
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition") => {
            let (group, kind) = (str_at(live, &["spec", "group"]), str_at(live, &["spec", "names", "kind"]));
            let is_of_kind = |manifest: &Value| manifest.gvk().group == group && manifest.kind() == kind;
            condition::is_true(condition::of(live), "Established") && manifests(work).iter().any(is_of_kind)
        }
        _ => false,
    }
}

/// Whether everything that is desired is there. What a member adds (defaults, its own keys) is no difference.
pub(super) fn covers(live: &Value, desired: &Value) -> bool {
    match (desired, live) {
        (Value::Object(desired), Value::Object(live)) => {
            desired.iter().all(|(key, value)| match live.get(key) {
                Some(held) => covers(held, value),
                None => is_nothing(value),
            })
        }
        (Value::Array(desired), Value::Array(live)) => {
            desired.len() == live.len() && desired.iter().zip(live).all(|(wanted, held)| covers(held, wanted))
        }
        (Value::Number(wanted), Value::Number(held)) => wanted == held || wanted.as_f64() == held.as_f64(),
        _ => desired == live,
    }
}

/// What an API server may leave out.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.values().all(is_nothing),
        _ => false,
    }
}

/// The manifest without any key that says that we manage it.
pub(super) fn let_go(manifest: &Value) -> Value {
    let mut free = manifest.clone();
    for key in OWNED_LABELS {
        free.remove_label(key);
    }
    for key in OWNED_ANNOTATIONS {
        free.remove_annotation(key);
    }
    free
}

/// What the condition `Dispatching` says, if it is about to change from or to something else than the usual.
pub(super) fn dispatch_message(work: &Value) -> Option<String> {
    let wanted = status::dispatching(work);
    let held = condition::status(condition::of(work), DISPATCHING).unwrap_or("True");
    (held != wanted.status.as_str()).then_some(wanted.message)
}

/// A JSON Patch of the Work's status; nothing if it says so already.
pub(super) fn status_patch(
    work: &Value,
    errors: Option<&[String]>,
    statuses: Vec<Value>,
    now: &str,
) -> Option<Value> {
    let before = work.get("status").cloned().unwrap_or_else(|| json!({}));
    let mut fresh = before.as_object().cloned().unwrap_or_default();
    let mut conditions = condition::of(work).to_vec();
    condition::set_at(&mut conditions, status::dispatching(work), now);
    if let Some(errors) = errors {
        let total = manifests(work).len();
        condition::set_at(&mut conditions, status::applied(work, total, errors), now);
        if statuses.is_empty() {
            fresh.remove("manifestStatuses");
        } else {
            fresh.insert("manifestStatuses".into(), Value::Array(statuses));
        }
    }
    fresh.insert("conditions".into(), Value::Array(conditions));
    let fresh = Value::Object(fresh);
    (fresh != before).then(|| {
        json!([
            {"op": "test", "path": "/metadata/uid", "value": work.uid()},
            {"op": "add", "path": "/status", "value": fresh},
        ])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_no_difference_and_drift_is() {
        let desired =
            json!({"spec": {"replicas": 2, "template": {"containers": [{"name": "a"}]}, "x": null, "y": {}}});
        let live = json!({"spec": {"replicas": 2, "strategy": {}, "template": {"containers": [{"name": "a", "tty": false}]}}, "status": {}});
        assert!(covers(&live, &desired));
        for (pointer, value) in [("/spec/replicas", json!(3)), ("/spec/template/containers", json!([]))] {
            let mut drifted = live.clone();
            *drifted.pointer_mut(pointer).unwrap() = value;
            assert!(!covers(&drifted, &desired), "{pointer}");
        }
    }

    #[test]
    fn foreign_objects_are_left_alone() {
        let mut manifest =
            json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a", "namespace": "b"}});
        let mut live = manifest.clone();
        assert!(
            check_owner(&manifest, &live, "m1").unwrap_err().contains("already exists in the cluster m1")
        );
        live.set_label(LABEL_MANAGED, VALUE_TRUE);
        assert!(check_owner(&manifest, &live, "m1").is_ok());
        for (object, name) in [(&mut live, "one"), (&mut manifest, "two")] {
            object.set_annotation(ANNOTATION_WORK_NAME, name);
            object.set_annotation(ANNOTATION_WORK_NAMESPACE, "karmada-es-m1");
        }
        assert!(check_owner(&manifest, &live, "m1").unwrap_err().contains("karmada-es-m1/one"));
        manifest.set_annotation(ANNOTATION_CONFLICT_RESOLUTION, CONFLICT_OVERWRITE);
        assert!(check_owner(&manifest, &live, "m1").is_ok());
    }

    #[test]
    fn works_wait_for_their_namespace_and_kind() {
        let failed = |manifest: Value| {
            json!({
                "spec": {"workload": {"manifests": [manifest]}},
                "status": {"conditions": [{"type": "Applied", "status": "False"}]},
            })
        };
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}});
        let settings =
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "shop"}});
        assert!(waited_for(&failed(settings.clone()), &namespace));
        assert!(!waited_for(&json!({"spec": {"workload": {"manifests": [settings]}}}), &namespace));
        let mut definition = json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "spec": {"group": "g.example", "names": {"kind": "Thing"}},
        });
        let thing = failed(json!({"apiVersion": "g.example/v1", "kind": "Thing", "metadata": {"name": "t"}}));
        assert!(!waited_for(&thing, &definition), "not served yet");
        definition["status"] = json!({"conditions": [{"type": "Established", "status": "True"}]});
        assert!(waited_for(&thing, &definition));
    }

    #[test]
    fn observed_generations_are_told() {
        let object = json!({"status": {"observedGeneration": 3}});
        for (status, expected) in [
            (json!({"generation": 3}), json!({"generation": 3, "observedGeneration": 3})),
            (
                json!({"generation": 3, "observedGeneration": 2}),
                json!({"generation": 3, "observedGeneration": 2}),
            ),
            (json!({"phase": "Bound"}), json!({"phase": "Bound"})),
            (json!(null), json!(null)),
        ] {
            assert_eq!(with_observed_generation(&object, status), expected);
        }
        assert_eq!(with_observed_generation(&json!({}), json!({"generation": 1})), json!({"generation": 1}));
    }

    #[test]
    fn a_status_is_written_once() {
        let mut work =
            json!({"metadata": {"uid": "u", "generation": 3}, "spec": {"workload": {"manifests": [{}]}}});
        assert!(!is_current(&work));
        let patch =
            status_patch(&work, Some(&[]), vec![json!({"health": "Healthy"})], "2026-01-01T00:00:00Z")
                .unwrap();
        work["status"] = patch[1]["value"].clone();
        assert!(is_current(&work));
        assert_eq!(
            status_patch(&work, Some(&[]), vec![json!({"health": "Healthy"})], "2027-01-01T00:00:00Z"),
            None
        );
    }
}
