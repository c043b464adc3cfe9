//! Bodies that Go encoded come out as Go's own JSON; damaged ones give errors and never panics.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise; clippy exempts only the test functions themselves"
)]

use proptest::prelude::*;
use serde_json::Value;
use std::path::PathBuf;
use windlass_schema::{builtin::table, canonical, canonical::Unknown, proto};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cases/proto")
}

fn samples() -> Vec<(String, Vec<u8>)> {
    let mut samples: Vec<_> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "bin"))
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), std::fs::read(path).unwrap()))
        .collect();
    samples.sort();
    assert!(samples.len() > 40);
    samples
}

#[test]
fn protobuf_and_json_of_one_object_come_to_the_same() {
    for (name, bytes) in samples() {
        let (gvk, mut value) = proto::decode(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        let view = table().schema(&gvk).unwrap();
        canonical::decode(view, &mut value, Unknown::Error).unwrap_or_else(|error| panic!("{name}: {error}"));
        canonical::encode(view, &mut value);
        let text = std::fs::read_to_string(folder().join(format!("{name}.json"))).unwrap();
        let expected: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(pretty(&value), pretty(&expected), "{name}");
    }
}

#[test]
fn json_is_brought_to_gos_form() {
    for (name, _) in samples() {
        let text = std::fs::read_to_string(folder().join(format!("{name}.json"))).unwrap();
        let expected: Value = serde_json::from_str(&text).unwrap();
        let view = table().schema(&windlass_object::Meta::gvk(&expected)).unwrap();
        let mut value = expected.clone();
        canonical::decode(view, &mut value, Unknown::Error).unwrap_or_else(|error| panic!("{name}: {error}"));
        canonical::encode(view, &mut value);
        assert_eq!(pretty(&value), pretty(&expected), "{name}");
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap()
}

#[test]
fn refusals() {
    assert_eq!(proto::decode(b"{}"), Err(proto::ProtoError::NoMagic));
    assert_eq!(proto::decode(b"k8s\0\x0a\x7f"), Err(proto::ProtoError::Truncated));
    assert!(matches!(proto::decode(b"k8s\0"), Err(proto::ProtoError::UnknownKind(_))));
    // A schema within a schema within …, 200 deep.
    let mut schema = Vec::new();
    for _ in 0..200 {
        schema = field(28, &schema); // JSONSchemaProps.not
    }
    let crd = field(2, &field(7, &field(4, &field(1, &schema))));
    let type_meta = [field(1, b"apiextensions.k8s.io/v1"), field(2, b"CustomResourceDefinition")].concat();
    let body = [b"k8s\0".to_vec(), field(1, &type_meta), field(2, &crd)].concat();
    assert_eq!(proto::decode(&body), Err(proto::ProtoError::TooDeep));
}

fn field(number: u64, bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for mut varint in [number << 3 | 2, bytes.len() as u64] {
        while varint >= 0x80 {
            out.push(varint as u8 | 0x80);
            varint >>= 7;
        }
        out.push(varint as u8);
    }
    out.extend_from_slice(bytes);
    out
}

proptest! {
    #[test]
    fn noise_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = proto::decode(&[b"k8s\0".to_vec(), bytes].concat());
    }

    #[test]
    fn damaged_samples_never_panic(pick in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>()) {
        let samples = samples();
        let (_, mut bytes) = samples[pick.index(samples.len())].clone();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if cut {
            bytes.truncate(at);
        }
        if let Ok((gvk, mut value)) = proto::decode(&bytes) && let Some(view) = table().schema(&gvk) {
            let _ = canonical::canonicalize(view, &mut value, Unknown::Warn);
        }
    }
}
