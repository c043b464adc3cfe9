//! Dropping of fields that a schema does not know.

use super::{MAX_DEPTH, is_type_or_object_meta, push_index, push_key};
use crate::arena::View;
use serde_json::{Map, Value};

/// Drops unknown fields and returns their paths, sorted; [`super::unknown_field`] makes
/// the words of them that kubectl shows. apiVersion, kind and metadata stay, at the root
/// and in embedded resources.
pub fn prune(view: View<'_>, value: &mut Value) -> Vec<String> {
    let mut walk = Walk { dropped: Vec::new(), path: String::new() };
    walk.value(Some(view), value, 0);
    walk.dropped.sort_unstable();
    walk.dropped
}

struct Walk {
    dropped: Vec<String>,
    path: String,
}

impl Walk {
    /// `None` stands for `additionalProperties: true` without a schema: nothing below is known.
    fn value(&mut self, view: Option<View<'_>>, value: &mut Value, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        match value {
            Value::Object(map) => self.object(view, map, depth),
            Value::Array(items) => {
                let keeps = view.is_some_and(|v| v.node().preserve_unknown);
                let below = view.and_then(View::items);
                if keeps && below.is_none() {
                    return;
                }
                for (index, item) in items.iter_mut().enumerate() {
                    let before = push_index(&mut self.path, index);
                    self.value(below, item, depth + 1);
                    self.path.truncate(before);
                }
            }
            _ => {}
        }
    }

    fn object(&mut self, view: Option<View<'_>>, map: &mut Map<String, Value>, depth: usize) {
        let resource = depth == 0 || view.is_some_and(|v| v.node().embedded);
        let keeps = view.is_some_and(|v| v.node().preserve_unknown);
        let mut unknown = Vec::new();
        for (key, item) in map.iter_mut() {
            if resource && is_type_or_object_meta(key) {
                continue;
            }
            match view.and_then(|v| v.child(key)) {
                Some(below) => {
                    let before = push_key(&mut self.path, key);
                    self.value(Some(below), item, depth + 1);
                    self.path.truncate(before);
                }
                None if keeps => {}
                None => unknown.push(key.clone()),
            }
        }
        for key in unknown {
            map.remove(&key);
            let before = push_key(&mut self.path, &key);
            self.dropped.push(self.path.clone());
            self.path.truncate(before);
        }
    }
}
