//! Reading and changing an object's identity and metadata, directly on its JSON value.
//! Absent fields read as empty; setters create what they need and remove maps they leave empty.

use serde_json::{Map, Value};

use crate::Gvk;

/// Metadata of an object; implemented for [`Value`].
pub trait Meta {
    /// `metadata.name`.
    fn name(&self) -> &str;
    /// `metadata.namespace`, empty for cluster-scoped objects.
    fn namespace(&self) -> &str;
    /// `metadata.uid`.
    fn uid(&self) -> &str;
    /// `metadata.resourceVersion`.
    fn resource_version(&self) -> &str;
    /// `metadata.generation`, 0 if absent.
    fn generation(&self) -> i64;
    /// `metadata.creationTimestamp`.
    fn creation_timestamp(&self) -> &str;
    /// `metadata.deletionTimestamp`, empty while the object lives.
    fn deletion_timestamp(&self) -> &str;
    /// `apiVersion`.
    fn api_version(&self) -> &str;
    /// `kind`.
    fn kind(&self) -> &str;
    /// Group, version and kind.
    fn gvk(&self) -> Gvk;
    /// One label.
    fn label(&self, key: &str) -> Option<&str>;
    /// One annotation.
    fn annotation(&self, key: &str) -> Option<&str>;
    /// All labels in order of keys.
    fn labels(&self) -> impl Iterator<Item = (&str, &str)>;
    /// All annotations in order of keys.
    fn annotations(&self) -> impl Iterator<Item = (&str, &str)>;
    /// Sets a label.
    fn set_label(&mut self, key: &str, value: &str);
    /// Sets an annotation.
    fn set_annotation(&mut self, key: &str, value: &str);
    /// Removes a label; tells whether it was there.
    fn remove_label(&mut self, key: &str) -> bool;
    /// Removes an annotation; tells whether it was there.
    fn remove_annotation(&mut self, key: &str) -> bool;
    /// `metadata.finalizers`.
    fn finalizers(&self) -> Vec<&str>;
    /// Appends a finalizer; tells whether that changed the object.
    fn add_finalizer(&mut self, finalizer: &str) -> bool;
    /// Removes a finalizer; tells whether that changed the object.
    fn remove_finalizer(&mut self, finalizer: &str) -> bool;
    /// Whether a deletion timestamp is set.
    fn is_deleting(&self) -> bool;
    /// `metadata.ownerReferences`.
    fn owner_references(&self) -> &[Value];
    /// `metadata` as a map, made if it is absent (or is no map).
    fn metadata_mut(&mut self) -> &mut Map<String, Value>;
}

impl Meta for Value {
    fn name(&self) -> &str {
        meta_str(self, "name")
    }

    fn namespace(&self) -> &str {
        meta_str(self, "namespace")
    }

    fn uid(&self) -> &str {
        meta_str(self, "uid")
    }

    fn resource_version(&self) -> &str {
        meta_str(self, "resourceVersion")
    }

    fn generation(&self) -> i64 {
        meta_field(self, "generation").and_then(Value::as_i64).unwrap_or_default()
    }

    fn creation_timestamp(&self) -> &str {
        meta_str(self, "creationTimestamp")
    }

    fn deletion_timestamp(&self) -> &str {
        meta_str(self, "deletionTimestamp")
    }

    fn api_version(&self) -> &str {
        self.get("apiVersion").and_then(Value::as_str).unwrap_or_default()
    }

    fn kind(&self) -> &str {
        self.get("kind").and_then(Value::as_str).unwrap_or_default()
    }

    fn gvk(&self) -> Gvk {
        Gvk::from_api_version(self.api_version(), self.kind())
    }

    fn label(&self, key: &str) -> Option<&str> {
        meta_field(self, "labels")?.get(key)?.as_str()
    }

    fn annotation(&self, key: &str) -> Option<&str> {
        meta_field(self, "annotations")?.get(key)?.as_str()
    }

    fn labels(&self) -> impl Iterator<Item = (&str, &str)> {
        strings(meta_field(self, "labels"))
    }

    fn annotations(&self) -> impl Iterator<Item = (&str, &str)> {
        strings(meta_field(self, "annotations"))
    }

    fn set_label(&mut self, key: &str, value: &str) {
        map_in(self.metadata_mut(), "labels").insert(key.to_owned(), value.into());
    }

    fn set_annotation(&mut self, key: &str, value: &str) {
        map_in(self.metadata_mut(), "annotations").insert(key.to_owned(), value.into());
    }

    fn remove_label(&mut self, key: &str) -> bool {
        remove_from_map(self, "labels", key)
    }

