//! Cases: scripts of applies and updates on one object. A step says who (`by`), what
//! (`apply: object`, `update: object`, or `patch:` a merge patch of the live object), and
//! what is expected: `object` (without managedFields), `owners` (paths by manager),
//! `times` (the step of a manager's time), `conflicts`, `error`, `noop`.

use crate::support::{Report, builtin_view, cases};
use serde_json::{Value, json};
use windlass_object::patch::apply_merge_patch;
use windlass_schema::apply::{self, ApplyError, Element, FieldSet, Manager};
use windlass_schema::arena::View;
use windlass_schema::structural;

#[test]
fn apply_cases() {
    let mut report = Report::default();
    for case in cases("apply", 40) {
        let parsed = case.get("schema").map(|schema| structural::parse(schema).unwrap());
        let view = match (&parsed, case["kind"].as_str()) {
            (Some((arena, root)), _) => Some(arena.view(*root)),
            (None, Some(kind)) => Some(builtin_view(kind)),
            (None, None) => None,
        };
        script(&case, view, &mut report);
    }
    report.finish();
}

fn script(case: &Value, view: Option<View<'_>>, report: &mut Report) {
    let mut live: Option<Value> = None;
    for (index, step) in case["steps"].as_array().unwrap().iter().enumerate() {
        let name = format!("{}, step {index}", case["name"].as_str().unwrap());
        let version =
            step.get("version").or(case.get("version")).and_then(Value::as_str).unwrap_or("example.io/v1");
        let mut manager = Manager::new(step["by"].as_str().unwrap(), version, case["has_status"] == true);
        if let Some(subresource) = step["through"].as_str() {
            manager = manager.through(subresource);
        }
        manager.time = format!("2024-01-01T00:00:{index:02}Z");
        let before = live.clone();
        let done = if let Some(applied) = step.get("apply") {
            apply::apply(view, live.as_ref(), applied, &manager, step["force"] == true)
        } else {
            let mut new = match (step.get("update"), &live) {
                (Some(object), _) => object.clone(),
                (None, Some(live)) => {
                    let mut object = live.clone();
                    apply_merge_patch(&mut object, &step["patch"]);
                    object
                }
                (None, None) => panic!("{name}: patch of nothing"),
            };
            apply::update(view, live.as_ref(), &mut new, &manager);
            Ok(new)
        };
        let object = match done {
            Ok(object) => object,
            Err(ApplyError::Conflicts(conflicts)) => {
                let found: Vec<String> =
                    conflicts.0.iter().map(|c| format!("{}: {}", c.message(), c.field)).collect();
                report.same(&name, "conflicts", &json!(found), &step["conflicts"]);
                continue;
            }
            Err(error) => {
                report.same(&name, "error", &json!(error.to_string()), &step["error"]);
                continue;
            }
        };
        report.same(&name, "conflicts", &Value::Null, &step["conflicts"]);
        report.same(&name, "error", &Value::Null, &step["error"]);
        if let Some(noop) = step.get("noop") {
            report.same(&name, "noop", &json!(before.as_ref() == Some(&object)), noop);
        }
        check(&name, step, &object, report);
        live = Some(object);
    }
}

fn check(name: &str, step: &Value, object: &Value, report: &mut Report) {
    let mut bare = object.clone();
    let entries = bare
        .get_mut("metadata")
        .and_then(Value::as_object_mut)
        .and_then(|metadata| metadata.remove("managedFields"))
        .unwrap_or(json!([]));
    if let Some(wanted) = step.get("object") {
        report.same(name, "object", &bare, wanted);
    }
    let entries = entries.as_array().unwrap();
    let label = |entry: &Value| {
        let mut label = entry["manager"].as_str().unwrap().to_owned();
        if entry["operation"] == "Update" {
            label.push_str(" (update)");
        }
        if let Some(subresource) = entry["subresource"].as_str() {
            label.push_str(&format!(" /{subresource}"));
        }
        label
    };
    if let Some(wanted) = step.get("owners") {
        let owners: serde_json::Map<String, Value> = entries
            .iter()
            .map(|entry| {
                let set = FieldSet::from_fields(&entry["fieldsV1"]).unwrap();
                let paths: Vec<String> =
                    set.paths().iter().map(|path| path.iter().map(Element::to_string).collect()).collect();
                (label(entry), json!(paths))
            })
            .collect();
        report.same(name, "owners", &Value::Object(owners), wanted);
    }
    if let Some(wanted) = step.get("times") {
        let times: serde_json::Map<String, Value> = entries
            .iter()
            .map(|entry| {
                let seconds = &entry["time"].as_str().unwrap_or("00Z");
                let step: u64 = seconds[seconds.len() - 3..seconds.len() - 1].parse().unwrap();
                (label(entry), json!(step))
            })
            .collect();
        report.same(name, "times", &Value::Object(times), wanted);
    }
    if let Some(wanted) = step.get("entries") {
        report.same(name, "entries", &json!(entries), wanted);
    }
    if let Some(wanted) = step.get("count") {
        report.same(name, "count", &json!(entries.len()), wanted);
    }
}
