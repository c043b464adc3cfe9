//! Cases: `kind`, `base`, `patch`, and the `result` or the `error`.

use crate::support::{Report, builtin_view, cases};
use serde_json::{Value, json};
use windlass_schema::strategic;

#[test]
fn strategic_cases() {
    let mut report = Report::default();
    for case in cases("strategic", 25) {
        let name = case["name"].as_str().unwrap();
        match strategic::merge(builtin_view(case["kind"].as_str().unwrap()), &case["base"], &case["patch"]) {
            Ok(result) => {
                report.same(name, "result", &result, &case["result"]);
                report.same(name, "error", &Value::Null, &case["error"]);
            }
            Err(error) => report.same(name, "error", &json!(error.to_string()), &case["error"]),
        }
    }
    report.finish();
}
