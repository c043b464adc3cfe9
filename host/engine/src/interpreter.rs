//! Resource interpreters: a fresh instance answers each call, so that nothing is carried from one object to another.

use crate::component::Component;
use crate::counters::Snapshot;
use crate::error::{CallError, LoadError};
use crate::plugin::{Options, Plugin, Status};
use crate::worlds::{self, InterpreterCalls, InterpreterDescription, Outcome, Template};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;
use windlass_api::{AggregatedStatusItem, DependentObjectReference, ResourceHealth};
use windlass_interpret::{Cause, Change, Error, Interpreter, Operation, Replica};
use windlass_object::gvk::Gvk;

/// An interpreter that was loaded. Its failures are always the answer, whatever its failure policy: a guess about an
/// object's meaning is worse than none.
pub struct InterpreterPlugin {
    plugin: Plugin,
    description: InterpreterDescription,
    operations: HashMap<Gvk, Vec<Operation>>,
    template: Arc<dyn Template<dyn InterpreterCalls>>,
}

impl InterpreterPlugin {
    /// Loads an interpreter: asks for its description, and tries its configuration out.
    ///
    /// # Errors
    /// When the component is of another kind, or can't be started.
    pub fn load(component: &Component, options: Options) -> Result<Self, LoadError> {
        let template = worlds::interpreter(component)?;
        let mut plugin = Plugin::new(component, options);
        let mut guest = plugin.start(&*template).map_err(|why| component.refuse(why))?;
        let description =
            plugin.call(&mut *guest, |guest| guest.describe()).map_err(|why| component.refuse(why))?;
        plugin.described(&description.name, &description.version)?;
        let mut operations: HashMap<Gvk, Vec<Operation>> = HashMap::new();
        for (api_version, kind, told) in &description.rules {
            operations.entry(Gvk::from_api_version(api_version, kind)).or_default().extend(told);
        }
        Ok(Self { plugin, description, operations, template })
    }

    /// What the interpreter says of itself.
    pub fn description(&self) -> &InterpreterDescription {
        &self.description
    }

    /// How it fares.
    pub fn counters(&self) -> Snapshot {
        self.plugin.counters.snapshot()
    }

    /// What is known of it.
    pub fn status(&self) -> Status {
        self.plugin.status()
    }

    fn ask<R>(
        &self,
        object: &Value,
        operation: Operation,
        call: impl FnOnce(&mut (dyn InterpreterCalls + 'static)) -> Outcome<R>,
    ) -> Result<R, Error> {
        self.plugin.once(&*self.template, call).map_err(|error| {
            let cause = match error {
                CallError::Invalid(text) => Cause::Invalid(text),
                CallError::Unsupported => Cause::Unsupported,
                CallError::Internal(_) | CallError::Trapped(_) | CallError::Timeout => {
                    Cause::Failed(error.to_string())
                }
            };
            Error::of(object, operation, &self.plugin.name, cause)
        })
    }
}

impl std::fmt::Debug for InterpreterPlugin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InterpreterPlugin").field("plugin", &self.plugin).finish_non_exhaustive()
    }
}

impl Interpreter for InterpreterPlugin {
    fn name(&self) -> &str {
        &self.plugin.name
    }

    fn enabled(&self, gvk: &Gvk, operation: Operation) -> bool {
        self.operations.get(gvk).is_some_and(|operations| operations.contains(&operation))
    }

    fn interpret_replica(&self, object: &Value) -> Result<Replica, Error> {
        self.ask(object, Operation::InterpretReplica, |guest| guest.interpret_replica(object))
    }

    fn interpret_component(&self, object: &Value) -> Result<Vec<windlass_api::Component>, Error> {
        self.ask(object, Operation::InterpretComponent, |guest| guest.interpret_component(object))
    }

    fn revise_replica(&self, object: &Value, replicas: i64) -> Result<Change, Error> {
        self.ask(object, Operation::ReviseReplica, |guest| guest.revise_replica(object, replicas))
            .map(Change::Patch)
    }

    fn retain(&self, desired: &Value, observed: &Value) -> Result<Change, Error> {
        self.ask(desired, Operation::Retain, |guest| guest.retain(desired, observed)).map(Change::Patch)
    }

    fn aggregate_status(&self, object: &Value, items: &[AggregatedStatusItem]) -> Result<Change, Error> {
        self.ask(object, Operation::AggregateStatus, |guest| guest.aggregate_status(object, items))
            .map(Change::Patch)
    }

    fn interpret_status(&self, object: &Value) -> Result<Option<Value>, Error> {
        self.ask(object, Operation::InterpretStatus, |guest| guest.interpret_status(object))
    }

    fn interpret_health(&self, object: &Value) -> Result<ResourceHealth, Error> {
        self.ask(object, Operation::InterpretHealth, |guest| guest.interpret_health(object))
    }

    fn interpret_dependency(&self, object: &Value) -> Result<Vec<DependentObjectReference>, Error> {
        self.ask(object, Operation::InterpretDependency, |guest| guest.interpret_dependency(object))
    }
}
