//! Scripts: read from YAML, with cases spread out and variables filled in.

use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// A script.
pub(crate) struct Script {
    pub(crate) name: String,
    pub(crate) steps: Vec<Value>,
    variables: BTreeMap<String, String>,
}

/// Where scripts, recordings and the list of differences are.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("oracle")
}

/// All scripts, or those whose name contains `$SCRIPT`.
pub(crate) fn all() -> Vec<Script> {
    let only = std::env::var("SCRIPT").unwrap_or_default();
    let entries = std::fs::read_dir(folder().join("scripts")).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| Script::read(file)).filter(|script| script.name.contains(&only)).collect()
}

impl Script {
    fn read(file: &Path) -> Self {
        let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = std::fs::read_to_string(file).unwrap();
        let value: Value = serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut variables = BTreeMap::from([("ns".to_owned(), format!("oracle-{name}"))]);
        for (key, text) in value["vars"].as_object().into_iter().flatten() {
            variables.insert(key.clone(), text.as_str().unwrap().to_owned());
        }
        let mut steps = Vec::new();
        for step in value["steps"].as_array().unwrap_or_else(|| panic!("{name} has no steps")) {
            spread(step, &mut steps);
        }
        Self { name, steps, variables }
    }

    /// The variables that it starts with.
    pub(crate) fn variables(&self) -> BTreeMap<String, String> {
        let values = self.variables.clone();
        values.iter().map(|(key, text)| (key.clone(), fill(text, &values))).collect()
    }
}

/// A step with `cases` is one for each of them; `set` changes the body.
fn spread(step: &Value, steps: &mut Vec<Value>) {
    let Some(cases) = step["cases"].as_array() else {
        steps.push(settled(step.clone()));
        return;
    };
    for case in cases {
        let mut one = step.as_object().unwrap().clone();
        one.remove("cases");
        // A case is the whole of its own fields, or just what it sets.
        let fields = case.as_object().unwrap();
        if fields.keys().all(|key| KEYS.contains(&key.as_str())) {
            one.extend(fields.clone());
        } else {
            one.insert("set".into(), case.clone());
        }
        steps.push(settled(Value::Object(one)));
    }
}

/// What a step may hold.
const KEYS: [&str; 18] = [
    "do", "watch", "events", "quiet", "ends", "as", "body", "set", "type", "accept", "headers", "save",
    "until", "pick", "by", "text", "times", "drop",
];

fn settled(mut step: Value) -> Value {
    for key in step.as_object().unwrap().keys() {
        assert!(KEYS.contains(&key.as_str()), "a step can't have {key:?}: {step}");
    }
    if let Some(set) = step.as_object_mut().unwrap().remove("set") {
        let mut shown = Vec::new();
        for (path, value) in set.as_object().unwrap() {
            put(&mut step["body"], path, value);
            shown.push(format!("{path}={value}"));
        }
        step["title"] = json!(shown.join(" "));
    }
    step
}

/// Puts a value at a path such as `spec.ports.0.port`; null takes away.
fn put(mut at: &mut Value, path: &str, value: &Value) {
    let mut parts = path.split('.').map(str::to_owned).peekable();
    while let Some(part) = parts.next() {
        let last = parts.peek().is_none();
        if let (Ok(index), true) = (part.parse::<usize>(), at.is_array()) {
            let list = at.as_array_mut().unwrap();
            if last && value.is_null() {
                list.remove(index);
                return;
            }
            if index == list.len() {
                list.push(Value::Null);
            }
            at = &mut list[index];
        } else {
            if !at.is_object() {
                *at = Value::Object(Map::new());
            }
            let map = at.as_object_mut().unwrap();
            if last && value.is_null() {
                map.remove(&part);
                return;
            }
            at = map.entry(part).or_insert(Value::Null);
        }
    }
    *at = value.clone();
}

static VARIABLE: LazyLock<regex::Regex> =
    LazyLock::new(|| regex::Regex::new(r"\$\{(\w+)(\+\d+)?\}").unwrap());

/// `${name}` replaced; `${name+5}` is five more.
pub(crate) fn fill(text: &str, variables: &BTreeMap<String, String>) -> String {
    let one = |found: &regex::Captures<'_>| {
        let Some(value) = variables.get(&found[1]) else { return found[0].to_owned() };
        let Some(more) = found.get(2) else { return value.clone() };
        (value.parse::<u64>().unwrap() + more.as_str().parse::<u64>().unwrap()).to_string()
    };
    VARIABLE.replace_all(text, one).into_owned()
}

/// `${name}` replaced in all strings.
pub(crate) fn fill_value(value: &Value, variables: &BTreeMap<String, String>) -> Value {
    match value {
        Value::String(text) => Value::String(fill(text, variables)),
        Value::Array(list) => list.iter().map(|item| fill_value(item, variables)).collect(),
        Value::Object(map) => {
            map.iter().map(|(key, value)| (fill(key, variables), fill_value(value, variables))).collect()
        }
        other => other.clone(),
    }
}
