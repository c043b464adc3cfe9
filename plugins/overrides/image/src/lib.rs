//! Transformer `imageOverrider`: other registries, repositories or tags in a member's copy.

mod reference;

use reference::Reference;
use windlass_sdk::Value;
use windlass_sdk::transformer::{Cluster, Description, Error, Transformer};

/// The plugin; it has no configuration.
#[derive(Debug)]
pub struct Image;

impl Transformer for Image {
    fn describe() -> Description {
        Description {
            name: "image".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            overriders: vec!["imageOverrider".into()],
        }
    }

    fn new(_: &Value) -> Result<Self, Error> {
        Ok(Self)
    }

    fn transform(&self, object: &mut Value, _: &str, element: &Value, _: &Cluster) -> Result<(), Error> {
        let change = Change {
            component: text(element, "component"),
            operator: text(element, "operator"),
            value: text(element, "value"),
        };
        match element.get("predicate") {
            Some(Value::Object(predicate)) => {
                let path = predicate.get("path").and_then(Value::as_str).unwrap_or_default();
                change.carry_out(at_path(object, path)?, path)
            }
            _ => containers(object, &change),
        }
    }
}

fn text<'a>(element: &'a Value, field: &str) -> &'a str {
    element.get(field).and_then(Value::as_str).unwrap_or_default()
}

struct Change<'a> {
    component: &'a str,
    operator: &'a str,
    value: &'a str,
}

impl Change<'_> {
    fn carry_out(&self, image: &mut Value, place: &str) -> Result<(), Error> {
        let Value::String(text) = image else {
            return Err(format!("{place}: expected an image, found {image}").into());
        };
        let mut reference =
            Reference::parse(text).map_err(|why| format!("{place}: image {text:?}: {why}"))?;
        reference.change(self.component, self.operator, self.value);
        *text = reference.to_string();
        Ok(())
    }
}

/// The text at a path of keys and indices; as in the reference, `~1` and `~0` mean themselves.
fn at_path<'a>(object: &'a mut Value, path: &str) -> Result<&'a mut Value, Error> {
    let Some(inner) = path.strip_prefix('/') else {
        return Err(format!("predicate.path {path:?}: must start with '/'").into());
    };
    inner
        .split('/')
        .try_fold(object, |at, step| match at {
            Value::Object(map) => map.get_mut(step),
            Value::Array(items) => items.get_mut(step.parse::<usize>().ok()?),
            _ => None,
        })
        .ok_or_else(|| format!("predicate.path {path:?}: the object has nothing there").into())
}

/// Every container of the kinds whose pods are known.
fn containers(object: &mut Value, change: &Change) -> Result<(), Error> {
    let pod = match object.get("kind").and_then(Value::as_str) {
        Some("Pod") => "/spec",
        Some("ReplicaSet" | "Deployment" | "DaemonSet" | "StatefulSet" | "Job") => "/spec/template/spec",
        _ => return Ok(()),
    };
    let place = format!("{pod}/containers");
    match object.pointer_mut(&place) {
        None | Some(Value::Null) => Ok(()),
        Some(Value::Array(items)) => {
            for (index, container) in items.iter_mut().enumerate() {
                let place = format!("{place}/{index}/image");
                match container {
                    Value::Object(map) => {
                        change.carry_out(map.entry("image").or_insert("".into()), &place)?
                    }
                    other => return Err(format!("{place}: expected a container, found {other}").into()),
                }
            }
            Ok(())
        }
        Some(other) => Err(format!("{place}: expected a list, found {other}").into()),
    }
}

windlass_sdk::export_transformer!(Image);

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_sdk::json;

    #[test]
    fn containers_of_known_kinds_and_paths() {
        let run = |object: &Value, element: Value| {
            let mut object = object.clone();
            Image.transform(&mut object, "imageOverrider", &element, &Cluster::default()).map(|()| object)
        };
        let deployment = json!({"kind": "Deployment", "spec": {"template": {"spec": {
            "containers": [{"image": "a:1"}, {"image": "r.io/b"}], "initContainers": [{"image": "i"}]}}}});
        let registry = json!({"component": "Registry", "operator": "replace", "value": "m.io"});
        let result = run(&deployment, registry.clone()).unwrap();
        assert_eq!(result.pointer("/spec/template/spec/containers/0/image").unwrap(), "m.io/a:1");
        assert_eq!(result.pointer("/spec/template/spec/containers/1/image").unwrap(), "m.io/b");
        assert_eq!(result.pointer("/spec/template/spec/initContainers/0/image").unwrap(), "i");

        let widget = json!({"kind": "Widget", "spec": {"image": "a:1", "list": [1]}});
        assert_eq!(run(&widget, registry.clone()).unwrap(), widget);
        let at = |path: &str| {
            let mut element = registry.clone();
            element["predicate"] = json!({"path": path});
            element
        };
        assert_eq!(run(&widget, at("/spec/image")).unwrap().pointer("/spec/image").unwrap(), "m.io/a:1");
        for bad in ["spec/image", "/spec/none", "/spec/list/7", "/spec/list/0", "/spec", ""] {
            assert!(run(&widget, at(bad)).is_err(), "{bad}");
        }
    }
}
