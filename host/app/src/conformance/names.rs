//! Names that are generated.

use super::report::Tally;
use super::{records, text};
use serde_json::{Value, json};
use windlass_api::names;
use windlass_schedule::vectors::Deviations;

pub(super) fn run(name: &str, cases: &str, deviations: Deviations) -> anyhow::Result<Tally> {
    let mut tally = Tally::new(name, deviations);
    for case in records(cases) {
        let case = case?;
        let (kind, name, namespace) = (text(&case, "kind"), text(&case, "name"), text(&case, "namespace"));
        let got = json!({
            "bindingName": names::binding(kind, name),
            "bindingReferenceKey": names::binding_reference_key(namespace, name),
            "derivedService": names::derived_service(name),
            "endpointSlice": names::imported_endpoint_slice("m1", name),
            "policyName": names::policy(namespace, name, "apps", "v1", kind),
            "workName": names::work(kind, name, namespace),
        });
        let expected: serde_json::Map<String, Value> = got
            .as_object()
            .into_iter()
            .flatten()
            .map(|(field, _)| (field.clone(), case.get(field).cloned().unwrap_or_default()))
            .collect();
        let id = format!("{kind} {namespace}/{name}");
        tally.case(&id, &Value::Null, got, expected.into());
    }
    Ok(tally)
}
