//! Objects and overriders of one rule through the shipped transformers, planned as in production.

use super::report::Tally;
use super::{records, text};
use crate::plugins::Loaded;
use serde_json::{Value, json};
use windlass_policy::{ClusterFacts, overrides};
use windlass_schedule::vectors::Deviations;

pub(super) fn run(name: &str, cases: &str, loaded: &Loaded, deviations: Deviations) -> anyhow::Result<Tally> {
    let mut tally = Tally::new(name, deviations);
    for case in records(cases) {
        let case = case?;
        let part = |field: &str| case.get(field).cloned().unwrap_or_default();
        let policy = json!({
            "apiVersion": "policy.karmada.io/v1alpha1", "kind": "ClusterOverridePolicy",
            "metadata": {"name": "vector"},
            "spec": {"overrideRules": [{"overriders": part("overriders")}]},
        });
        let transform = loaded.transform.as_ref();
        let result = overrides::apply(part("object"), &[&policy], &[], &ClusterFacts::default(), transform);
        let got = match &result {
            Ok(overridden) => json!({"object": overridden.object}),
            Err(_) => json!({"error": true}),
        };
        let expected = match case.pointer("/expect/object") {
            Some(object) => json!({"object": object}),
            None => json!({"error": true}),
        };
        let id = text(&case, "id").to_owned();
        tally.case(&id, &Value::Null, got, expected);
    }
    Ok(tally)
}
