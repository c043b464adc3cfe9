//! All vectors through the shipped components: scheduling, overrides, interpretation of built-in kinds.
//! `tests/conformance/deviations.json` lists what is decided differently on purpose.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise; clippy exempts only the test functions themselves"
)]

#[path = "conformance/equal.rs"]
mod equal;
#[path = "conformance/interpreter.rs"]
mod interpreter;
#[path = "conformance/overrides.rs"]
mod overrides;
#[path = "conformance/scheduling.rs"]
mod scheduling;

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;
use windlass_engine::{Engine, Limits, Options, Plugins};

/// How many differences are shown.
const MAX_SHOWN: usize = 40;

/// A generous deadline: the machine may be busy with other tests, and speed is not what is tested.
const DEADLINE: Duration = Duration::from_secs(30);

/// The shipped components, started once.
static SHIPPED: LazyLock<Plugins> = LazyLock::new(|| {
    let engine = Engine::new().unwrap();
    let mut plugins = Plugins::new();
    let folder = components();
    let entries = std::fs::read_dir(&folder)
        .unwrap_or_else(|why| panic!("{}: {why}; build them: cargo xtask test", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "wasm"));
    paths.sort();
    assert!(!paths.is_empty(), "{} has no components; build them: cargo xtask test", folder.display());
    for path in paths {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let wasm = std::fs::read(&path).unwrap();
        let component = match std::fs::read(path.with_extension("cwasm")) {
            Ok(ahead) => engine.load_precompiled(name, &wasm, &ahead),
            Err(_) => engine.load(name, &wasm),
        };
        let limits = Limits { deadline: DEADLINE, ..Limits::default() };
        plugins
            .add(&component.unwrap_or_else(|why| panic!("{why}")), Options { limits, ..Options::default() })
            .unwrap_or_else(|why| panic!("{why}"));
    }
    plugins
});

fn components() -> PathBuf {
    std::env::var_os("WINDLASS_COMPONENTS")
        .map(PathBuf::from)
        .unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/components"))
}

fn vectors() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

/// Counts cases, and holds differences against the list of those that are meant.
struct Judge {
    listed: BTreeMap<String, String>,
    met: BTreeSet<String>,
    total: usize,
    wrong: Vec<String>,
}

impl Judge {
    /// `family` is the key in the list of deviations.
    fn new(family: &str) -> Self {
        let all: BTreeMap<String, BTreeMap<String, String>> =
            serde_json::from_str(&read(&vectors().join("deviations.json"))).unwrap();
        let listed = all.get(family).cloned().unwrap_or_default();
        Self { listed, met: BTreeSet::new(), total: 0, wrong: Vec::new() }
    }

    /// One case: what came out, and what was expected.
    fn case(&mut self, id: &str, got: &Value, expected: &Value) {
        self.total += 1;
        if got == expected {
            return;
        }
        if self.listed.contains_key(id) {
            self.met.insert(id.to_owned());
            return;
        }
        self.wrong.push(format!("{id}\n     got {got}\n  expect {expected}"));
    }

    /// Fails unless all cases came, all differences are listed, and all that are listed differ.
    fn finish(self, count: usize) {
        assert_eq!(self.total, count, "number of cases");
        let unused: Vec<_> = self.listed.keys().filter(|id| !self.met.contains(*id)).collect();
        let shown: Vec<_> = self.wrong.iter().take(MAX_SHOWN).cloned().collect();
        assert!(
            self.wrong.is_empty() && unused.is_empty(),
            "{} of {count} differ, the first are:\n{}\nlisted as deviations, but as expected: {unused:?}",
            self.wrong.len(),
            shown.join("\n")
        );
    }
}
