//! The small forms in which cells show things.

use crate::duration;
use jiff::Timestamp;
use serde_json::Value;
use windlass_object::{path, time};

pub(super) const NONE: &str = "<none>";
pub(super) const UNKNOWN: &str = "<unknown>";
pub(super) const UNSET: &str = "<unset>";

/// A value as text: strings without quotes, structures as JSON.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// How long ago a time was; `<unknown>` if there is none.
pub(super) fn since(text: &str, now: Timestamp) -> String {
    match time::parse(text) {
        Ok(then) => duration::human(now.as_second() - then.as_second()),
        Err(_) => UNKNOWN.into(),
    }
}

/// `a=b,c=d`, or `<none>`.
pub(super) fn labels(map: Option<&Value>) -> String {
    let Some(Value::Object(map)) = map else { return NONE.into() };
    if map.is_empty() {
        return NONE.into();
    }
    let pairs: Vec<String> = map.iter().map(|(key, value)| format!("{key}={}", plain(value))).collect();
    pairs.join(",")
}

/// A label selector object in the form of the query parameter; `<none>` if it selects everything.
pub(super) fn selector(selector: Option<&Value>) -> String {
    let Some(selector) = selector.filter(|s| !s.is_null()) else { return NONE.into() };
    let mut parts: Vec<(String, String)> = Vec::new();
    if let Some(Value::Object(map)) = selector.get("matchLabels") {
        parts.extend(map.iter().map(|(key, value)| (key.clone(), format!("{key}={}", plain(value)))));
    }
    for term in path::list_at(selector, &["matchExpressions"]) {
        let key = path::str_at(term, &["key"]);
        let mut values: Vec<String> = path::list_at(term, &["values"]).iter().map(plain).collect();
        values.sort();
        let values = values.join(",");
        let text = match path::str_at(term, &["operator"]) {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "DoesNotExist" => format!("!{key}"),
            _ => key.to_owned(),
        };
        parts.push((key.to_owned(), text));
    }
    if parts.is_empty() {
        return NONE.into();
    }
    parts.sort_by(|a, b| a.0.cmp(&b.0));
    parts.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(",")
}

/// The first three, and how many more there are.
pub(super) fn some(mut all: Vec<String>, shown: usize, separator: &str) -> String {
    if all.is_empty() {
        return NONE.into();
    }
    let more = all.len().saturating_sub(shown);
    all.truncate(shown);
    let text = all.join(separator);
    if more == 0 { text } else { format!("{text} + {more} more...") }
}

/// A text, or what stands for its absence.
pub(super) fn or<'a>(text: &'a str, absent: &'a str) -> &'a str {
    if text.is_empty() { absent } else { text }
}

/// The texts of one field of each element of a list.
pub(super) fn field_of_each(list: &[Value], name: &str) -> String {
    list.iter().map(|item| path::str_at(item, &[name])).collect::<Vec<_>>().join(",")
}
