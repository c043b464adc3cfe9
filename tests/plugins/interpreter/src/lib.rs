//! An interpreter that does what the object's name says.
#![allow(clippy::panic, clippy::unwrap_used, reason = "a guest's panic is what is to be tested")]

use std::hint::black_box;
use windlass_sdk::{Value, interpreter::*, json};

/// The interpreter.
pub struct Misbehaving;

impl Interpreter for Misbehaving {
    fn describe() -> Description {
        let rule = Rule {
            api_version: "test.windlass.io/v1".into(),
            kind: "Misbehaving".into(),
            operations: Operations::all(),
        };
        Description { name: "misbehaving".into(), version: "0.1.0".into(), rules: vec![rule] }
    }

    fn new(_: &Value) -> Result<Self, Error> {
        Ok(Self)
    }

    fn interpret_health(&self, object: &Value) -> Result<Health, Error> {
        match name(object) {
            "trap" => panic!("asked to"),
            "loop" => loop {
                black_box(());
            },
            "invalid" => Err("the object has no health".into()),
            _ => Ok(Health::Healthy),
        }
    }

    fn interpret_status(&self, object: &Value) -> Result<Option<Value>, Error> {
        match name(object) {
            "huge" => Ok(Some(Value::String("x".repeat(20 << 20)))),
            _ => Ok(None),
        }
    }

    fn interpret_replica(&self, object: &Value) -> Result<ReplicaResult, Error> {
        let requirements = match name(object) {
            "no-json" => Some("{".to_owned()),
            "wrong-shape" => Some(r#"{"resourceRequest": 7}"#.to_owned()),
            _ => Some(json!({"resourceRequest": {"cpu": "100m"}}).to_string()),
        };
        Ok(ReplicaResult { replicas: 2, requirements })
    }
}

fn name(object: &Value) -> &str {
    object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default()
}

windlass_sdk::export_interpreter!(Misbehaving);
