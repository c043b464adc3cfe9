//! Transformer `fieldOverrider`: changes JSON or YAML that is kept as text in a field, as ConfigMaps do.

use override_dialect::{Document, edit};
use windlass_sdk::transformer::{Cluster, Description, Error, Transformer};
use windlass_sdk::{Value, serde_json};

/// The plugin; it has no configuration.
#[derive(Debug)]
pub struct Field;

impl Transformer for Field {
    fn describe() -> Description {
        Description {
            name: "field".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            overriders: vec!["fieldOverrider".into()],
        }
    }

    fn new(_: &Value) -> Result<Self, Error> {
        Ok(Self)
    }

    fn transform(&self, object: &mut Value, _: &str, element: &Value, _: &Cluster) -> Result<(), Error> {
        let path = element.get("fieldPath").and_then(Value::as_str).unwrap_or_default();
        let Some(Value::String(text)) = object.pointer_mut(path) else {
            return Err(format!("fieldPath {path:?}: the object has no text there").into());
        };
        let entries =
            |field: &str| element.get(field).and_then(Value::as_array).filter(|list| !list.is_empty());
        let changed = match (entries("yaml"), entries("json")) {
            (Some(entries), _) => yaml(text, entries),
            (None, Some(entries)) => json(text, entries),
            (None, None) => Err("neither `json` nor `yaml` says what to change".to_owned()),
        };
        *text = changed.map_err(|why| format!("fieldPath {path:?}: {why}"))?;
        Ok(())
    }
}

fn edit_all(document: &mut Document, entries: &[Value]) -> Result<(), String> {
    for entry in entries {
        let text = |field: &str| entry.get(field).and_then(Value::as_str).unwrap_or_default();
        edit(document, text("operator"), text("subPath"), entry.get("value").unwrap_or(&Value::Null).into())?;
    }
    Ok(())
}

/// Compact, the order of keys kept.
fn json(text: &str, entries: &[Value]) -> Result<String, String> {
    let mut document: Document =
        serde_json::from_str(text).map_err(|why| format!("the text is no JSON: {why}"))?;
    edit_all(&mut document, entries)?;
    let written = serde_json::to_string(&document).map_err(|why| why.to_string())?;
    // As Go writes JSON: safe inside HTML. None of these characters occurs in JSON outside of texts.
    Ok([
        ("<", "\\u003c"),
        (">", "\\u003e"),
        ("&", "\\u0026"),
        ("\u{2028}", "\\u2028"),
        ("\u{2029}", "\\u2029"),
    ]
    .iter()
    .fold(written, |text, (from, to)| text.replace(from, to)))
}

/// Keys sorted; comments and layout are lost, as they are in the reference.
fn yaml(text: &str, entries: &[Value]) -> Result<String, String> {
    let mut document: Document = serde_saphyr::from_str(text)
        .map_err(|why| format!("the text is no YAML: {}", first_line(&why.to_string())))?;
    edit_all(&mut document, entries)?;
    let options = serde_saphyr::ser_options! { compact_list_indent: true };
    let mut written = String::new();
    serde_saphyr::to_fmt_writer_with_options(&mut written, &document.sorted(), options)
        .map_err(|why| why.to_string())?;
    Ok(format!("{}\n", written.trim_end_matches('\n')))
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

windlass_sdk::export_transformer!(Field);

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_sdk::json as value;

    fn run(text: Value, element: Value) -> Result<Value, Error> {
        let mut object = value!({"kind": "ConfigMap", "data": {"c": text}});
        Field.transform(&mut object, "fieldOverrider", &element, &Cluster::default())?;
        Ok(object["data"]["c"].clone())
    }

    #[test]
    fn texts_change() {
        for (format, before, sub_path, new, after) in [
            (
                "yaml",
                "key:\n  key1: value",
                "/key/key1",
                value!("updated_value"),
                "key:\n  key1: updated_value\n",
            ),
            ("json", r#"{"z":{"a":"<"},"a":1}"#, "/a", value!("x&"), r#"{"z":{"a":"\u003c"},"a":"x\u0026"}"#),
            ("yaml", "# gone\nb: [1, two]\na: {}\n", "/b/0", value!(true), "a: {}\nb:\n- true\n- two\n"),
        ] {
            let patch = value!([{"subPath": sub_path, "operator": "replace", "value": new}]);
            assert_eq!(run(value!(before), value!({"fieldPath": "/data/c", format: patch})).unwrap(), after);
        }
    }

    #[test]
    fn what_does_not_fit_is_an_error() {
        let patch = value!([{"subPath": "/a", "operator": "add", "value": 1}]);
        for (text, element) in [
            (value!("{"), value!({"fieldPath": "/data/c", "json": patch})),
            (value!("hello"), value!({"fieldPath": "/data/c", "json": patch})),
            (value!(1), value!({"fieldPath": "/data/c", "json": patch})),
            (value!("{}"), value!({"fieldPath": "/data/none", "json": patch})),
            (value!("{}"), value!({"fieldPath": "/data/c"})),
        ] {
            assert!(run(text, element.clone()).is_err(), "{element}");
        }
    }
}
