//! Cases: `schema` with `refused` (errors of the schema), or with `object` and what comes
//! of it: `errors` (after defaulting), `pruned` (paths), `result` (pruned and defaulted).

use crate::support::{Report, cases};
use serde_json::{Value, json};
use windlass_schema::structural;

#[test]
fn structural_cases() {
    let mut report = Report::default();
    for case in cases("structural", 30) {
        let name = case["name"].as_str().unwrap();
        let mut schema = case["schema"].clone();
        if case["bare"] != true {
            // Most cases are about one field: the schema of `spec`.
            schema = json!({"type": "object", "properties": {"spec": schema}});
        }
        let (arena, root) = match structural::parse_at(&schema, "schema") {
            Ok(parsed) => parsed,
            Err(errors) => {
                let found: Vec<String> = errors.iter().map(ToString::to_string).collect();
                report.same(name, "refused", &json!(found), &case["refused"]);
                continue;
            }
        };
        report.same(name, "refused", &Value::Null, &case["refused"]);
        if case["object"].is_null() {
            continue;
        }
        let view = arena.view(root);
        let mut object = case["object"].clone();
        let pruned = structural::prune(view, &mut object);
        report.same(name, "pruned", &json!(pruned), case.get("pruned").unwrap_or(&json!([])));
        structural::default(view, &mut object);
        if let Some(result) = case.get("result") {
            report.same(name, "result", &object, result);
        }
        let errors = structural::validate(view, &object, case.get("old"));
        let found: Vec<String> = errors.iter().map(ToString::to_string).collect();
        report.same(name, "errors", &json!(found), case.get("errors").unwrap_or(&json!([])));
    }
    report.finish();
}
