//! Objects and overriders of one rule through the shipped transformers, planned as in production.

use crate::{Judge, SHIPPED, read, vectors};
use serde_json::{Value, json};
use windlass_policy::overrides;
use windlass_policy::transform::ClusterFacts;

#[test]
fn overriders_of_one_rule() {
    let transformers = SHIPPED.transformers();
    let mut judge = Judge::new("overrides");
    for line in read(&vectors().join("overrides/cases.ndjson")).lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let policy = json!({
            "apiVersion": "policy.karmada.io/v1alpha1", "kind": "ClusterOverridePolicy",
            "metadata": {"name": "vector"},
            "spec": {"overrideRules": [{"overriders": case["overriders"]}]},
        });
        let result = overrides::apply(
            case["object"].clone(),
            &[&policy],
            &[],
            &ClusterFacts::default(),
            &transformers,
        );
        let got = match &result {
            Ok(overridden) => json!({"object": overridden.object}),
            Err(_) => json!({"error": true}),
        };
        let expect = match case["expect"].get("object") {
            Some(object) => json!({"object": object}),
            None => json!({"error": true}),
        };
        judge.case(case["id"].as_str().unwrap(), &got, &expect);
    }
    judge.finish(500);
}
