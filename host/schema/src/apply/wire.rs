//! Changes made to FieldsV1 as it is stored, without decoding it: an update touches few
//! fields, and objects carry many.

use super::set::FieldSet;
use serde_json::{Map, Value};

/// Takes the paths of `set` out. A path with nothing below it in `set` takes along what
/// is below it in `fields`: it became atomic, or changed its type.
pub(super) fn remove(fields: &mut Map<String, Value>, set: &FieldSet) {
    for (element, below) in &set.below {
        let key = element.text();
        let Some(Value::Object(node)) = fields.get_mut(&key) else { continue };
        let mut member = node.is_empty() || node.remove(".").is_some();
        if !below.below.is_empty() {
            remove(node, below);
        } else if below.member {
            node.clear();
        }
        if below.member {
            member = false;
        }
        match (member, node.is_empty()) {
            (true, false) => {
                node.insert(".".to_owned(), Value::Object(Map::new()));
            }
            (false, true) => {
                fields.remove(&key);
            }
            _ => {}
        }
    }
}

/// Puts the paths of `set` in.
pub(super) fn insert(fields: &mut Map<String, Value>, set: &FieldSet) {
    for (element, below) in &set.below {
        let (node, new) = match fields.entry(element.text()) {
            serde_json::map::Entry::Vacant(slot) => (slot.insert(Value::Object(Map::new())), true),
            serde_json::map::Entry::Occupied(slot) => (slot.into_mut(), false),
        };
        let Value::Object(node) = node else { continue };
        let member = below.member || (!new && (node.is_empty() || node.contains_key(".")));
        insert(node, below);
        if member && !node.is_empty() {
            node.insert(".".to_owned(), Value::Object(Map::new()));
        }
    }
}
