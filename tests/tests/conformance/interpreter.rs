//! Built-in kinds through the shipped interpreter, looked up and checked as in production.

use crate::equal::{normal, sorted};
use crate::{Judge, SHIPPED, vectors};
use serde_json::{Value, json};
use std::io::Read;
use windlass_api::ResourceHealth;
use windlass_interpret::{Chain, Error};

/// What the operation answers, in the form of `expect.value`.
fn answer(chain: &Chain, case: &Value) -> Result<Option<Value>, Error> {
    let object = &case["object"];
    Ok(match case["operation"].as_str().unwrap() {
        "InterpretReplica" => chain.interpret_replica(object)?.map(
            |replica| json!({"replicas": replica.replicas, "replicaRequirements": replica.requirements}),
        ),
        "ReviseReplica" => chain.revise_replica(object, case["desiredReplicas"].as_i64().unwrap())?,
        "Retain" => chain.retain(object, &case["observed"])?,
        "AggregateStatus" => {
            let items = match &case["statusItems"] {
                Value::Null => Vec::new(),
                items => serde_json::from_value(items.clone()).unwrap(),
            };
            chain.aggregate_status(object, &items)?
        }
        "InterpretStatus" => chain.interpret_status(object)?,
        "InterpretHealth" => {
            chain.interpret_health(object)?.map(|health| json!(health == ResourceHealth::Healthy))
        }
        "InterpretDependency" => {
            chain.interpret_dependency(object)?.map(|found| serde_json::to_value(found).unwrap())
        }
        other => panic!("operation {other}"),
    })
}

#[test]
fn built_in_kinds() {
    let chain = Chain::new(SHIPPED.interpreters());
    let packed = std::fs::File::open(vectors().join("interpreter/native.ndjson.gz")).unwrap();
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).unwrap();
    let mut judge = Judge::new("interpreter");
    for line in text.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let operation = case["operation"].as_str().unwrap();
        let shape = |value: &Value| {
            let value = normal(operation, value);
            if operation == "InterpretDependency" { sorted(value) } else { value }
        };
        let got = match answer(&chain, &case) {
            Ok(value) => json!({"value": shape(&value.unwrap_or_default())}),
            Err(_) => json!({"error": true}),
        };
        let expect = match case["expect"].get("value") {
            Some(value) => json!({"value": shape(value)}),
            None => json!({"error": true}),
        };
        judge.case(case["id"].as_str().unwrap(), &got, &expect);
    }
    judge.finish(1860);
}
