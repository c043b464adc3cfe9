//! The columns of a resource's Tables: those of its CRD version, those of the
//! generated table of built-in kinds, or name and age.

use std::borrow::Cow;

use serde_json::{Value, json};
use windlass_object::path::JsonPath;

use crate::registry::{Columns, Resource};

/// Columns, ready to make cells.
pub struct Prepared {
    definitions: Vec<Value>,
    cells: Vec<Cell>,
}

enum Cell {
    Name,
    Age,
    Path { path: Option<JsonPath>, kind: String },
}

/// The columns of a resource.
pub fn of(resource: &Resource) -> Prepared {
    let mut prepared = Prepared { definitions: vec![name_column()], cells: vec![Cell::Name] };
    match &resource.columns {
        Columns::Custom(columns) if !columns.is_empty() => {
            for column in columns.iter() {
                let text = |key: &str| column.get(key).and_then(Value::as_str).unwrap_or_default();
                prepared.definitions.push(json!({
                    "name": text("name"),
                    "type": text("type"),
                    "format": text("format"),
                    "description": match text("description") {
                        "" => "Custom resource definition column (in JSONPath format): ".to_owned() + text("jsonPath"),
                        given => given.to_owned(),
                    },
                    "priority": column.get("priority").and_then(Value::as_i64).unwrap_or(0),
                }));
                prepared.cells.push(Cell::Path {
                    path: JsonPath::compile(text("jsonPath")).ok(),
                    kind: text("type").to_owned(),
                });
            }
        }
        Columns::Custom(_) | Columns::BuiltIn => {
            prepared.definitions.push(age_column());
            prepared.cells.push(Cell::Age);
        }
    }
    prepared
}

impl Prepared {
    /// `columnDefinitions`.
    pub fn definitions(&self) -> Cow<'_, [Value]> {
        Cow::Borrowed(&self.definitions)
    }

    /// The cells of one object's row.
    pub fn cells(&self, object: &Value) -> Vec<Value> {
        self.cells.iter().map(|cell| cell.of(object)).collect()
    }
}

impl Cell {
    fn of(&self, object: &Value) -> Value {
        match self {
            Cell::Name => object.pointer("/metadata/name").cloned().unwrap_or_else(|| "".into()),
            Cell::Age => age(object.pointer("/metadata/creationTimestamp").and_then(Value::as_str)),
            Cell::Path { path: None, .. } => Value::Null,
            Cell::Path { path: Some(path), kind } => {
                let found = path.eval(object);
                let Some(first) = found.first().filter(|value| !value.is_null()) else { return Value::Null };
                match kind.as_str() {
                    "date" => age(first.as_str()),
                    "integer" | "number" if first.is_number() => first.clone(),
                    "boolean" if first.is_boolean() => first.clone(),
                    "string" => text(first),
                    _ => Value::Null,
                }
            }
        }
    }
}

fn text(value: &Value) -> Value {
    match value {
        Value::String(_) => value.clone(),
        other => Value::String(other.to_string()),
    }
}

fn name_column() -> Value {
    json!({"name": "Name", "type": "string", "format": "name", "priority": 0,
        "description": "Name must be unique within a namespace."})
}

fn age_column() -> Value {
    json!({"name": "Age", "type": "date", "format": "", "priority": 0,
        "description": "When the object was created."})
}

/// The time since a moment, as kubectl shows it.
fn age(moment: Option<&str>) -> Value {
    let Some(moment) = moment.and_then(|text| text.parse::<jiff::Timestamp>().ok()) else {
        return Value::String("<unknown>".to_owned());
    };
    Value::String(human(jiff::Timestamp::now().as_second() - moment.as_second()))
}

/// Kubernetes' short form of a duration: two units at most, fewer as it grows.
fn human(seconds: i64) -> String {
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    let pair = |large: i64, unit: &str, small: i64, part: &str| {
        if small == 0 { format!("{large}{unit}") } else { format!("{large}{unit}{small}{part}") }
    };
    match seconds {
        ..-1 => "<invalid>".to_owned(),
        -1..0 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        120..600 => pair(minutes, "m", seconds % 60, "s"),
        600..10_800 => format!("{minutes}m"),
        10_800..28_800 => pair(hours, "h", minutes % 60, "m"),
        28_800..172_800 => format!("{hours}h"),
        172_800..691_200 => pair(days, "d", hours % 24, "h"),
        691_200..63_072_000 => format!("{days}d"),
        63_072_000..252_288_000 => pair(days / 365, "y", days % 365, "d"),
        _ => format!("{}y", days / 365),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_short() {
        for (seconds, shown) in [
            (-5, "<invalid>"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (125, "2m5s"),
            (601, "10m"),
            (10_799, "179m"),
            (10_800, "3h"),
            (14_700, "4h5m"),
            (30_000, "8h"),
            (180_000, "2d2h"),
            (700_000, "8d"),
            (63_158_400, "2y1d"),
            (300_000_000, "9y"),
        ] {
            assert_eq!(human(seconds), shown, "{seconds}");
        }
    }
}
