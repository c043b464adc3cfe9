//! What is loaded and what is refused, before anything of it runs.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise"
)]

mod support;

use support::{ENGINE, bytes, component, folder};
use windlass_engine::{LoadError, Options, Plugins, Version, World, precompile};

fn replaced(component: &[u8], from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut bytes = component.to_vec();
    let mut found = 0;
    for at in 0..=bytes.len() - from.len() {
        if bytes[at..].starts_with(from.as_bytes()) {
            bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
            found += 1;
        }
    }
    assert!(found > 0, "{from} is not in the component");
    bytes
}

#[test]
fn interfaces_are_read_before_anything_runs() {
    let good = bytes("tests/test-scheduler");
    let cases: [(&str, Vec<u8>, &[&str]); 6] = [
        (
            "another version",
            replaced(&good, "windlass:scheduler/plugin@0.1.0", "windlass:scheduler/plugin@7.2.0"),
            &["is built for windlass:scheduler/plugin@7.2.0", "speaks windlass:scheduler/plugin@0.1.0"],
        ),
        (
            "another version of the host's side",
            replaced(&good, "windlass:types/host@0.1.0", "windlass:types/host@0.3.0"),
            &["is built for windlass:types/host@0.3.0"],
        ),
        (
            "WASI",
            replaced(&good, "windlass:types/host@0.1.0", "wasi:filesystem/api@0.2.0"),
            &["imports wasi:filesystem/api@0.2.0", "nothing but windlass:types/host@0.1.0"],
        ),
        (
            "no interface of ours",
            replaced(&good, "windlass:scheduler/plugin@0.1.0", "somebody:scheduler/plugin@0.1.0"),
            &[
                "exports none of windlass:scheduler/plugin@0.1.0",
                "it exports somebody:scheduler/plugin@0.1.0",
            ],
        ),
        ("a core module", b"\0asm\x01\0\0\0".to_vec(), &["is no WebAssembly component", "core module"]),
        ("a text", b"hello".to_vec(), &["isn't WebAssembly"]),
    ];
    for (name, bytes, parts) in cases {
        let error = ENGINE.load(name, &bytes).unwrap_err().to_string();
        for part in parts {
            assert!(error.contains(part), "{name}: {part:?} is not in {error:?}");
        }
    }
    let cut = ENGINE.load("cut", &good[..good.len() / 2]).unwrap_err();
    assert!(matches!(cut, LoadError::NotAComponent { .. }), "{cut}");
}

#[test]
fn a_component_is_known_by_its_digest_and_compiled_once() {
    let bytes = bytes("tests/test-transformer");
    let first = ENGINE.load("first", &bytes).unwrap();
    let begun = std::time::Instant::now();
    let second = ENGINE.load("second", &bytes).unwrap();
    assert!(begun.elapsed() < std::time::Duration::from_millis(50), "{:?}", begun.elapsed());
    assert_eq!(first.digest(), second.digest());
    assert!(first.digest().starts_with("sha256:") && first.digest().len() == 71);
    assert_eq!((second.world(), second.version()), (World::Transformer, Version::V0_1));
}

#[test]
fn code_compiled_ahead_is_used_only_where_it_fits() {
    let (bytes, other) = (bytes("tests/test-interpreter"), bytes("tests/test-transformer"));
    let ahead = precompile("test-interpreter", &bytes).unwrap();
    let engine = windlass_engine::Engine::new().unwrap();
    let begun = std::time::Instant::now();
    let component = engine.load_precompiled("test-interpreter", &bytes, &ahead).unwrap();
    let took = begun.elapsed();
    Plugins::new().add(&component, Options::default()).unwrap();
    assert!(took < std::time::Duration::from_millis(50), "loading took {took:?}: was it compiled in place?");
    // Of another component, or damaged: compiled in place.
    for code in [precompile("other", &other).unwrap(), b"nonsense".to_vec(), ahead[..100].to_vec()] {
        let engine = windlass_engine::Engine::new().unwrap();
        let component = engine.load_precompiled("test-interpreter", &bytes, &code).unwrap();
        Plugins::new().add(&component, Options::default()).unwrap();
    }
}

#[test]
fn everything_that_is_shipped_starts() {
    let mut plugins = Plugins::new();
    let mut names: Vec<String> = std::fs::read_dir(folder())
        .unwrap_or_else(|why| {
            panic!("{}: {why}; build the guests first: cargo xtask guests", folder().display())
        })
        .flatten()
        .filter_map(|entry| Some(entry.file_name().to_str()?.strip_suffix(".wasm")?.to_owned()))
        .collect();
    names.sort();
    for name in &names {
        plugins.add(&component(name), Options::default()).unwrap_or_else(|why| panic!("{why}"));
    }
    assert_eq!(plugins.status().len(), names.len());
    plugins.profile(&windlass_schedule::plugin::DEFAULT_FILTERS, &["ClusterLocality"]).map(drop).unwrap();
    assert_eq!(plugins.profile(&["Nonsense"], &[]).map(drop), Err(vec!["Nonsense"]));
    assert!(!plugins.interpreters().is_empty());
}
