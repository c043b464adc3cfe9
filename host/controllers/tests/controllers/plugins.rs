//! The components that tests run: those that ship, and those that misbehave.

use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use windlass_api::ResourceHealth;
use windlass_engine::{
    Component, Engine, InterpreterPlugin, Limits, Options, Plugins, SchedulerPlugin, TransformerPlugin,
};
use windlass_interpret::{Change, Error, Interpreter, Operation, Replica};
use windlass_object::gvk::Gvk;
use windlass_policy::transform::{ClusterFacts, Transform, TransformError};

/// One engine for all tests: it reserves much address space.
static ENGINE: LazyLock<Engine> = LazyLock::new(|| Engine::new().expect("an engine"));

/// All shipped plugins.
pub(crate) static SHIPPED: LazyLock<Plugins> = LazyLock::new(|| {
    let folder = folder();
    let files = std::fs::read_dir(&folder).unwrap_or_else(|why| missing(&folder, &why));
    let mut names: Vec<String> = files
        .filter_map(|file| file.ok()?.file_name().to_str()?.strip_suffix(".wasm").map(str::to_owned))
        .collect();
    names.sort();
    let mut plugins = Plugins::new();
    for name in names {
        plugins.add(&component(&name), Options::default()).unwrap_or_else(|why| panic!("{why}"));
    }
    plugins
});

/// Where components are: `WINDLASS_COMPONENTS`, else `target/components` of this checkout.
fn folder() -> PathBuf {
    std::env::var_os("WINDLASS_COMPONENTS")
        .map(PathBuf::from)
        .unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/components"))
}

fn missing(path: &std::path::Path, why: &std::io::Error) -> ! {
    panic!("{}: {why}; build the guests first: cargo xtask guests", path.display())
}

/// A component, with what was compiled ahead if it is there.
fn component(name: &str) -> Component {
    let path = folder().join(format!("{name}.wasm"));
    let bytes = std::fs::read(&path).unwrap_or_else(|why| missing(&path, &why));
    let loaded = match std::fs::read(path.with_extension("cwasm")) {
        Ok(compiled) => ENGINE.load_precompiled(name, &bytes, &compiled),
        Err(_) => ENGINE.load(name, &bytes),
    };
    loaded.unwrap_or_else(|why| panic!("{why}"))
}

/// A deadline that tests of loops can wait for, and innocent calls on a busy machine keep.
fn impatient() -> Options {
    Options {
        limits: Limits { deadline: Duration::from_millis(300), ..Limits::default() },
        ..Options::default()
    }
}

/// The filter that misbehaves as bindings' resources are named.
pub(crate) fn crooked_filter() -> SchedulerPlugin {
    SchedulerPlugin::load(&component("tests/test-scheduler"), impatient()).unwrap()
}

/// The interpreter that misbehaves as objects are named, for the operations that it really has.
pub(crate) struct CrookedInterpreter {
    plugin: InterpreterPlugin,
    operations: &'static [Operation],
}

impl CrookedInterpreter {
    /// With these operations of those that it claims to have.
    pub(crate) fn with(operations: &'static [Operation]) -> Arc<dyn Interpreter> {
        let plugin = InterpreterPlugin::load(&component("tests/test-interpreter"), impatient()).unwrap();
        Arc::new(Self { plugin, operations })
    }
}

impl Interpreter for CrookedInterpreter {
    fn name(&self) -> &str {
        self.plugin.name()
    }
    fn enabled(&self, gvk: &Gvk, operation: Operation) -> bool {
        self.operations.contains(&operation) && self.plugin.enabled(gvk, operation)
    }
    fn interpret_replica(&self, object: &Value) -> Result<Replica, Error> {
        self.plugin.interpret_replica(object)
    }
    fn revise_replica(&self, object: &Value, replicas: i64) -> Result<Change, Error> {
        self.plugin.revise_replica(object, replicas)
    }
    fn interpret_status(&self, object: &Value) -> Result<Option<Value>, Error> {
        self.plugin.interpret_status(object)
    }
    fn interpret_health(&self, object: &Value) -> Result<ResourceHealth, Error> {
        self.plugin.interpret_health(object)
    }
}

/// A transformer that misbehaves in one cluster as elements of `labelsOverrider` say: their value's `do` is `trap`,
/// `invalid`, `bad-patch` or `no-kind`. What is not its business the shipped transformers do.
pub(crate) struct CrookedTransform {
    plugin: TransformerPlugin,
    shipped: Arc<dyn Transform>,
}

impl CrookedTransform {
    pub(crate) fn load() -> Arc<dyn Transform> {
        let plugin = TransformerPlugin::load(&component("tests/test-transformer"), impatient()).unwrap();
        Arc::new(Self { plugin, shipped: Arc::new(SHIPPED.transformers()) })
    }
}

impl Transform for CrookedTransform {
    fn transform(
        &self,
        object: &Value,
        overrider: &str,
        elements: &[Value],
        cluster: &ClusterFacts,
    ) -> Result<Value, TransformError> {
        let asked = elements.first().and_then(|element| element.pointer("/value/do")).and_then(Value::as_str);
        match asked {
            Some("bad-patch") => Ok(json!([{"op": "replace", "path": "/spec/nowhere/at/all", "value": 1}])),
            Some("no-kind") => Ok(json!([{"op": "remove", "path": "/kind"}])),
            Some(asked) => self.plugin.transform(object, "testOverrider", &[json!(asked)], cluster),
            None => self.shipped.transform(object, overrider, elements, cluster),
        }
    }
}
