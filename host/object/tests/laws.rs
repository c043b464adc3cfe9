//! Laws that hold for any input: patches reach their goal, texts are read back as they were written, and JSON maps are sorted.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise, in its helpers too"
)]

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use windlass_object::quantity::Format;
use windlass_object::{FieldSelector, JsonPath, LabelSelector, Quantity, patch};

fn values(nulls: bool) -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        1 => Just(if nulls { Value::Null } else { json!(0) }),
        2 => any::<bool>().prop_map(Value::from),
        4 => (-3i64..3).prop_map(Value::from),
        4 => "[a-c/~]{0,2}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            prop::collection::btree_map("[a-d/~0-]{0,2}", inner, 0..5)
                .prop_map(|map| Value::Object(Map::from_iter(map))),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_diff_leads_there(a in values(true), b in values(true)) {
        let mut document = a.clone();
        let diff = patch::diff(&a, &b);
        prop_assert!(patch::apply_json_patch(&mut document, &diff).is_ok(), "{}", diff);
        prop_assert_eq!(&document, &b);
        prop_assert_eq!(a == b, diff == json!([]));
    }

    #[test]
    fn a_merge_diff_leads_there(a in values(false), b in values(false)) {
        let (a, b) = (json!({"root": a}), json!({"root": b}));
        let mut document = a.clone();
        patch::apply_merge_patch(&mut document, &patch::merge_diff(&a, &b));
        prop_assert_eq!(document, b);
    }

    #[test]
    fn quantities_read_back(nanos in any::<i64>(), exponent in 0u32..10, format in 0..3) {
        let format = [Format::BinarySi, Format::DecimalSi, Format::DecimalExponent][format as usize];
        let text = format!("{}n", nanos / 10i64.pow(exponent) * 10i64.pow(exponent));
        let quantity = Quantity::parse(&text).unwrap().with_format(format);
        let written = quantity.to_string();
        let read = Quantity::parse(&written).unwrap();
        prop_assert_eq!(read, quantity);
        prop_assert_eq!(read.to_string(), written);
    }

    #[test]
    fn quantities_of_whole_numbers(value in any::<i32>(), unit in prop::sample::select(vec![("", 1i64), ("k", 1000), ("Ki", 1024), ("Mi", 1 << 20), ("M", 1_000_000)])) {
        let quantity = Quantity::parse(&format!("{value}{}", unit.0)).unwrap();
        prop_assert_eq!(quantity.value(), i64::from(value) * unit.1);
        prop_assert_eq!(quantity, Quantity::new(i64::from(value) * unit.1, Format::DecimalSi));
        prop_assert_eq!(Quantity::parse(&quantity.to_string()).unwrap().value(), quantity.value());
    }

    #[test]
    fn any_text_is_read_or_refused(text in ".{0,24}", picky in "[a-c.,=!()<> '\"\\\\\\[\\]?@$*{}0-9:eEKi+-]{0,24}") {
        for text in [&text, &picky] {
            if let Ok(quantity) = Quantity::parse(text) {
                prop_assert_eq!(Quantity::parse(&quantity.to_string()).unwrap(), quantity);
            }
            if let Ok(selector) = LabelSelector::parse(text) {
                prop_assert_eq!(LabelSelector::parse(&selector.to_string()).unwrap(), selector);
            }
            if let Ok(selector) = FieldSelector::parse(text) {
                prop_assert_eq!(FieldSelector::parse(&selector.to_string()).unwrap(), selector);
            }
            if let Ok(path) = JsonPath::compile(text) {
                path.eval(&json!({"a": [{"b": 1}], "c": "x"}));
            }
        }
    }
}

/// Any dependency can switch these features on for the whole process; output would no longer be deterministic, numbers no longer numbers.
#[test]
fn serde_json_is_built_as_we_need_it() {
    let value: Value = serde_json::from_str(r#"{"b": 1e2, "a": 1}"#).unwrap();
    assert_eq!(value.to_string(), r#"{"a":1,"b":100.0}"#);
}
