//! FieldsV1: sets of fields as JSON.

use super::element::Element;
use super::set::FieldSet;
use serde_json::{Map, Value};

/// How deep FieldsV1 may nest, the depth that JSON readers take.
const MAX_DEPTH: usize = 128;

/// Why FieldsV1 could not be read.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum FieldsError {
    /// A key is no path element.
    #[error("path element {text:?} in fieldsV1: {why}")]
    Element {
        /// The key.
        text: String,
        /// What is wrong with it.
        why: String,
    },
    /// A value is no object.
    #[error("fieldsV1 must hold objects only, found {0}")]
    NoObject(String),
    /// Nested too deep.
    #[error("fieldsV1 nests deeper than {MAX_DEPTH} levels")]
    TooDeep,
}

impl FieldSet {
    /// Reads FieldsV1.
    pub fn from_fields(fields: &Value) -> Result<FieldSet, FieldsError> {
        read(fields, 0, true)
    }

    /// As FieldsV1. Maps of [`Value`] sort by text; [`FieldSet::to_json`] keeps Go's order.
    pub fn to_fields(&self) -> Value {
        let mut map = Map::new();
        for (element, set) in &self.below {
            let mut value = set.to_fields();
            if set.member
                && !set.below.is_empty()
                && let Value::Object(inner) = &mut value
            {
                inner.insert(".".to_owned(), Value::Object(Map::new()));
            }
            map.insert(element.text(), value);
        }
        Value::Object(map)
    }

    /// FieldsV1 as text, byte for byte as Go writes it.
    pub fn to_json(&self) -> String {
        let mut text = String::new();
        self.write(false, &mut text);
        text
    }

    fn write(&self, with_self: bool, text: &mut String) {
        text.push('{');
        let mut first = true;
        if with_self {
            text.push_str("\".\":{}");
            first = false;
        }
        for (element, set) in &self.below {
            if !first {
                text.push(',');
            }
            first = false;
            text.push_str(&Value::String(element.text()).to_string());
            text.push(':');
            set.write(set.member && !set.below.is_empty(), text);
        }
        text.push('}');
    }
}

fn read(fields: &Value, depth: usize, root: bool) -> Result<FieldSet, FieldsError> {
    let Value::Object(map) = fields else {
        return Err(FieldsError::NoObject(fields.to_string()));
    };
    if depth > MAX_DEPTH {
        return Err(FieldsError::TooDeep);
    }
    let mut set = FieldSet { member: !root && map.is_empty(), below: Vec::with_capacity(map.len()) };
    for (key, value) in map {
        if key == "." {
            set.member = !root;
            continue;
        }
        let below = read(value, depth + 1, false)?;
        set.push(Element::parse(key)?, below);
    }
    set.below.sort_by(|(a, _), (b, _)| a.cmp(b));
    // Differently written keys may mean the same element.
    if set.below.windows(2).any(|pair| matches!(pair, [(a, _), (b, _)] if a == b)) {
        let mut whole = FieldSet { member: set.member, below: Vec::new() };
        for (element, below) in set.below {
            whole = whole.union(&FieldSet { member: false, below: vec![(element, below)] });
        }
        return Ok(whole);
    }
    Ok(set)
}
