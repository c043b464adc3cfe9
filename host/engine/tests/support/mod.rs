//! Where the tests find components, and small objects to test with.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise"
)]
#![allow(dead_code, reason = "each test program uses a part")]

use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;
use windlass_engine::{Component, Engine, Limits, Options};
use windlass_schedule::records::ObjectReference;
use windlass_schedule::{BindingView, ClusterTable};

/// One engine for all tests of a program: it reserves much address space.
pub(crate) static ENGINE: LazyLock<Engine> = LazyLock::new(|| Engine::new().expect("an engine"));

/// The bytes of a component: `filter-image`, or `tests/test-scheduler`.
pub(crate) fn bytes(name: &str) -> Vec<u8> {
    let path = folder().join(format!("{name}.wasm"));
    std::fs::read(&path)
        .unwrap_or_else(|why| panic!("{}: {why}; build the guests first: cargo xtask guests", path.display()))
}

/// A component, loaded.
pub(crate) fn component(name: &str) -> Component {
    ENGINE.load(name, &bytes(name)).unwrap_or_else(|why| panic!("{why}"))
}

/// Where components are: `WINDLASS_COMPONENTS`, else `target/components` of this checkout.
pub(crate) fn folder() -> PathBuf {
    std::env::var_os("WINDLASS_COMPONENTS")
        .map(PathBuf::from)
        .unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/components"))
}

/// A short deadline, for tests that wait for it.
pub(crate) fn impatient() -> Options {
    Options {
        limits: Limits { deadline: Duration::from_millis(100), ..Limits::default() },
        ..Options::default()
    }
}

/// A long deadline, for tests of other limits: the machine may be busy.
pub(crate) fn patient() -> Options {
    Options {
        limits: Limits { deadline: Duration::from_secs(30), ..Limits::default() },
        ..Options::default()
    }
}

/// A Cluster object.
pub(crate) fn cluster(name: &str, more: Value) -> Value {
    let mut cluster = json!({"metadata": {"name": name, "labels": {}}, "spec": {}});
    for (key, value) in more.as_object().into_iter().flatten() {
        cluster[key] = value.clone();
    }
    cluster
}

/// A table of clusters without anything but names.
pub(crate) fn table(names: &[&str]) -> ClusterTable {
    let mut table = ClusterTable::new();
    for name in names {
        table.upsert(&cluster(name, json!({})));
    }
    table
}

/// A binding of this name.
pub(crate) fn binding(name: &str) -> BindingView {
    let mut binding = BindingView { replicas: 7, ..BindingView::default() };
    binding.resource =
        std::sync::Arc::new(ObjectReference { name: name.to_owned(), ..ObjectReference::default() });
    binding
}
