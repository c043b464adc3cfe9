//! The interpreter of Kubernetes' built-in kinds. One file per operation; each is a plain
//! function from JSON to JSON, to the letter of the reference's native handlers.

mod aggregate;
mod dependency;
mod health;
mod json;
mod quantity;
mod replica;
mod requirements;
mod retain;
mod rules;
mod status;

use windlass_sdk::interpreter::{
    Dependency, Description, Error, Health, Interpreter, ObjectReference, ReplicaResult, StatusItem,
};
use windlass_sdk::{LabelSelector, Value, serde_json};

/// Kinds of Kubernetes itself, and ServiceImport, which is treated as one.
#[derive(Debug)]
pub struct Kubernetes;

impl Interpreter for Kubernetes {
    fn describe() -> Description {
        Description {
            name: "Kubernetes".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            rules: rules::RULES.iter().map(rules::Rule::describe).collect(),
        }
    }

    fn new(_: &Value) -> Result<Self, Error> {
        Ok(Self)
    }

    fn interpret_replica(&self, object: &Value) -> Result<ReplicaResult, Error> {
        let (replicas, requirements) = replica::interpret(kind(object)?, object)?;
        Ok(ReplicaResult { replicas, requirements: requirements.map(|value| value.to_string()) })
    }

    fn revise_replica(&self, object: &mut Value, replicas: i64) -> Result<(), Error> {
        let kind = kind(object)?.to_owned();
        Ok(replica::revise(&kind, object, replicas)?)
    }

    fn retain(&self, desired: &mut Value, observed: &Value) -> Result<(), Error> {
        Ok(retain::retain(kind(observed)?, desired, observed)?)
    }

    fn aggregate_status(&self, object: &mut Value, items: &[StatusItem]) -> Result<(), Error> {
        let items = items.iter().map(item).collect::<Result<Vec<_>, Error>>()?;
        let kind = kind(object)?.to_owned();
        Ok(aggregate::aggregate(&kind, object, &items)?)
    }

    fn interpret_status(&self, object: &Value) -> Result<Option<Value>, Error> {
        Ok(status::interpret(kind(object)?, object)?)
    }

    fn interpret_health(&self, object: &Value) -> Result<Health, Error> {
        Ok(if health::interpret(kind(object)?, object)? { Health::Healthy } else { Health::Unhealthy })
    }

    fn interpret_dependency(&self, object: &Value) -> Result<Vec<Dependency>, Error> {
        Ok(dependency::interpret(kind(object)?, object)?.into_iter().map(written).collect())
    }
}

fn kind(object: &Value) -> Result<&str, Error> {
    Ok(json::text(object, &["kind"])?)
}

fn item(item: &StatusItem) -> Result<aggregate::Item, Error> {
    let status = match &item.status {
        None => None,
        Some(text) => Some(serde_json::from_str(text).map_err(|why| {
            Error::Invalid(format!("status of cluster {} is no JSON: {why}", item.cluster_name))
        })?),
    };
    Ok(aggregate::Item { cluster: item.cluster_name.clone(), status })
}

fn written(need: dependency::Dependency) -> Dependency {
    Dependency {
        target: ObjectReference {
            api_version: need.api_version.into(),
            kind: need.kind.into(),
            namespace: need.namespace,
            name: need.name,
            uid: String::new(),
        },
        selector: need
            .label
            .map(|label| LabelSelector { match_labels: vec![label], match_expressions: Vec::new() }),
    }
}

windlass_sdk::export_interpreter!(Kubernetes);
