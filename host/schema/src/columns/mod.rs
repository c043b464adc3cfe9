//! What `kubectl get` shows: the columns of a kind, and objects as a `Table` of them. Built-in kinds have theirs in
//! `data/columns.txt`, custom resources in `additionalPrinterColumns`; everything else shows its name and age.

mod cells;
mod network;
mod pod;
mod scale;
mod storage;
#[cfg(test)]
mod tests;
mod text;

use crate::builtin::BuiltinKind;
use crate::duration;
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::OnceLock;
use windlass_object::{JsonPath, path, time};

/// Computes one cell of an object.
pub(crate) type Cell = fn(&Value, Timestamp) -> Value;

/// One column.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its heading.
    pub name: String,
    /// `string`, `integer`, `number`, `boolean`, `date`.
    pub kind: String,
    /// `name` for the name; otherwise as a CRD has it.
    pub format: String,
    /// For people.
    pub description: String,
    /// Above 0: shown by `-o wide` only.
    pub priority: i64,
    source: Source,
}

#[derive(Clone, Debug)]
enum Source {
    /// A plain path, and what stands for "absent".
    Path(Vec<String>, Value),
    /// The same, always shown as text.
    Text(Vec<String>, Value),
    /// How many entries a list or map has.
    Count(Vec<String>),
    /// A function.
    Cell(Cell),
    /// A JSONPath of a CRD; `None` if it can't be compiled.
    Query(Option<Box<JsonPath>>),
}

/// The columns of one kind.
#[derive(Clone, Debug)]
pub struct Columns(Vec<Column>);

/// What each row carries beside its cells (`includeObject`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Include {
    /// Nothing.
    None,
    /// `PartialObjectMetadata`.
    #[default]
    Metadata,
    /// The object.
    Object,
}

impl Include {
    /// Reads the query parameter; absent and unknown values mean metadata.
    pub fn parse(text: &str) -> Self {
        match text {
            "None" => Include::None,
            "Object" => Include::Object,
            _ => Include::Metadata,
        }
    }
}

impl Columns {
    /// The columns of a built-in kind.
    pub fn builtin(kind: &BuiltinKind) -> &'static Columns {
        static ALL: OnceLock<HashMap<String, Columns>> = OnceLock::new();
        static OTHER: OnceLock<Columns> = OnceLock::new();
        let all = ALL.get_or_init(|| parse(include_str!("../../data/columns.txt")));
        // Kinds without columns of their own show when they were made.
        all.get(&format!("{}/{}", kind.api_version(), kind.kind)).unwrap_or_else(|| {
            OTHER.get_or_init(|| {
                let created = Source::Cell(cells::find("created").unwrap_or(cells::name));
                Columns(vec![name_column(), Column { kind: "date".into(), ..plain("Created At", created) }])
            })
        })
    }

    /// The columns of a CRD's version: an item of `spec.versions`.
    pub fn of_crd(version: &Value) -> Columns {
        let own = path::list_at(version, &["additionalPrinterColumns"]);
        if own.is_empty() {
            return Columns::default();
        }
        let mut columns = vec![name_column()];
        columns.extend(own.iter().map(|column| {
            let text = |name| path::str_at(column, &[name]).to_owned();
            Column {
                name: text("name"),
                kind: text("type"),
                format: text("format"),
                description: described(text("description"), &text("jsonPath")),
                priority: path::i64_at(column, &["priority"]).unwrap_or_default(),
                source: Source::Query(JsonPath::compile(&text("jsonPath")).ok().map(Box::new)),
            }
        }));
        Columns(columns)
    }

    /// The columns, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Column> {
        self.0.iter()
    }

    /// `columnDefinitions` of a table.
    pub fn definitions(&self) -> Value {
        let define = |c: &Column| json!({"name": c.name, "type": c.kind, "format": c.format, "description": c.description, "priority": c.priority});
        self.0.iter().map(define).collect()
    }

    /// The cells of one object.
    pub fn cells(&self, object: &Value, now: Timestamp) -> Vec<Value> {
        self.0.iter().map(|column| column.cell(object, now)).collect()
    }

    /// One object's row.
    pub fn row(&self, object: &Value, include: Include, now: Timestamp) -> Value {
        let mut row = Map::new();
        row.insert("cells".into(), Value::Array(self.cells(object, now)));
        match include {
            Include::None => row.insert("object".into(), Value::Null),
            Include::Metadata => row.insert("object".into(), partial(object)),
            Include::Object => row.insert("object".into(), object.clone()),
        };
        Value::Object(row)
    }

    /// A table of objects. `metadata` is that of the list (or the object); the definitions are left out of all but the
    /// first table of a watch.
    pub fn table<'a>(
        &self,
        metadata: Value,
        objects: impl IntoIterator<Item = &'a Value>,
        include: Include,
        definitions: bool,
        now: Timestamp,
    ) -> Value {
        let rows: Vec<Value> = objects.into_iter().map(|object| self.row(object, include, now)).collect();
        let definitions = if definitions { self.definitions() } else { Value::Null };
        json!({
            "kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": metadata,
            "columnDefinitions": definitions, "rows": rows,
        })
    }
}

