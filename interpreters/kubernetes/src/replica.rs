//! How many replicas an object asks for, and giving it another number.

use crate::json::{Result, get, int, set};
use crate::requirements;
use windlass_sdk::{Value, json};

/// Replicas and the requirements of one of them.
pub(crate) fn interpret(kind: &str, object: &Value) -> Result<(i32, Option<Value>)> {
    if kind == "Pod" {
        return Ok((1, requirements::of_template(object)?));
    }
    let replicas = match kind {
        "Job" => {
            let parallelism = int(object, &["spec", "parallelism"])?.unwrap_or(0);
            parallelism.min(int(object, &["spec", "completions"])?.unwrap_or(parallelism))
        }
        _ => int(object, &["spec", "replicas"])?.unwrap_or(0),
    };
    let replicas =
        i32::try_from(replicas).map_err(|_| format!("spec.replicas: {replicas} is out of range"))?;
    let template = get(object, &["spec", "template"])?.cloned().unwrap_or(Value::Null);
    Ok((replicas, if template.is_null() { None } else { requirements::of_template(&template)? }))
}

/// Sets the number, where the object has one at all.
pub(crate) fn revise(kind: &str, object: &mut Value, replicas: i64) -> Result<()> {
    let field = if kind == "Job" { "parallelism" } else { "replicas" };
    if int(object, &["spec", field])?.is_some() {
        set(object, &["spec", field], json!(replicas));
    }
    Ok(())
}
