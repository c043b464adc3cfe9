//! One step of a path: a field, a list element found by keys or value, or a position.

use super::fields_v1::FieldsError;
use serde_json::{Map, Number, Value};
use std::cmp::Ordering;
use std::fmt;

/// One step of a path, ordered as Go orders them: fields, keys, values, positions.
#[derive(Clone, Debug)]
pub enum Element {
    /// A field of a struct or a key of a map.
    Field(String),
    /// An element of a list map, by its keys, sorted by name.
    Key(Vec<(String, Value)>),
    /// An element of a set.
    Value(Value),
    /// A position in an atomic list; seen in old data only.
    Index(i64),
}

impl Element {
    /// As a key of FieldsV1: `f:spec`, `k:{"name":"web"}`, `v:"a"`, `i:0`.
    pub fn text(&self) -> String {
        match self {
            Element::Field(name) => {
                let mut text = String::with_capacity(name.len() + 2);
                text.push_str("f:");
                text.push_str(name);
                text
            }
            Element::Key(keys) => {
                let mut text = String::from("k:{");
                for (index, (name, value)) in keys.iter().enumerate() {
                    if index > 0 {
                        text.push(',');
                    }
                    push_json(&mut text, &Value::String(name.clone()));
                    text.push(':');
                    push_json(&mut text, value);
                }
                text.push('}');
                text
            }
            Element::Value(value) => {
                let mut text = String::from("v:");
                push_json(&mut text, value);
                text
            }
            Element::Index(index) => format!("i:{index}"),
        }
    }

    /// Reads a key of FieldsV1.
    pub fn parse(text: &str) -> Result<Element, FieldsError> {
        let bad = |why: &str| FieldsError::Element { text: text.to_owned(), why: why.to_owned() };
        if let Some(name) = text.strip_prefix("f:") {
            Ok(Element::Field(name.to_owned()))
        } else if let Some(json) = text.strip_prefix("k:") {
            let keys: Map<String, Value> = serde_json::from_str(json).map_err(|e| bad(&e.to_string()))?;
            Ok(Element::Key(keys.into_iter().collect()))
        } else if let Some(json) = text.strip_prefix("v:") {
            Ok(Element::Value(serde_json::from_str(json).map_err(|e| bad(&e.to_string()))?))
        } else if let Some(number) = text.strip_prefix("i:") {
            Ok(Element::Index(number.parse().map_err(|_| bad("must be a whole number after i:"))?))
        } else {
            Err(bad("must begin with f:, k:, v: or i:"))
        }
    }
}

/// JSON as Go writes it: compact, with `<`, `>`, `&` and the line separators escaped.
fn push_json(text: &mut String, value: &Value) {
    let json = match value {
        Value::Number(n) => whole(n).map_or_else(|| n.to_string(), |i| i.to_string()),
        other => other.to_string(),
    };
    if !json.contains(['<', '>', '&', '\u{2028}', '\u{2029}']) {
        text.push_str(&json);
        return;
    }
    for c in json.chars() {
        match c {
            '<' => text.push_str("\\u003c"),
            '>' => text.push_str("\\u003e"),
            '&' => text.push_str("\\u0026"),
            '\u{2028}' => text.push_str("\\u2028"),
            '\u{2029}' => text.push_str("\\u2029"),
            other => text.push(other),
        }
    }
}

/// A float that is a whole number, as that number.
fn whole(n: &Number) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let float = n.as_f64().filter(|_| n.is_f64())?;
    (float.fract() == 0.0 && float.abs() <= EXACT).then_some(float as i64)
}

/// Numbers by value, then text, booleans, lists, maps, null.
pub(super) fn order(a: &Value, b: &Value) -> Ordering {
    let rank = |v: &Value| match v {
        Value::Number(_) => 0,
        Value::String(_) => 1,
        Value::Bool(_) => 2,
        Value::Array(_) => 3,
        Value::Object(_) => 4,
        Value::Null => 5,
    };
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => match (x.as_i64(), y.as_i64()) {
            (Some(x), Some(y)) => x.cmp(&y),
            _ => x.as_f64().unwrap_or(0.0).total_cmp(&y.as_f64().unwrap_or(0.0)),
        },
        (Value::String(x), Value::String(y)) => x.cmp(y),
        (Value::Bool(x), Value::Bool(y)) => x.cmp(y),
        (Value::Array(x), Value::Array(y)) => {
            x.iter().zip(y).map(|(x, y)| order(x, y)).find(|o| o.is_ne()).unwrap_or(x.len().cmp(&y.len()))
        }
        (Value::Object(x), Value::Object(y)) => x
            .iter()
            .zip(y)
            .map(|((k, v), (l, w))| k.cmp(l).then_with(|| order(v, w)))
            .find(|o| o.is_ne())
            .unwrap_or(x.len().cmp(&y.len())),
        _ => rank(a).cmp(&rank(b)),
    }
}

impl Ord for Element {
    fn cmp(&self, other: &Self) -> Ordering {
        let rank = |e: &Element| match e {
            Element::Field(_) => 0,
            Element::Key(_) => 1,
            Element::Value(_) => 2,
            Element::Index(_) => 3,
        };
        match (self, other) {
            (Element::Field(a), Element::Field(b)) => a.cmp(b),
            (Element::Key(a), Element::Key(b)) => a
                .iter()
                .zip(b)
                .map(|((k, v), (l, w))| k.cmp(l).then_with(|| order(v, w)))
                .find(|o| o.is_ne())
                .unwrap_or(a.len().cmp(&b.len())),
            (Element::Value(a), Element::Value(b)) => order(a, b),
            (Element::Index(a), Element::Index(b)) => a.cmp(b),
            _ => rank(self).cmp(&rank(other)),
        }
    }
}

impl PartialOrd for Element {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Element {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Element {}

/// As people see it in conflicts: `.spec`, `[name="web"]`, `[="a"]`, `[0]`.
impl fmt::Display for Element {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Element::Field(name) => write!(out, ".{name}"),
            Element::Key(keys) => {
                out.write_str("[")?;
                for (index, (name, value)) in keys.iter().enumerate() {
                    let comma = if index > 0 { "," } else { "" };
                    write!(out, "{comma}{name}={value}")?;
                }
                out.write_str("]")
            }
            Element::Value(value) => write!(out, "[={value}]"),
            Element::Index(index) => write!(out, "[{index}]"),
        }
    }
}
