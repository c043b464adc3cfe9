use super::*;
use crate::arena::{Arena, Field, Kind, Node};

fn document(group: &str, version: &str) -> Value {
    let kinds = table().kinds().iter().filter(|kind| kind.group == group && kind.version == version);
    let resources: Vec<_> = kinds.map(Resource::builtin).collect();
    v3(group, version, &resources)
}

/// Every `$ref` of a document.
fn references(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| match (key.as_str(), value) {
            ("$ref", Value::String(target)) => found.push(target.clone()),
            _ => references(value, found),
        }),
        Value::Array(list) => list.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

#[test]
fn every_reference_has_a_target() {
    for (group, version) in table().group_versions() {
        let document = document(group, version);
        let mut found = Vec::new();
        references(&document, &mut found);
        assert!(!found.is_empty());
        for target in found {
            let pointer = target.trim_start_matches('#');
            assert!(document.pointer(pointer).is_some_and(|v| !v.is_null()), "{group}/{version}: {target}");
        }
    }
}

#[test]
fn kubectl_apply_finds_field_validation() {
    let document = document("apps", "v1");
    let patch = &document["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["patch"];
    assert!(patch["parameters"].as_array().unwrap().iter().any(|p| p["name"] == "fieldValidation"));
    assert_eq!(
        patch["x-kubernetes-group-version-kind"],
        json!({"group": "apps", "version": "v1", "kind": "Deployment"})
    );
    assert_eq!(patch["x-kubernetes-action"], "patch");
}

#[test]
fn kubectl_explain_finds_texts() {
    let document = document("apps", "v1");
    let deployment = &document["components"]["schemas"]["io.k8s.api.apps.v1.Deployment"];
    assert_eq!(deployment["x-kubernetes-group-version-kind"][0]["kind"], "Deployment");
    assert_eq!(
        deployment["properties"]["spec"]["allOf"][0]["$ref"],
        "#/components/schemas/io.k8s.api.apps.v1.DeploymentSpec"
    );
    let replicas =
        &document["components"]["schemas"]["io.k8s.api.apps.v1.DeploymentSpec"]["properties"]["replicas"];
    assert_eq!((&replicas["type"], &replicas["format"]), (&json!("integer"), &json!("int32")));
    assert!(!Descriptions::builtin().is_empty());
    assert!(replicas["description"].as_str().is_some_and(|text| text.contains("pods")));
    let ports = &document["components"]["schemas"]["io.k8s.api.core.v1.Container"]["properties"]["ports"];
    assert_eq!(ports["x-kubernetes-list-map-keys"], json!(["containerPort", "protocol"]));
    assert_eq!(ports["x-kubernetes-patch-merge-key"], "containerPort");
}

#[test]
fn custom_resources_get_their_metadata() {
    let mut arena = Arena::default();
    let text = arena.add(Node { kind: Kind::String, ..Node::default() });
    let field =
        Field { node: text, required: true, description: Some("the colour".into()), ..Field::default() };
    let spec = Node { kind: Kind::Object, fields: [("colour".to_owned(), field)].into(), ..Node::default() };
    let spec = arena.add(spec);
    let field = Field { node: spec, ..Field::default() };
    let root = arena.add(Node {
        kind: Kind::Object,
        fields: [("spec".to_owned(), field)].into(),
        ..Node::default()
    });
    let gvk = Gvk::new("stable.example.com", "v1", "Hat");
    let resource = Resource::custom(gvk, "hats", true, &["status", "scale"], arena.view(root));
    let document = v3("stable.example.com", "v1", &[resource]);
    let hat = &document["components"]["schemas"]["com.example.stable.v1.Hat"];
    assert_eq!(
        hat["properties"]["spec"]["properties"]["colour"],
        json!({"type": "string", "description": "the colour"})
    );
    assert_eq!(hat["properties"]["spec"]["required"], json!(["colour"]));
    assert!(hat["properties"]["metadata"]["allOf"].is_array());
    let paths = document["paths"].as_object().unwrap();
    for path in [
        "hats",
        "namespaces/{namespace}/hats",
        "namespaces/{namespace}/hats/{name}/status",
        "namespaces/{namespace}/hats/{name}/scale",
    ] {
        assert!(paths.contains_key(&format!("/apis/stable.example.com/v1/{path}")), "{path}");
    }
}
