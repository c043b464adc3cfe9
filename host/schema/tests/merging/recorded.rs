//! What kube-apiserver 1.36.3 made of 86 writes, held against what we make of them:
//! managedFields of every write, conflicts of applies, and the objects that applies and
//! strategic merge patches give, once they are in canonical form.
//!
//! A step has `by` and `through`, and `apply` or `strategic` if it was one; `result` is the
//! stored object, and the object it replaced where that is not the last `result`. Refused
//! steps have `code`, `message` and `causes`.

use crate::support::{Report, builtin_view};
use serde_json::{Value, json};
use windlass_schema::apply::{self, ApplyError, Manager};
use windlass_schema::arena::View;
use windlass_schema::canonical::{self, Unknown};
use windlass_schema::{strategic, structural};

#[test]
fn recorded_writes() {
    let text = include_str!("../cases/recorded/apply.json");
    let cases: Vec<Value> = serde_json::from_str(text).unwrap();
    let mut report = Report::default();
    for case in &cases {
        let parsed = case.get("schema").map(|schema| structural::parse(schema).unwrap());
        let view = match &parsed {
            Some((arena, root)) => arena.view(*root),
            None => builtin_view(case["kind"].as_str().unwrap()),
        };
        let mut last = None;
        for (index, step) in case["steps"].as_array().unwrap().iter().enumerate() {
            let name = format!("{}, step {index}", case["name"].as_str().unwrap());
            let live = step.get("live").or(last);
            hold(&name, case, view, live, step, &mut report);
            last = step.get("result").or(last);
        }
    }
    report.finish();
}

fn hold(name: &str, case: &Value, view: View<'_>, live: Option<&Value>, step: &Value, report: &mut Report) {
    let version = case["kind"].as_str().unwrap().split_once(' ').unwrap().0;
    let mut manager = Manager::new(step["by"].as_str().unwrap(), version, case["has_status"] == true);
    if let Some(subresource) = step["through"].as_str() {
        manager = manager.through(subresource);
    }
    manager.time = "2024-01-01T00:00:00Z".into();
    if let Some(applied) = step.get("apply") {
        match apply::apply(view, live, applied, &manager, step["force"] == true) {
            Ok(object) if step.get("result").is_some() => {
                report.same(name, "managedFields", &entries(&object), &entries(&step["result"]));
                objects(name, case, view, object, &step["result"], report);
            }
            // Later checks of the server refused it.
            Ok(_) => assert_eq!(step["code"], 422, "{name}"),
            Err(ApplyError::Conflicts(conflicts)) => {
                let causes: Vec<Value> = conflicts.0.iter().map(|c| json!([c.message(), c.field])).collect();
                report.same(name, "causes", &json!(causes), &step["causes"]);
                report.same(name, "message", &json!(conflicts.to_string()), &step["message"]);
            }
            Err(error) => report.same(name, "message", &json!(error.to_string()), &step["message"]),
        }
        return;
    }
    let Some(result) = step.get("result") else { return };
    if let (Some(patch), Some(live)) = (step.get("strategic"), live) {
        let merged = strategic::merge(view, live, patch).unwrap();
        objects(name, case, view, merged, result, report);
    }
    let mut new = result.clone();
    new["metadata"]["managedFields"] = match (step.get("given"), live) {
        (Some(given), _) => given.clone(),
        (None, Some(live)) => live["metadata"]["managedFields"].clone(),
        (None, None) => Value::Null,
    };
    if live.is_none() {
        by_the_server(case["kind"].as_str().unwrap(), &mut new);
    }
    apply::update(view, live, &mut new, &manager);
    report.same(name, "managedFields", &entries(&new), &entries(result));
}

/// Takes away what admission and the kind's own strategy add on create, after
/// managedFields were made: nobody owns it.
fn by_the_server(kind: &str, new: &mut Value) {
    let added: &[&str] = match kind {
        "v1 Service" => &["spec/clusterIP", "spec/clusterIPs", "spec/ipFamilies", "spec/ipFamilyPolicy"],
        "v1 Pod" => &["spec/preemptionPolicy", "spec/priority"],
        "batch/v1 Job" => &["metadata/labels", "spec/selector", "spec/template/metadata/labels"],
        "v1 PersistentVolumeClaim" => &["metadata/finalizers"],
        "v1 Namespace" => &["spec/finalizers"],
        _ => &[],
    };
    for path in added {
        let (parent, key) = path.rsplit_once('/').unwrap();
        new.pointer_mut(&format!("/{parent}")).unwrap().as_object_mut().unwrap().remove(key).unwrap();
    }
}

/// managedFields without times, which only tell when the recording was made.
fn entries(object: &Value) -> Value {
    let mut entries = object["metadata"]["managedFields"].clone();
    for entry in entries.as_array_mut().into_iter().flatten() {
        entry.as_object_mut().unwrap().remove("time");
    }
    if let Some(entries) = entries.as_array_mut() {
        entries.sort_by_key(Value::to_string);
    }
    entries
}

fn objects(name: &str, case: &Value, view: View<'_>, mut ours: Value, theirs: &Value, report: &mut Report) {
    if case.get("schema").is_some() {
        structural::default(view, &mut ours);
    } else {
        canonical::canonicalize(view, &mut ours, Unknown::Drop).unwrap();
    }
    report.same(name, "object", &bare(ours), &bare(theirs.clone()));
}

/// Without what the server sets beside any merging.
fn bare(mut object: Value) -> Value {
    if let Some(metadata) = object["metadata"].as_object_mut() {
        for key in ["managedFields", "resourceVersion", "generation", "uid", "creationTimestamp", "namespace"]
        {
            metadata.remove(key);
        }
    }
    object
}
