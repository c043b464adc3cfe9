//! The order in which interpreters are asked: customizations, webhooks, third-party, built-in. The first that is
//! enabled for the kind and operation decides; its error is the answer, never a reason to ask the next.

use std::sync::Arc;

use serde_json::Value;
use windlass_api::{AggregatedStatusItem, Component, DependentObjectReference, ResourceHealth};
use windlass_object::gvk::Gvk;
use windlass_object::meta::Meta;

use crate::dependency;
use crate::error::{Cause, Error};
use crate::operation::{Change, Interpreter, Operation, Replica};
use crate::patch;

/// Interpreters in the order in which they are asked. A snapshot: a change of configuration makes a new one.
///
/// Every method answers `None` when no interpreter is enabled for the object's kind.
#[derive(Clone, Default)]
pub struct Chain {
    layers: Arc<[Arc<dyn Interpreter>]>,
}

impl Chain {
    /// A chain of interpreters, the first asked first.
    pub fn new(layers: Vec<Arc<dyn Interpreter>>) -> Self {
        Self { layers: layers.into() }
    }

    /// Whether any interpreter answers the operation for this kind.
    pub fn enabled(&self, gvk: &Gvk, operation: Operation) -> bool {
        operation == Operation::InterpretStatus || self.layers.iter().any(|l| l.enabled(gvk, operation))
    }

    /// Name of the interpreter that decides, for explanations.
    pub fn decides(&self, gvk: &Gvk, operation: Operation) -> Option<&str> {
        self.layers.iter().find(|l| l.enabled(gvk, operation)).map(|l| l.name())
    }

    /// Replicas and what one of them needs.
    pub fn interpret_replica(&self, object: &Value) -> Result<Option<Replica>, Error> {
        let Some(layer) = self.find(object, Operation::InterpretReplica) else { return Ok(None) };
        let replica = layer.interpret_replica(object)?;
        if replica.replicas < 0 {
            let cause = Cause::Answer(format!("{} replicas; expected none or more", replica.replicas));
            return Err(Error::of(object, Operation::InterpretReplica, layer.name(), cause));
        }
        Ok(Some(replica))
    }

    /// The parts of a workload with several pod templates.
    pub fn interpret_component(&self, object: &Value) -> Result<Option<Vec<Component>>, Error> {
        let Some(layer) = self.find(object, Operation::InterpretComponent) else { return Ok(None) };
        layer.interpret_component(object).map(Some)
    }

    /// The object with this number of replicas.
    pub fn revise_replica(&self, object: &Value, replicas: i64) -> Result<Option<Value>, Error> {
        self.change(object, Operation::ReviseReplica, |layer| layer.revise_replica(object, replicas))
    }

    /// `desired` with what the member owns in `observed`.
    pub fn retain(&self, desired: &Value, observed: &Value) -> Result<Option<Value>, Error> {
        self.change(desired, Operation::Retain, |layer| layer.retain(desired, observed))
    }

    /// The template with a status made of the clusters'. Nothing but `status` differs.
    pub fn aggregate_status(
        &self,
        object: &Value,
        items: &[AggregatedStatusItem],
    ) -> Result<Option<Value>, Error> {
        let changed =
            self.change(object, Operation::AggregateStatus, |layer| layer.aggregate_status(object, items))?;
        Ok(changed.map(|mut changed| {
            let status = changed.get_mut("status").map(Value::take);
            let mut result = object.clone();
            if let Some(map) = result.as_object_mut() {
                match status {
                    Some(status) => map.insert("status".into(), status),
                    None => map.remove("status"),
                };
            }
            result
        }))
    }

    /// What of the status is worth carrying; all of it if no interpreter knows better.
    pub fn interpret_status(&self, object: &Value) -> Result<Option<Value>, Error> {
        match self.find(object, Operation::InterpretStatus) {
            Some(layer) => layer.interpret_status(object),
            None => Ok(object.get("status").filter(|s| !s.is_null()).cloned()),
        }
    }

    /// Whether the object works.
    pub fn interpret_health(&self, object: &Value) -> Result<Option<ResourceHealth>, Error> {
        let Some(layer) = self.find(object, Operation::InterpretHealth) else { return Ok(None) };
        layer.interpret_health(object).map(Some)
    }

