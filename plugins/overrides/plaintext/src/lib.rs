//! Transformer `plaintext`: JSON Patch on the whole object, for what has no overrider of its own.

use override_dialect::{Document, edit};
use windlass_sdk::Value;
use windlass_sdk::transformer::{Cluster, Description, Error, Transformer};

/// The plugin; it has no configuration.
#[derive(Debug)]
pub struct Plaintext;

impl Transformer for Plaintext {
    fn describe() -> Description {
        Description {
            name: "plaintext".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            overriders: vec!["plaintext".into()],
        }
    }

    fn new(_: &Value) -> Result<Self, Error> {
        Ok(Self)
    }

    fn transform(&self, object: &mut Value, _: &str, element: &Value, _: &Cluster) -> Result<(), Error> {
        let text = |field: &str| element.get(field).and_then(Value::as_str).unwrap_or_default();
        let value = element.get("value").unwrap_or(&Value::Null);
        let mut document = Document::from(&*object);
        edit(&mut document, text("operator"), text("path"), value.into())?;
        let result = Value::from(document);
        if result.get("kind").and_then(Value::as_str).is_none_or(str::is_empty) {
            return Err("the result has no kind: an override may not take it away".into());
        }
        *object = result;
        Ok(())
    }
}

windlass_sdk::export_transformer!(Plaintext);

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_sdk::json;

    #[test]
    fn patches_the_object_but_leaves_its_kind() {
        let run = |element: Value| {
            let mut object = json!({"kind": "Widget", "spec": {"size": 1}});
            Plaintext.transform(&mut object, "plaintext", &element, &Cluster::default()).map(|()| object)
        };
        let result = run(json!({"path": "/spec/size", "operator": "replace", "value": 2})).unwrap();
        assert_eq!(result, json!({"kind": "Widget", "spec": {"size": 2}}));
        let result = run(json!({"path": "/spec/size", "operator": "replace"})).unwrap();
        assert_eq!(result["spec"]["size"], Value::Null);
        assert!(run(json!({"path": "/kind", "operator": "remove"})).is_err());
        assert!(run(json!({"path": "/nope", "operator": "remove"})).is_err());
    }
}
