//! Ownership across the scale sub-resource: `spec.replicas` of a Scale is another path
//! in the object that is scaled.

use super::element::Element;
use super::entries::{Entry, decode, sort};
use super::set::FieldSet;
use serde_json::Value;

const SCALE_VERSION: &str = "autoscaling/v1";

fn path(steps: &[&str]) -> Vec<Element> {
    steps.iter().map(|step| Element::Field((*step).to_owned())).collect()
}

fn only(steps: &[&str]) -> FieldSet {
    let mut set = FieldSet::default();
    set.insert(&path(steps));
    set
}

fn encode(entries: &[Entry]) -> Value {
    let mut values: Vec<Value> = entries.iter().map(Entry::to_value).collect();
    sort(&mut values);
    Value::Array(values)
}

/// managedFields of the Scale, from those of the object. `replicas` is the path of the
/// replica count in the object.
pub fn to_scale(object_entries: &Value, replicas: &[&str]) -> Result<Value, String> {
    let entries = decode(object_entries)?
        .into_iter()
        .filter(|entry| entry.fields.has(&path(replicas)))
        .map(|entry| Entry {
            fields: only(&["spec", "replicas"]),
            api_version: SCALE_VERSION.to_owned(),
            ..entry
        })
        .collect::<Vec<_>>();
    Ok(encode(&entries))
}

/// managedFields of the object after its Scale was written: who lost the replicas there
/// loses them here, who gained them gains them, under the object's version.
pub fn from_scale(
    object_entries: &Value,
    scale_entries: &Value,
    replicas: &[&str],
    api_version: &str,
) -> Result<Value, String> {
    let mut scale = decode(scale_entries)?;
    let mut result = Vec::new();
    for mut entry in decode(object_entries)? {
        if entry.fields.has(&path(replicas)) {
            let same = |other: &Entry| {
                other.manager == entry.manager
                    && other.operation == entry.operation
                    && other.subresource == entry.subresource
            };
            match scale.iter().position(same) {
                Some(at) => {
                    scale.remove(at);
                }
                None => entry.fields = entry.fields.difference(&only(replicas)),
            }
        }
        if !entry.fields.is_empty() {
            result.push(entry);
        }
    }
    for entry in scale.into_iter().filter(|entry| entry.fields.has(&path(&["spec", "replicas"]))) {
        let mine = |other: &&mut Entry| {
            other.manager == entry.manager
                && other.operation == entry.operation
                && other.subresource == entry.subresource
                && other.api_version == api_version
        };
        match result.iter_mut().find(mine) {
            Some(other) => {
                other.fields = other.fields.union(&only(replicas));
                other.time = entry.time;
            }
            None => {
                result.push(Entry { fields: only(replicas), api_version: api_version.to_owned(), ..entry })
            }
        }
    }
    Ok(encode(&result))
}
