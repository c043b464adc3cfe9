//! World `windlass:interpreter/interpreter-plugin@0.1.0`. Objects cross as JSON text.

use super::bindings::interpreter as generated;
use super::bindings::shared::windlass::types::types;
use super::{instance, parse, parse_as};
use crate::error::GuestError;
use crate::state::HostState;
use crate::worlds::{InterpreterCalls, InterpreterDescription, Outcome};
use generated::exports::windlass::interpreter::interpreter as wit;
use serde_json::{Value, json};
use windlass_api::{AggregatedStatusItem, Component, DependentObjectReference, ResourceHealth};
use windlass_interpret::{Operation, Replica};

instance!(
    generated::InterpreterPluginPre<HostState>,
    generated::InterpreterPlugin,
    InterpreterCalls,
    windlass_interpreter_interpreter
);

/// Calls one function of the interface and converts its good answer.
macro_rules! ask {
    ($self:ident, $call:ident($($argument:expr),*), $convert:expr) => {{
        let answer = $self.guest.windlass_interpreter_interpreter().$call(&mut $self.store, $($argument),*)?;
        Ok(answer.map_err(GuestError::from).and_then($convert))
    }};
}

impl InterpreterCalls for Instance {
    fn describe(&mut self) -> Outcome<InterpreterDescription> {
        let told = self.guest.windlass_interpreter_interpreter().call_describe(&mut self.store)?;
        let rules =
            told.rules.into_iter().map(|rule| (rule.api_version, rule.kind, operations(rule.operations)));
        Ok(Ok(InterpreterDescription { name: told.name, version: told.version, rules: rules.collect() }))
    }

    fn interpret_replica(&mut self, object: &Value) -> Outcome<Replica> {
        ask!(self, call_interpret_replica(&object.to_string()), |told| Ok(Replica {
            replicas: told.replicas,
            requirements: parse_as("requirements", told.requirements)?,
        }))
    }

    fn interpret_component(&mut self, object: &Value) -> Outcome<Vec<Component>> {
        ask!(self, call_interpret_component(&object.to_string()), |told| told
            .into_iter()
            .map(|part| Ok(Component {
                name: part.name,
                replicas: part.replicas,
                replica_requirements: parse_as("requirements", part.requirements)?,
            }))
            .collect())
    }

    fn revise_replica(&mut self, object: &Value, replicas: i64) -> Outcome<Value> {
        ask!(self, call_revise_replica(&object.to_string(), replicas), |text| parse("patch", &text))
    }

    fn retain(&mut self, desired: &Value, observed: &Value) -> Outcome<Value> {
        ask!(self, call_retain(&desired.to_string(), &observed.to_string()), |text| parse("patch", &text))
    }

    fn aggregate_status(&mut self, object: &Value, items: &[AggregatedStatusItem]) -> Outcome<Value> {
        let items: Vec<wit::StatusItem> = items.iter().map(lower_item).collect();
        ask!(self, call_aggregate_status(&object.to_string(), &items), |text| parse("patch", &text))
    }

    fn interpret_status(&mut self, object: &Value) -> Outcome<Option<Value>> {
        ask!(self, call_interpret_status(&object.to_string()), |text| parse_as("status", text))
    }

    fn interpret_health(&mut self, object: &Value) -> Outcome<ResourceHealth> {
        ask!(self, call_interpret_health(&object.to_string()), |told| Ok(match told {
            wit::Health::Unknown => ResourceHealth::Unknown,
            wit::Health::Healthy => ResourceHealth::Healthy,
            wit::Health::Unhealthy => ResourceHealth::Unhealthy,
        }))
    }

    fn interpret_dependency(&mut self, object: &Value) -> Outcome<Vec<DependentObjectReference>> {
        ask!(self, call_interpret_dependency(&object.to_string()), |told| told
            .into_iter()
            .map(lift_dependency)
            .collect())
    }
}

impl From<wit::Error> for GuestError {
    fn from(error: wit::Error) -> Self {
        match error {
            wit::Error::Invalid(text) => Self::Invalid(text),
            wit::Error::Unsupported => Self::Unsupported,
            wit::Error::Internal(text) => Self::Internal(text),
        }
    }
}

fn operations(told: wit::Operations) -> Vec<Operation> {
    let table = [
        (wit::Operations::INTERPRET_REPLICA, Operation::InterpretReplica),
        (wit::Operations::INTERPRET_COMPONENT, Operation::InterpretComponent),
        (wit::Operations::REVISE_REPLICA, Operation::ReviseReplica),
        (wit::Operations::RETAIN, Operation::Retain),
        (wit::Operations::AGGREGATE_STATUS, Operation::AggregateStatus),
        (wit::Operations::INTERPRET_STATUS, Operation::InterpretStatus),
        (wit::Operations::INTERPRET_HEALTH, Operation::InterpretHealth),
        (wit::Operations::INTERPRET_DEPENDENCY, Operation::InterpretDependency),
    ];
    table.into_iter().filter(|(flag, _)| told.contains(*flag)).map(|(_, operation)| operation).collect()
}

fn lower_item(item: &AggregatedStatusItem) -> wit::StatusItem {
    wit::StatusItem {
        cluster_name: item.cluster_name.clone(),
        status: item.status.as_ref().map(Value::to_string),
        applied: item.applied,
        applied_message: item.applied_message.clone(),
        health: item.health.as_ref().map(|health| match *health {
            ResourceHealth::Healthy => wit::Health::Healthy,
            ResourceHealth::Unhealthy => wit::Health::Unhealthy,
            _ => wit::Health::Unknown,
        }),
    }
}

fn lift_dependency(told: wit::Dependency) -> Result<DependentObjectReference, GuestError> {
    Ok(DependentObjectReference {
        api_version: told.target.api_version,
        kind: told.target.kind,
        namespace: told.target.namespace,
        name: told.target.name,
        label_selector: told.selector.map(|selector| lift_selector(&selector)).transpose()?,
    })
}

fn lift_selector<T: serde::de::DeserializeOwned>(selector: &types::LabelSelector) -> Result<T, GuestError> {
    let labels: serde_json::Map<String, Value> =
        selector.match_labels.iter().map(|(key, value)| (key.clone(), json!(value))).collect();
    let expressions: Vec<Value> = selector
        .match_expressions
        .iter()
        .map(|one| json!({"key": one.key, "operator": one.operator, "values": one.values}))
        .collect();
    let mut whole = serde_json::Map::new();
    if !labels.is_empty() {
        whole.insert("matchLabels".to_owned(), Value::Object(labels));
    }
    if !expressions.is_empty() {
        whole.insert("matchExpressions".to_owned(), Value::Array(expressions));
    }
    serde_json::from_value(Value::Object(whole))
        .map_err(|why| GuestError::Internal(format!("selector: {why}")))
}
