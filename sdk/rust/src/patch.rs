//! JSON Patch (RFC 6902): how interpreters and transformers tell the host what they changed.
//!
//! The traits of this crate hand out the object to change and call [`diff`] themselves; authors need this module
//! only in tests.

use serde_json::{Map, Value, json};

/// The patch that makes `new` of `old`: `add`, `remove` and `replace`, as deep as the difference lies.
pub fn diff(old: &Value, new: &Value) -> Value {
    let mut operations = Vec::new();
    compare(&mut String::new(), old, new, &mut operations);
    Value::Array(operations)
}

/// One `replace` (or, if it was absent, `add`) operation.
pub fn set(path: &str, exists: bool, value: Value) -> Value {
    json!({"op": if exists { "replace" } else { "add" }, "path": path, "value": value})
}

/// Carries a patch of `add`, `remove`, `replace` and `test` operations out, for tests.
///
/// # Errors
/// Says which operation does not fit, and why.
pub fn apply(target: &mut Value, patch: &Value) -> Result<(), String> {
    for operation in patch.as_array().ok_or("a patch is a list of operations")? {
        apply_one(target, operation).map_err(|why| format!("{operation}: {why}"))?;
    }
    Ok(())
}

fn compare(path: &mut String, old: &Value, new: &Value, out: &mut Vec<Value>) {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => compare_maps(path, old, new, out),
        (Value::Array(old), Value::Array(new)) => compare_lists(path, old, new, out),
        _ if old == new => {}
        _ => out.push(set(path, true, new.clone())),
    }
}

fn compare_maps(path: &mut String, old: &Map<String, Value>, new: &Map<String, Value>, out: &mut Vec<Value>) {
    for key in old.keys().filter(|key| !new.contains_key(*key)) {
        within(path, key, |path| out.push(json!({"op": "remove", "path": path})));
    }
    for (key, value) in new {
        within(path, key, |path| match old.get(key) {
            Some(before) => compare(path, before, value, out),
            None => out.push(set(path, false, value.clone())),
        });
    }
}

/// Equal ends are left alone; what lies between is compared by place, then the rest is removed or added.
fn compare_lists(path: &mut String, old: &[Value], new: &[Value], out: &mut Vec<Value>) {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let rest = |list: &[Value]| list.len() - head;
    let tail = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take(rest(old).min(rest(new)))
        .take_while(|(a, b)| a == b)
        .count();
    let middle = |list: &[Value]| list.len() - tail;
    let both = middle(old).min(middle(new));
    for (index, (before, after)) in old.iter().zip(new).enumerate().take(both).skip(head) {
        within(path, &index.to_string(), |path| compare(path, before, after, out));
    }
    for index in (both..middle(old)).rev() {
        within(path, &index.to_string(), |path| out.push(json!({"op": "remove", "path": path})));
    }
    for (index, value) in new.iter().enumerate().take(middle(new)).skip(both) {
        within(path, &index.to_string(), |path| out.push(set(path, false, value.clone())));
    }
}

fn within(path: &mut String, step: &str, then: impl FnOnce(&mut String)) {
    let length = path.len();
    path.push('/');
    path.push_str(&step.replace('~', "~0").replace('/', "~1"));
    then(path);
    path.truncate(length);
}

fn apply_one(target: &mut Value, operation: &Value) -> Result<(), String> {
    let text =
        |key: &str| operation.get(key).and_then(Value::as_str).ok_or(format!("`{key}` must be a text"));
    let (op, path) = (text("op")?, text("path")?);
    let value = || operation.get("value").cloned().ok_or("`value` is missing");
    if op == "test" {
        let found = target.pointer(path);
        return if found == Some(&value()?) { Ok(()) } else { Err(format!("found {found:?}")) };
    }
    let Some((parent, last)) = path.rsplit_once('/') else {
        *target = value()?;
        return Ok(());
    };
    let last = last.replace("~1", "/").replace("~0", "~");
    match target.pointer_mut(parent).ok_or("nothing is at the path's parent")? {
        Value::Object(map) => match op {
            "add" => drop(map.insert(last, value()?)),
            "replace" => *map.get_mut(&last).ok_or("nothing is at the path")? = value()?,
            "remove" => drop(map.remove(&last).ok_or("nothing is at the path")?),
            _ => return Err("unknown operation".to_owned()),
        },
        Value::Array(list) => {
            let at = if last == "-" { list.len() } else { last.parse().map_err(|_| "not an index")? };
            match op {
                "add" if at <= list.len() => list.insert(at, value()?),
                "replace" => *list.get_mut(at).ok_or("nothing is at the path")? = value()?,
                "remove" if at < list.len() => drop(list.remove(at)),
                _ => return Err("index out of range, or unknown operation".to_owned()),
            }
        }
        _ => return Err("the path's parent is neither object nor list".to_owned()),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_leads_from_old_to_new() {
        let cases: Value = serde_json::from_str(include_str!("../tests/cases/diff.json")).unwrap();
        for case in cases.as_array().unwrap() {
            let patch = diff(&case["old"], &case["new"]);
            if let Some(expected) = case.get("patch") {
                assert_eq!(&patch, expected, "{}", case["name"]);
            }
            let mut result = case["old"].clone();
            apply(&mut result, &patch).unwrap();
            assert_eq!(result, case["new"], "{}", case["name"]);
        }
    }
}
