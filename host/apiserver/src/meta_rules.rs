//! What the server itself does with `metadata`, of every kind: fills it in, carries it
//! over, and leaves its bookkeeping out when it compares.

use crate::limits::MAX_GENERATE_BASE;
use crate::registry::Resource;
use serde_json::{Value, json};
use uuid::Uuid;
use windlass_object::meta::Meta as _;
use windlass_object::time;

/// Letters of generated names: no vowels, so that no words arise, and none that look alike.
const SUFFIX_LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

/// Fills in what the server decides about a new object.
pub(crate) fn begin(resource: &Resource, object: &mut Value) {
    let generation = resource.facts.generation;
    let metadata = object.metadata_mut();
    for field in
        ["selfLink", "deletionTimestamp", "deletionGracePeriodSeconds", "generation", "resourceVersion"]
    {
        metadata.remove(field);
    }
    metadata.insert("uid".into(), json!(Uuid::new_v4().to_string()));
    metadata.insert("creationTimestamp".into(), json!(time::now()));
    if generation {
        metadata.insert("generation".into(), json!(1));
    }
}

/// A name made of `generateName` and five letters.
pub(crate) fn generate(base: &str) -> String {
    let mut end = base.len().min(MAX_GENERATE_BASE);
    while !base.is_char_boundary(end) {
        end -= 1;
    }
    let mut name = base.get(..end).unwrap_or_default().to_owned();
    let random = Uuid::new_v4();
    for byte in random.as_bytes().iter().take(5) {
        let letter = SUFFIX_LETTERS.get(usize::from(*byte) % SUFFIX_LETTERS.len()).copied().unwrap_or(b'b');
        name.push(char::from(letter));
    }
    name
}

/// Carries over what an update cannot change without saying so.
pub(crate) fn carry(old: &Value, new: &mut Value) {
    let empty = serde_json::Map::new();
    let old = old.get("metadata").and_then(Value::as_object).unwrap_or(&empty);
    let metadata = new.metadata_mut();
    metadata.remove("selfLink");
    for field in ["generation", "creationTimestamp", "deletionGracePeriodSeconds"] {
        match old.get(field) {
            Some(value) => metadata.insert(field.into(), value.clone()),
            None => metadata.remove(field),
        };
    }
    // Another one than before is for validation to refuse.
    for field in ["uid", "deletionTimestamp", "name", "namespace"] {
        let given = metadata.get(field).and_then(Value::as_str).unwrap_or_default();
        if given.is_empty() {
            match old.get(field) {
                Some(value) => metadata.insert(field.into(), value.clone()),
                None => metadata.remove(field),
            };
        }
    }
}

/// Whether two objects are equal but for resourceVersion and the times in managedFields.
pub(crate) fn same(a: &Value, b: &Value) -> bool {
    let (Some(a), Some(b)) = (a.as_object(), b.as_object()) else { return a == b };
    a.len() == b.len()
        && a.iter().all(|(key, left)| {
            b.get(key)
                .is_some_and(|right| if key == "metadata" { same_meta(left, right) } else { left == right })
        })
}

fn same_meta(a: &Value, b: &Value) -> bool {
    let (Some(a), Some(b)) = (a.as_object(), b.as_object()) else { return a == b };
    let counted = |key: &str| !matches!(key, "resourceVersion" | "managedFields");
    let entries = |map: &serde_json::Map<String, Value>| map.keys().filter(|key| counted(key)).count();
    entries(a) == entries(b)
        && a.iter().filter(|(key, _)| counted(key)).all(|(key, value)| b.get(key) == Some(value))
        && same_managers(a.get("managedFields"), b.get("managedFields"))
}

fn same_managers(a: Option<&Value>, b: Option<&Value>) -> bool {
    fn list(value: Option<&Value>) -> &[Value] {
        value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }
    let (a, b) = (list(a), list(b));
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_manager(a, b))
}

fn same_manager(a: &Value, b: &Value) -> bool {
    let (Some(a), Some(b)) = (a.as_object(), b.as_object()) else { return a == b };
    let timeless =
        |map: &'_ serde_json::Map<String, Value>| map.len() - usize::from(map.contains_key("time"));
    timeless(a) == timeless(b)
        && a.iter().filter(|(key, _)| *key != "time").all(|(key, value)| b.get(key) == Some(value))
}
