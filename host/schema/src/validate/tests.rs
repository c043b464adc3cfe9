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
        let errors: Vec<String> = builtin(&new.gvk(), &new, old.as_ref()).iter().map(ToString::to_string).collect();
        let expected: Vec<&str> = case["errors"].as_array().unwrap().iter().map(|e| e.as_str().unwrap()).collect();
        assert_eq!(errors, expected, "{name}");
    }
}

/// The objects of the other tests are valid, and valid as an update of themselves.
#[test]
fn sample_objects_are_valid() {
    let text = include_str!("../../tests/cases/objects.yaml");
    for document in text.split("\n---\n") {
        let object = canonical(serde_saphyr::from_str(document).unwrap());
        let errors: Vec<String> = builtin(&object.gvk(), &object, Some(&object)).iter().map(ToString::to_string).collect();
        assert!(errors.is_empty(), "{} {}: {errors:?}", object.kind(), object.name());
    }
}
