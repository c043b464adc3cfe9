//! Retention against its case file.

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_interpret::retention;

#[derive(Deserialize)]
struct Retained {
    name: String,
    desired: Value,
    observed: Value,
    result: Value,
}

#[test]
fn generic_retention() {
    let cases: Vec<Retained> = serde_saphyr::from_str(include_str!("cases/retention.yaml")).unwrap();
    for case in cases {
        let mut desired = json!({ "metadata": case.desired });
        retention::retain(&mut desired, &json!({ "metadata": case.observed }));
        assert_eq!(desired["metadata"], case.result, "{}", case.name);
    }
}
