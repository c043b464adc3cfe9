//! Transformer `labelsOverrider` and `annotationsOverrider`: entries of the object's own labels and annotations.

use windlass_sdk::transformer::{Cluster, Description, Error, Transformer};
use windlass_sdk::{Map, Value};

/// The plugin; it has no configuration.
#[derive(Debug)]
pub struct LabelsAnnotations;

impl Transformer for LabelsAnnotations {
    fn describe() -> Description {
        Description {
            name: "labels-annotations".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            overriders: vec!["labelsOverrider".into(), "annotationsOverrider".into()],
        }
    }

    fn new(_: &Value) -> Result<Self, Error> {
        Ok(Self)
    }

    fn transform(
        &self,
        object: &mut Value,
        overrider: &str,
        element: &Value,
        _: &Cluster,
    ) -> Result<(), Error> {
        let field = if overrider == "labelsOverrider" { "labels" } else { "annotations" };
        let empty = Map::new();
        let given = element.get("value").and_then(Value::as_object).unwrap_or(&empty);
        let Some(Value::Object(metadata)) = object.get_mut("metadata") else {
            return Err("metadata: expected an object".into());
        };
        match element.get("operator").and_then(Value::as_str) {
            Some("add") => {
                let entries = metadata.entry(field).or_insert(Value::Null);
                if entries.is_null() {
                    *entries = Value::Object(Map::new());
                }
                let Value::Object(entries) = entries else {
                    return Err(format!("metadata.{field}: expected an object, found {entries}").into());
                };
                entries.extend(given.iter().map(|(key, value)| (key.clone(), value.clone())));
            }
            // Keys that aren't there are nothing to replace or remove.
            Some("replace") => {
                let Some(Value::Object(entries)) = metadata.get_mut(field) else { return Ok(()) };
                for (key, value) in given {
                    if let Some(slot) = entries.get_mut(key) {
                        *slot = value.clone();
                    }
                }
            }
            Some("remove") => {
                let Some(Value::Object(entries)) = metadata.get_mut(field) else { return Ok(()) };
                entries.retain(|key, _| !given.contains_key(key));
            }
            _ => {}
        }
        Ok(())
    }
}

windlass_sdk::export_transformer!(LabelsAnnotations);

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_sdk::json;

    #[test]
    fn entries_change() {
        for (before, operator, value, after) in [
            (json!({}), "add", json!({"a/b~c": "1"}), json!({"labels": {"a/b~c": "1"}})),
            (json!({"labels": {"a": "1"}}), "add", json!({"a": "2"}), json!({"labels": {"a": "2"}})),
            (
                json!({"labels": {"a": "1"}}),
                "replace",
                json!({"a": "2", "b": "3"}),
                json!({"labels": {"a": "2"}}),
            ),
            (
                json!({"labels": {"a": "1", "b": "2"}}),
                "remove",
                json!({"a": "x"}),
                json!({"labels": {"b": "2"}}),
            ),
            (json!({}), "remove", json!({"a": "x"}), json!({})),
        ] {
            let mut object = json!({ "metadata": before });
            let element = json!({"operator": operator, "value": value});
            LabelsAnnotations
                .transform(&mut object, "labelsOverrider", &element, &Cluster::default())
                .unwrap();
            assert_eq!(object["metadata"], after, "{operator}");
        }
    }
}
