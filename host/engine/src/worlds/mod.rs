//! The plugin interfaces as the rest of the engine sees them: one trait per world over the host's own types, and one
//! adapter module per released version behind it. This is the only place that knows all versions.

pub(crate) mod v0_1;

use crate::component::Component;
use crate::error::{GuestError, LoadError};
use crate::limits::Limits;
use crate::state::HostState;
use crate::version::{Version, World};
use serde_json::Value;
use std::sync::Arc;
use wasmtime::Store;
use wasmtime::component::Linker;
use windlass_api::{AggregatedStatusItem, ResourceHealth};
use windlass_interpret::{Operation, Replica};
use windlass_schedule::{
    BindingFields, BindingView, Candidates, ClusterFacts, ClusterFields, ClusterTable, Delta, Explanation,
    Reads,
};

/// What a call gives: wasmtime's error (a trap, a limit), or the plugin's answer, which may be an error of its own.
pub(crate) type Outcome<R> = wasmtime::Result<Result<R, GuestError>>;

/// What a scheduler plugin says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchedulerDescription {
    /// As operators write it: `TaintToleration`.
    pub name: String,
    /// Version of the plugin itself.
    pub version: String,
    /// Whether it filters.
    pub filters: bool,
    /// Whether it scores.
    pub scores: bool,
    /// Whether it rescales scores.
    pub normalizes: bool,
    /// The cluster fields that it reads.
    pub reads_clusters: ClusterFields,
    /// The binding fields that it reads.
    pub reads_bindings: BindingFields,
}

impl SchedulerDescription {
    /// What its answers depend on.
    pub(crate) fn reads(&self) -> Reads {
        Reads { clusters: self.reads_clusters, binding: self.reads_bindings }
    }
}

/// What a resource interpreter says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterpreterDescription {
    /// For messages.
    pub name: String,
    /// Version of the plugin itself.
    pub version: String,
    /// API version, kind and operations.
    pub rules: Vec<(String, String, Vec<Operation>)>,
}

/// What an override transformer says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransformerDescription {
    /// For messages.
    pub name: String,
    /// Version of the plugin itself.
    pub version: String,
    /// The overriders that it carries out.
    pub overriders: Vec<String>,
}

/// An instance of any world.
pub(crate) trait Running: Send {
    /// Its store.
    fn store(&mut self) -> &mut Store<HostState>;
    /// Configures it.
    fn init(&mut self, config: &str) -> Outcome<()>;
}

/// A running scheduler plugin.
pub(crate) trait SchedulerCalls: Running {
    fn describe(&mut self) -> Outcome<SchedulerDescription>;
    fn sync(&mut self, table: &ClusterTable, delta: &Delta, reads: ClusterFields) -> Outcome<()>;
    fn filter(&mut self, question: &Question<'_>) -> Outcome<Vec<u64>>;
    fn score(&mut self, question: &Question<'_>) -> Outcome<Vec<i64>>;
    fn normalize(&mut self, scores: &[i64]) -> Outcome<Vec<i64>>;
    fn explain(&mut self, question: &Question<'_>) -> Outcome<Explanation>;
}

/// What filters, scores and explanations are asked about.
pub(crate) struct Question<'a> {
    pub(crate) generation: u64,
    pub(crate) binding: &'a BindingView,
    pub(crate) reads: BindingFields,
    pub(crate) candidates: Candidates<'a>,
}

/// A running interpreter. Patches and statuses are JSON, already parsed.
pub(crate) trait InterpreterCalls: Running {
    fn describe(&mut self) -> Outcome<InterpreterDescription>;
    fn interpret_replica(&mut self, object: &Value) -> Outcome<Replica>;
    fn interpret_component(&mut self, object: &Value) -> Outcome<Vec<windlass_api::Component>>;
    fn revise_replica(&mut self, object: &Value, replicas: i64) -> Outcome<Value>;
    fn retain(&mut self, desired: &Value, observed: &Value) -> Outcome<Value>;
    fn aggregate_status(&mut self, object: &Value, items: &[AggregatedStatusItem]) -> Outcome<Value>;
    fn interpret_status(&mut self, object: &Value) -> Outcome<Option<Value>>;
    fn interpret_health(&mut self, object: &Value) -> Outcome<ResourceHealth>;
    fn interpret_dependency(
        &mut self,
        object: &Value,
    ) -> Outcome<Vec<windlass_api::DependentObjectReference>>;
}

/// A running transformer.
pub(crate) trait TransformerCalls: Running {
    fn describe(&mut self) -> Outcome<TransformerDescription>;
    fn transform(
        &mut self,
        object: &Value,
        overrider: &str,
        elements: &[Value],
        cluster: &ClusterFacts,
    ) -> Outcome<Value>;
}

/// A linked component, to make instances of. `G` is one of the three traits above.
pub(crate) trait Template<G: ?Sized>: Send + Sync {
    /// Makes an instance; runs the component's start code, so the limits hold already.
    fn instantiate(&self, plugin: &str, limits: Limits) -> wasmtime::Result<Box<G>>;
}

/// What is offered to components of all versions.
pub(crate) fn linker(engine: &wasmtime::Engine) -> wasmtime::Result<Linker<HostState>> {
    let mut linker = Linker::new(engine);
    v0_1::add_to_linker(&mut linker)?;
    Ok(linker)
}

pub(crate) fn scheduler(component: &Component) -> Result<Arc<dyn Template<dyn SchedulerCalls>>, LoadError> {
    let linked = component.link(World::Scheduler)?;
    match component.version() {
        Version::V0_1 => v0_1::scheduler::template(linked).map_err(|why| broken(component, &why)),
    }
}

pub(crate) fn interpreter(
    component: &Component,
) -> Result<Arc<dyn Template<dyn InterpreterCalls>>, LoadError> {
    let linked = component.link(World::Interpreter)?;
    match component.version() {
        Version::V0_1 => v0_1::interpreter::template(linked).map_err(|why| broken(component, &why)),
    }
}

pub(crate) fn transformer(
    component: &Component,
) -> Result<Arc<dyn Template<dyn TransformerCalls>>, LoadError> {
    let linked = component.link(World::Transformer)?;
    match component.version() {
        Version::V0_1 => v0_1::transformer::template(linked).map_err(|why| broken(component, &why)),
    }
}

/// The component claims an interface, but lacks some function of it.
fn broken(component: &Component, why: &wasmtime::Error) -> LoadError {
    LoadError::Compile { name: component.name().to_owned(), why: format!("{why:#}") }
}
