use super::*;
use crate::builtin::table;
use crate::canonical::{Unknown, canonicalize};
use windlass_object::Meta;

fn canonical(mut object: Value) -> Value {
    let view = table().schema(&object.gvk()).unwrap();
    canonicalize(view, &mut object, Unknown::Error).unwrap();
    object
}

/// Objects, what they come from, and what kubectl shows of them.
#[test]
fn cases() {
    let cases: Value = serde_saphyr::from_str(include_str!("../../tests/cases/validate.yaml")).unwrap();
    let mut faults = Vec::new();
    for case in cases.as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        let old = case.get("old").map(|old| canonical(old.clone()));
        let new = match case.get("change") {
            None => canonical(case["new"].clone()),
            Some(change) => {
                let mut new = old.clone().unwrap();
                windlass_object::patch::apply_merge_patch(&mut new, change);
                canonical(new)
            }
        };
        let mut errors: Vec<String> =
            builtin(&new.gvk(), &new, old.as_ref()).iter().map(ToString::to_string).collect();
        let mut expected: Vec<&str> =
            case["errors"].as_array().unwrap().iter().map(|e| e.as_str().unwrap()).collect();
        errors.sort();
        expected.sort();
        if errors != expected {
            faults.push(format!("== {name}\n expected {expected:#?}\n found {errors:#?}"));
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// The objects of the other tests are valid, and valid as an update of themselves.
#[test]
fn sample_objects_are_valid() {
    let text = include_str!("../../tests/cases/objects.yaml");
    for document in text.split("\n---\n") {
        let object = canonical(serde_saphyr::from_str(document).unwrap());
        let errors: Vec<String> =
            builtin(&object.gvk(), &object, Some(&object)).iter().map(ToString::to_string).collect();
        assert!(errors.is_empty(), "{} {}: {errors:?}", object.kind(), object.name());
    }
}