    /// What the object needs: checked, sorted, each reference once.
    pub fn interpret_dependency(
        &self,
        object: &Value,
    ) -> Result<Option<Vec<DependentObjectReference>>, Error> {
        let Some(layer) = self.find(object, Operation::InterpretDependency) else { return Ok(None) };
        let mut dependencies = layer.interpret_dependency(object)?;
        dependency::check(&dependencies).map_err(|reason| {
            Error::of(object, Operation::InterpretDependency, layer.name(), Cause::Answer(reason))
        })?;
        dependency::normalize(&mut dependencies);
        Ok(Some(dependencies))
    }

    fn find(&self, object: &Value, operation: Operation) -> Option<&dyn Interpreter> {
        let gvk = object.gvk();
        self.layers.iter().find(|l| l.enabled(&gvk, operation)).map(AsRef::as_ref)
    }

    fn change(
        &self,
        object: &Value,
        operation: Operation,
        call: impl FnOnce(&dyn Interpreter) -> Result<Change, Error>,
    ) -> Result<Option<Value>, Error> {
        let Some(layer) = self.find(object, operation) else { return Ok(None) };
        let change = call(layer)?;
        patch::apply(object, change)
            .map(Some)
            .map_err(|cause| Error::of(object, operation, layer.name(), cause))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Answers what it was made with.
    struct Fake(&'static str, Vec<Operation>, fn() -> Result<Change, Cause>);

    impl Interpreter for Fake {
        fn name(&self) -> &str {
            self.0
        }
        fn enabled(&self, gvk: &Gvk, operation: Operation) -> bool {
            gvk.kind == "Deployment" && self.1.contains(&operation)
        }
        fn revise_replica(&self, object: &Value, _: i64) -> Result<Change, Error> {
            self.2().map_err(|cause| Error::of(object, Operation::ReviseReplica, self.0, cause))
        }
        fn aggregate_status(&self, object: &Value, _: &[AggregatedStatusItem]) -> Result<Change, Error> {
            self.2().map_err(|cause| Error::of(object, Operation::AggregateStatus, self.0, cause))
        }
    }

    fn deployment() -> Value {
        json!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "web", "namespace": "shop" }, "spec": { "replicas": 1 } })
    }

    fn three() -> Result<Change, Cause> {
        Ok(Change::Patch(json!([{ "op": "replace", "path": "/spec/replicas", "value": 3 }])))
    }

    #[test]
    fn the_first_enabled_layer_decides() {
        let failing =
            Arc::new(Fake("first", vec![Operation::ReviseReplica], || Err(Cause::Failed("trap".into()))));
        let other = Arc::new(Fake("other", vec![Operation::Retain], three));
        let good = Arc::new(Fake("second", vec![Operation::ReviseReplica], three));
        let object = deployment();

        let revised =
            Chain::new(vec![other.clone(), good.clone()]).revise_replica(&object, 3).unwrap().unwrap();
        assert_eq!(revised["spec"]["replicas"], 3);

        let error = Chain::new(vec![other, failing, good]).revise_replica(&object, 3).unwrap_err();
        assert_eq!(error.to_string(), "ReviseReplica of apps/v1, Kind=Deployment shop/web by first: trap");
    }

    #[test]
    fn nobody_enabled() {
        let chain = Chain::default();
        let mut object = deployment();
        assert_eq!(chain.interpret_replica(&object).unwrap(), None);
        assert!(!chain.enabled(&object.gvk(), Operation::Retain));
        assert!(chain.enabled(&object.gvk(), Operation::InterpretStatus));
        assert_eq!(chain.interpret_status(&object).unwrap(), None);
        object["status"] = json!({ "replicas": 1 });
        assert_eq!(chain.interpret_status(&object).unwrap(), Some(json!({ "replicas": 1 })));
    }

    #[test]
    fn aggregation_touches_the_status_only() {
        let layer = Fake("agg", vec![Operation::AggregateStatus], || {
            Ok(Change::Patch(json!([
                { "op": "add", "path": "/status", "value": { "replicas": 2 } },
                { "op": "replace", "path": "/spec/replicas", "value": 9 },
            ])))
        });
        let mut expected = deployment();
        expected["status"] = json!({ "replicas": 2 });
        let chain = Chain::new(vec![Arc::new(layer)]);
        assert_eq!(chain.aggregate_status(&deployment(), &[]).unwrap(), Some(expected));
    }

    #[test]
    fn identity_stays() {
        for path in ["/kind", "/apiVersion", "/metadata/name", "/metadata/namespace"] {
            let change = Change::Patch(json!([{ "op": "replace", "path": path, "value": "other" }]));
            let cause = patch::apply(&deployment(), change).unwrap_err();
            assert!(cause.to_string().contains("must stay"), "{path}: {cause}");
        }
    }
}
