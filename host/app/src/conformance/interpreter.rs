//! Built-in kinds through the shipped interpreter, looked up and checked as in production.

use super::equal::{normal, sorted};
use super::report::Tally;
use super::{records, text};
use crate::plugins::Loaded;
use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use windlass_api::ResourceHealth;
use windlass_interpret::{Chain, Error};
use windlass_schedule::vectors::Deviations;

/// What the operation answers, in the form of `expect.value`.
fn answer(chain: &Chain, case: &Value) -> anyhow::Result<Result<Option<Value>, Error>> {
    let null = Value::Null;
    let part = |field: &str| case.get(field).unwrap_or(&null);
    let object = part("object");
    Ok(match text(case, "operation") {
        "InterpretReplica" => chain.interpret_replica(object).map(|found| {
            found.map(
                |replica| json!({"replicas": replica.replicas, "replicaRequirements": replica.requirements}),
            )
        }),
        "ReviseReplica" => {
            let replicas = part("desiredReplicas").as_i64().context("desiredReplicas is no number")?;
            chain.revise_replica(object, replicas)
        }
        "Retain" => chain.retain(object, part("observed")),
        "AggregateStatus" => {
            let items = match part("statusItems") {
                Value::Null => Vec::new(),
                items => serde_json::from_value(items.clone()).context("statusItems")?,
            };
            chain.aggregate_status(object, &items)
        }
        "InterpretStatus" => chain.interpret_status(object),
        "InterpretHealth" => chain
            .interpret_health(object)
            .map(|found| found.map(|health| json!(health == ResourceHealth::Healthy))),
        "InterpretDependency" => {
            chain.interpret_dependency(object).map(|found| found.map(|found| json!(found)))
        }
        other => bail!("there is no operation {other:?}"),
    })
}

pub(super) fn run(name: &str, cases: &str, loaded: &Loaded, deviations: Deviations) -> anyhow::Result<Tally> {
    let mut tally = Tally::new(name, deviations);
    for case in records(cases) {
        let case = case?;
        let operation = text(&case, "operation");
        let shape = |value: &Value| {
            let value = normal(operation, value);
            if operation == "InterpretDependency" { sorted(value) } else { value }
        };
        let got = match answer(&loaded.interpreters, &case)? {
            Ok(value) => json!({"value": shape(&value.unwrap_or_default())}),
            Err(_) => json!({"error": true}),
        };
        let expected = match case.pointer("/expect/value") {
            Some(value) => json!({"value": shape(value)}),
            None => json!({"error": true}),
        };
        let id = text(&case, "id").to_owned();
        tally.case(&id, &Value::Null, got, expected);
    }
    Ok(tally)
}