    fn remove_annotation(&mut self, key: &str) -> bool {
        remove_from_map(self, "annotations", key)
    }

    fn finalizers(&self) -> Vec<&str> {
        meta_field(self, "finalizers")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect()
    }

    fn add_finalizer(&mut self, finalizer: &str) -> bool {
        if self.finalizers().contains(&finalizer) {
            return false;
        }
        let list = self.metadata_mut().entry("finalizers").or_insert_with(|| Value::Array(Vec::new()));
        match list {
            Value::Array(items) => items.push(finalizer.into()),
            other => *other = Value::Array(vec![finalizer.into()]),
        }
        true
    }

    fn remove_finalizer(&mut self, finalizer: &str) -> bool {
        if !self.finalizers().contains(&finalizer) {
            return false;
        }
        let metadata = self.metadata_mut();
        if let Some(Value::Array(items)) = metadata.get_mut("finalizers") {
            items.retain(|item| item.as_str() != Some(finalizer));
            if items.is_empty() {
                metadata.remove("finalizers");
            }
        }
        true
    }

    fn is_deleting(&self) -> bool {
        meta_field(self, "deletionTimestamp").is_some_and(|time| !time.is_null())
    }

    fn owner_references(&self) -> &[Value] {
        meta_field(self, "ownerReferences").and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    fn metadata_mut(&mut self) -> &mut Map<String, Value> {
        map_in(as_map(self), "metadata")
    }
}

/// The reference in `owners` that is marked as the controller.
pub fn controller_of(object: &Value) -> Option<&Value> {
    object
        .owner_references()
        .iter()
        .find(|owner| owner.get("controller").and_then(Value::as_bool) == Some(true))
}

fn meta_field<'a>(object: &'a Value, field: &str) -> Option<&'a Value> {
    object.get("metadata")?.get(field)
}

fn meta_str<'a>(object: &'a Value, field: &str) -> &'a str {
    meta_field(object, field).and_then(Value::as_str).unwrap_or_default()
}

fn strings(map: Option<&Value>) -> impl Iterator<Item = (&str, &str)> {
    map.and_then(Value::as_object)
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)))
}

/// The value as a map; anything else is replaced by an empty one.
fn as_map(value: &mut Value) -> &mut Map<String, Value> {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    match value {
        Value::Object(map) => map,
        _ => unreachable!("made a map above"),
    }
}

fn map_in<'a>(map: &'a mut Map<String, Value>, field: &str) -> &'a mut Map<String, Value> {
    as_map(map.entry(field).or_insert(Value::Null))
}

fn remove_from_map(object: &mut Value, field: &str, key: &str) -> bool {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return false };
    let Some(map) = metadata.get_mut(field).and_then(Value::as_object_mut) else { return false };
    let removed = map.remove(key).is_some();
    if removed && map.is_empty() {
        metadata.remove(field);
    }
    removed
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn absent_reads_as_empty() {
        let object = json!({});
        assert_eq!(
            (object.name(), object.namespace(), object.uid(), object.resource_version()),
            ("", "", "", "")
        );
        assert_eq!(object.generation(), 0);
        assert!(
            object.finalizers().is_empty() && object.owner_references().is_empty() && !object.is_deleting()
        );
        assert_eq!(object.labels().count(), 0);
        assert!(!json!({"metadata": {"deletionTimestamp": null}}).is_deleting());
    }

    #[test]
    fn setters_make_and_clean_up() {
        let mut object = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "labels": null}});
        object.set_label("b", "2");
        object.set_label("a", "1");
        object.set_annotation("note", "x");
        assert_eq!(object.labels().collect::<Vec<_>>(), [("a", "1"), ("b", "2")]);
        assert_eq!(object.annotation("note"), Some("x"));
        assert!(object.remove_label("a") && object.remove_label("b") && !object.remove_label("b"));
        assert!(object["metadata"].get("labels").is_none());
        assert!(object.add_finalizer("f") && !object.add_finalizer("f"));
        assert_eq!(object.finalizers(), ["f"]);
        assert!(object.remove_finalizer("f") && !object.remove_finalizer("f"));
        assert!(object["metadata"].get("finalizers").is_none());
        assert_eq!(object.gvk().to_string(), "apps/v1, Kind=Deployment");
    }

    #[test]
    fn controller_reference() {
        let object =
            json!({"metadata": {"ownerReferences": [{"name": "a"}, {"name": "b", "controller": true}]}});
        assert_eq!(controller_of(&object).unwrap()["name"], "b");
    }
}