/// What a column says of itself, else where it comes from.
fn described(given: String, path: &str) -> String {
    if given.is_empty() {
        format!("Custom resource definition column (in JSONPath format): {path}")
    } else {
        given
    }
}

impl Default for Columns {
    fn default() -> Self {
        let age = Source::Query(JsonPath::compile(".metadata.creationTimestamp").ok().map(Box::new));
        Columns(vec![name_column(), Column { kind: "date".into(), ..plain("Age", age) }])
    }
}

/// An object's metadata alone, as `PartialObjectMetadata`.
pub fn partial(object: &Value) -> Value {
    let metadata = object.get("metadata").cloned().unwrap_or_else(|| json!({}));
    json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": metadata})
}

impl Column {
    /// Its cell of one object.
    pub fn cell(&self, object: &Value, now: Timestamp) -> Value {
        match &self.source {
            Source::Cell(cell) => cell(object, now),
            Source::Path(path, absent) => match at(object, path) {
                None | Some(Value::Null) => absent.clone(),
                Some(Value::String(text)) if text.is_empty() => absent.clone(),
                // Numbers stay numbers, whatever the column says of itself.
                Some(value @ (Value::Array(_) | Value::Object(_))) => text::plain(value).into(),
                Some(value) => value.clone(),
            },
            Source::Text(path, absent) => match at(object, path) {
                None | Some(Value::Null) => absent.clone(),
                Some(value) => text::plain(value).into(),
            },
            Source::Count(path) => {
                let count = match at(object, path) {
                    Some(Value::Array(list)) => list.len(),
                    Some(Value::Object(map)) => map.len(),
                    _ => 0,
                };
                count.into()
            }
            Source::Query(query) => self.queried(query.as_deref(), object, now),
        }
    }

    fn queried(&self, query: Option<&JsonPath>, object: &Value, now: Timestamp) -> Value {
        let found = query.map(|query| query.eval_ref(object)).unwrap_or_default();
        let Some(value) = found.first().filter(|value| !value.is_null()) else { return Value::Null };
        match (self.kind.as_str(), value) {
            ("string", _) => text::plain(value).into(),
            ("integer", Value::Number(number)) => number
                .as_i64()
                .or_else(|| number.as_f64().map(|f| f as i64))
                .map(Value::from)
                .unwrap_or_default(),
            ("number", Value::Number(_)) | ("boolean", Value::Bool(_)) => (*value).clone(),
            ("date", Value::String(text)) => match time::parse(text) {
                Ok(then) => duration::human(now.as_second() - then.as_second()).into(),
                Err(_) => "<invalid>".into(),
            },
            _ => Value::Null,
        }
    }
}

fn at<'a>(object: &'a Value, path: &[String]) -> Option<&'a Value> {
    path.iter().try_fold(object, |value, name| value.get(name))
}

fn path_of(text: &str) -> Vec<String> {
    text.trim_start_matches('.').split('.').map(str::to_owned).collect()
}

fn plain(name: &str, source: Source) -> Column {
    Column {
        name: name.into(),
        kind: "string".into(),
        format: String::new(),
        description: String::new(),
        priority: 0,
        source,
    }
}

fn name_column() -> Column {
    Column { format: "name".into(), ..plain("Name", Source::Cell(cells::name)) }
}

/// Reads `data/columns.txt`; its form is told there.
fn parse(text: &str) -> HashMap<String, Columns> {
    let mut all: HashMap<String, Columns> = HashMap::new();
    let mut current = None;
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if let Some(kind) = line.strip_prefix("= ") {
            current = Some(kind.to_owned());
            continue;
        }
        let (Some(kind), Some(column)) = (&current, parse_column(line)) else { continue };
        let columns = all.entry(kind.clone()).or_insert_with(|| Columns(Vec::new()));
        let named = |line: &str| line.starts_with("Name|") || kind.ends_with("v1/Event");
        if columns.0.is_empty() && !named(line) {
            columns.0.push(name_column());
        }
        columns.0.push(column);
    }
    all
}

fn parse_column(line: &str) -> Option<Column> {
    let mut parts = line.splitn(4, '|');
    let (name, kind, priority, source) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let source = if let Some(cell) = source.strip_prefix('@') {
        Source::Cell(cells::find(cell)?)
    } else if let Some(path) = source.strip_prefix('#') {
        Source::Count(path_of(path))
    } else {
        let (path, absent) = source.split_once('?').unwrap_or((source, ""));
        let absent = serde_json::from_str(absent).unwrap_or_else(|_| Value::String(absent.into()));
        match path.strip_prefix('~') {
            Some(path) => Source::Text(path_of(path), absent),
            None => Source::Path(path_of(path), absent),
        }
    };
    let (kind, format) = kind.split_once(':').unwrap_or((kind, if name == "Name" { "name" } else { "" }));
    Some(Column {
        kind: kind.into(),
        priority: priority.parse().ok()?,
        format: format.into(),
        ..plain(name, source)
    })
}
