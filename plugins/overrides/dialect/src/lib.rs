//! JSON Patch as overrides know it: `add`, `replace` and `remove`, negative indices, and `replace` or `remove` of
//! what is missing refused. Works on documents that keep the order of their keys, for texts inside objects keep it.

mod document;

pub use document::Document;

/// Carries out one operation.
///
/// # Errors
/// Says what the path does not lead to.
pub fn edit(document: &mut Document, operator: &str, path: &str, value: Document) -> Result<(), String> {
    let fail = |why: &str| Err(format!("{operator} {path:?}: {why}"));
    if path.is_empty() {
        *document = value;
        return Ok(());
    }
    let Some(inner) = path.strip_prefix('/') else { return fail("a path starts with '/'") };
    let steps: Vec<String> =
        inner.split('/').map(|step| step.replace("~1", "/").replace("~0", "~")).collect();
    let Some((last, parents)) = steps.split_last() else { return fail("a path has steps") };
    let Some(parent) = parents.iter().try_fold(document, |at, step| at.child(step)) else {
        return fail("nothing is at the path's parent");
    };
    match parent {
        Document::Map(entries) => {
            let found = entries.iter().position(|(key, _)| key == last);
            match (operator, found) {
                ("add" | "replace", Some(at)) => {
                    if let Some((_, slot)) = entries.get_mut(at) {
                        *slot = value;
                    }
                }
                ("add", None) => entries.push((last.clone(), value)),
                ("remove", Some(at)) => drop(entries.remove(at)),
                ("replace" | "remove", None) => return fail("nothing is there"),
                _ => return fail("not an operator: add, replace or remove"),
            }
        }
        Document::List(items) => {
            // One place more can be added at than can be replaced.
            let bound = if operator == "add" { items.len() + 1 } else { items.len() };
            let at = match last.as_str() {
                "-" if operator == "add" => Some(items.len()),
                step => index(step, bound),
            };
            let Some(at) = at else { return fail("the list has no such place") };
            match operator {
                "add" => items.insert(at, value),
                "replace" => {
                    if let Some(slot) = items.get_mut(at) {
                        *slot = value;
                    }
                }
                "remove" => drop(items.remove(at)),
                _ => return fail("not an operator: add, replace or remove"),
            }
        }
        _ => return fail("the path's parent is neither object nor list"),
    }
    Ok(())
}

/// A place in a list below `bound`; negative ones count from its end.
fn index(step: &str, bound: usize) -> Option<usize> {
    let number: i64 = step.parse().ok()?;
    let at = if number < 0 { number.checked_add(i64::try_from(bound).ok()?)? } else { number };
    usize::try_from(at).ok().filter(|at| *at < bound)
}

impl Document {
    fn child(&mut self, step: &str) -> Option<&mut Document> {
        match self {
            Document::Map(entries) => entries.iter_mut().find(|(key, _)| key == step).map(|(_, value)| value),
            Document::List(items) => {
                let at = index(step, items.len())?;
                items.get_mut(at)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations() {
        let start = r#"{"b":{"z":1,"a":[1,2,3]},"a/b":null}"#;
        for (operator, path, value, expected) in [
            ("add", "/b/n", "7", Ok(r#"{"b":{"z":1,"a":[1,2,3],"n":7},"a/b":null}"#)),
            ("add", "/b/a/-", "4", Ok(r#"{"b":{"z":1,"a":[1,2,3,4]},"a/b":null}"#)),
            ("add", "/b/a/-1", "4", Ok(r#"{"b":{"z":1,"a":[1,2,3,4]},"a/b":null}"#)),
            ("add", "/b/a/3", "4", Ok(r#"{"b":{"z":1,"a":[1,2,3,4]},"a/b":null}"#)),
            ("add", "/b/a/4", "4", Err(())),
            ("replace", "/b/a/-1", "9", Ok(r#"{"b":{"z":1,"a":[1,2,9]},"a/b":null}"#)),
            ("remove", "/b/a/-3", "null", Ok(r#"{"b":{"z":1,"a":[2,3]},"a/b":null}"#)),
            ("remove", "/b/a/-4", "null", Err(())),
            ("replace", "/a~1b", "{}", Ok(r#"{"b":{"z":1,"a":[1,2,3]},"a/b":{}}"#)),
            ("replace", "/none", "1", Err(())),
            ("remove", "/b/none", "null", Err(())),
            ("add", "/none/x", "1", Err(())),
            ("add", "/b/z/x", "1", Err(())),
            ("add", "", "1", Ok("1")),
            ("move", "/b/z", "1", Err(())),
        ] {
            let mut document: Document = serde_json::from_str(start).unwrap();
            let result = edit(&mut document, operator, path, serde_json::from_str(value).unwrap());
            let result = result.map(|()| serde_json::to_string(&document).unwrap()).map_err(|_| ());
            assert_eq!(
                result.as_deref(),
                expected.as_ref().map(|text| *text).map_err(|()| &()),
                "{operator} {path}"
            );
        }
    }
}
