//! Transformer `commandOverrider` and `argsOverrider`: words added to, or taken from, a container's command line.

use windlass_sdk::Value;
use windlass_sdk::transformer::{Cluster, Description, Error, Transformer};

/// The plugin; it has no configuration.
#[derive(Debug)]
pub struct CommandArgs;

impl Transformer for CommandArgs {
    fn describe() -> Description {
        Description {
            name: "command-args".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            overriders: vec!["commandOverrider".into(), "argsOverrider".into()],
        }
    }

    fn new(_: &Value) -> Result<Self, Error> {
        Ok(Self)
    }

    fn transform(
        &self,
        object: &mut Value,
        overrider: &str,
        element: &Value,
        _: &Cluster,
    ) -> Result<(), Error> {
        let field = if overrider == "commandOverrider" { "command" } else { "args" };
        let pod = match object.get("kind").and_then(Value::as_str) {
            Some("Pod") => "/spec/containers",
            Some("ReplicaSet" | "Deployment" | "DaemonSet" | "StatefulSet" | "Job") => {
                "/spec/template/spec/containers"
            }
            _ => return Ok(()),
        };
        let Some(containers) = object.pointer_mut(pod) else { return Ok(()) };
        let Value::Array(containers) = containers else {
            return Err(format!("{pod}: expected a list, found {containers}").into());
        };
        let name = element.get("containerName");
        for (index, container) in containers.iter_mut().enumerate() {
            if container.get("name") == name
                && let Value::Object(container) = container
            {
                let line = container.entry(field).or_insert(Value::Null);
                change(line, element).map_err(|why| format!("{pod}/{index}/{field}: {why}"))?;
            }
        }
        Ok(())
    }
}

/// Adds all words, or removes every one that equals one of them; an absent line starts empty.
fn change(line: &mut Value, element: &Value) -> Result<(), String> {
    if line.is_null() {
        *line = Value::Array(Vec::new());
    }
    let Value::Array(words) = line else { return Err(format!("expected a list, found {line}")) };
    let given = element.get("value").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    match element.get("operator").and_then(Value::as_str) {
        Some("add") => words.extend_from_slice(given),
        Some("remove") => words.retain(|word| !given.contains(word)),
        _ => {}
    }
    Ok(())
}

windlass_sdk::export_transformer!(CommandArgs);

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_sdk::json;

    #[test]
    fn words_come_and_go() {
        let pod =
            |container: Value| json!({"kind": "Pod", "spec": {"containers": [container, {"name": "other"}]}});
        for (before, operator, value, after) in [
            (
                json!({"name": "c", "args": ["a", "-v", "-t"]}),
                "add",
                json!(["x"]),
                json!(["a", "-v", "-t", "x"]),
            ),
            (
                json!({"name": "c", "args": ["a", "-v", "-t", "-t"]}),
                "remove",
                json!(["-t"]),
                json!(["a", "-v"]),
            ),
            (json!({"name": "c"}), "add", json!(["-t"]), json!(["-t"])),
            (json!({"name": "c"}), "remove", json!(["-t"]), json!([])),
        ] {
            let mut object = pod(before.clone());
            let element = json!({"containerName": "c", "operator": operator, "value": value});
            CommandArgs.transform(&mut object, "argsOverrider", &element, &Cluster::default()).unwrap();
            assert_eq!(object.pointer("/spec/containers/0/args"), Some(&after), "{before}");
            assert_eq!(object.pointer("/spec/containers/1/args"), None);
        }
    }
}
