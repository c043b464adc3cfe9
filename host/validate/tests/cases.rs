//! Admission against its case files. A case has `object` and perhaps `old`; then either `denied`, a list of texts that the
//! refusal must contain, or `result`, fields that the admitted object must have (a null: must not have), or neither.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests may stop at the first surprise"
)]

use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;
use windlass_object::meta::Meta;
use windlass_validate::{Operation, admit};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    #[serde(default)]
    delete: bool,
    object: Value,
    old: Option<Value>,
    result: Option<Value>,
    denied: Option<Vec<String>>,
    warned: Option<String>,
}

#[test]
fn case_files() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let file = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let cases: Vec<Case> = serde_saphyr::from_str(&fs::read_to_string(&path).unwrap())
            .unwrap_or_else(|error| panic!("{file}: {error}"));
        for case in cases {
            count += 1;
            run(&file, case);
        }
    }
    assert!(count > 60, "only {count} cases");
}

fn run(file: &str, case: Case) {
    let at = format!("{file}: {}", case.name);
    let operation = match (case.delete, &case.old) {
        (true, _) => Operation::Delete,
        (false, Some(_)) => Operation::Update,
        (false, None) => Operation::Create,
    };
    let gvk = case.object.gvk();
    let mut object = case.object.clone();
    let outcome = admit(operation, &gvk, &mut object, case.old.as_ref());
    match (case.denied, outcome) {
        (Some(texts), Err(denied)) => {
            for text in texts {
                assert!(denied.message.contains(&text), "{at}: {text:?} is not in {:?}", denied.message);
            }
        }
        (Some(_), Ok(_)) => panic!("{at}: admitted"),
        (None, Err(denied)) => panic!("{at}: refused: {denied}"),
        (None, Ok(warnings)) => {
            if let Some(result) = case.result {
                check(&at, "", &result, Some(&object));
            }
            let text: Vec<String> = warnings.iter().map(ToString::to_string).collect();
            match case.warned {
                Some(wanted) => {
                    assert!(text.join("\n").contains(&wanted), "{at}: {wanted:?} is not in {text:?}")
                }
                None => assert!(text.is_empty(), "{at}: unexpected warnings {text:?}"),
            }
            // Admission of what was admitted changes nothing.
            let mut again = object.clone();
            let before = case.old.as_ref().map_or(&object, |_| &object).clone();
            if operation != Operation::Delete {
                admit(Operation::Update, &gvk, &mut again, Some(&before)).unwrap();
                assert_eq!(again, object, "{at}: a second admission changes the object");
            }
        }
    }
}

fn check(at: &str, path: &str, wanted: &Value, found: Option<&Value>) {
    match (wanted, found) {
        (Value::Null, found) => assert!(found.is_none(), "{at}: {path} is there: {found:?}"),
        (Value::String(text), Some(found)) if text == "<uuid>" => {
            let id = found.as_str().unwrap_or_default();
            assert!(id.len() == 36 && id.matches('-').count() == 4, "{at}: {path} is no UUID: {found}");
        }
        (Value::Object(wanted), Some(Value::Object(found))) => {
            for (key, value) in wanted {
                check(at, &format!("{path}/{key}"), value, found.get(key));
            }
        }
        (wanted, found) => assert_eq!(Some(wanted), found, "{at}: {path}"),
    }
}
