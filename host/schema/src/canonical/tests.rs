use super::*;
use serde_json::json;

fn canonical(mut object: Value) -> Value {
    let view = table().schema(&object.gvk()).unwrap();
    canonicalize(view, &mut object, Unknown::Error).unwrap();
    object
}

#[test]
fn a_small_deployment_is_as_kube_apiserver_stores_it() {
    let stored = canonical(json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "creationTimestamp": null, "labels": {}},
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}, "creationTimestamp": null},
                "spec": {"containers": [{"name": "web", "image": "nginx", "ports": [{"containerPort": 80}],
                    "resources": {"limits": {"cpu": "1000m", "memory": 1048576}}}]},
            },
        },
    }));
    assert_eq!(
        stored,
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "web"},
            "spec": {
                "progressDeadlineSeconds": 600,
                "replicas": 1,
                "revisionHistoryLimit": 10,
                "selector": {"matchLabels": {"app": "web"}},
                "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}},
                "template": {
                    "metadata": {"labels": {"app": "web"}},
                    "spec": {
                        "containers": [{
                            "image": "nginx", "imagePullPolicy": "Always", "name": "web",
                            "ports": [{"containerPort": 80, "protocol": "TCP"}],
                            "resources": {"limits": {"cpu": "1", "memory": "1048576"}},
                            "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
                        }],
                        "dnsPolicy": "ClusterFirst", "restartPolicy": "Always", "schedulerName": "default-scheduler",
                        "securityContext": {}, "terminationGracePeriodSeconds": 30,
                    },
                },
            },
            "status": {},
        })
    );
}

#[test]
fn unknown_fields_are_told_of_in_kubectls_words() {
    let object = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "foo": 1,
        "spec": {"containers": [{"name": "a"}, {"name": "b", "bar": {}}]},
    });
    let view = table().schema(&object.gvk()).unwrap();
    let expected =
        vec![r#"unknown field "foo""#.to_owned(), r#"unknown field "spec.containers[1].bar""#.to_owned()];
    let mut copy = object.clone();
    assert_eq!(canonicalize(view, &mut copy, Unknown::Warn), Ok(expected.clone()));
    assert_eq!(copy.get("foo"), None);
    let error = canonicalize(view, &mut object.clone(), Unknown::Error).unwrap_err();
    assert_eq!(
        error.message(&object.gvk()),
        r#"Pod in version "v1" cannot be handled as a Pod: strict decoding error: unknown field "foo", unknown field "spec.containers[1].bar""#
    );
    assert_eq!(canonicalize(view, &mut object.clone(), Unknown::Drop), Ok(vec![]));
}

#[test]
fn wrong_types_are_refused() {
    for (spec, expected) in [
        (
            json!({"replicas": "three"}),
            "json: cannot unmarshal string into Go struct field .spec.replicas of type int32",
        ),
        (
            json!({"replicas": 1.5}),
            "json: cannot unmarshal number 1.5 into Go struct field .spec.replicas of type int32",
        ),
        (
            json!({"template": []}),
            "json: cannot unmarshal array into Go struct field .spec.template of type v1.PodTemplateSpec",
        ),
        (
            json!({"template": {"spec": {"containers": [{"resources": {"limits": {"cpu": "lots"}}}]}}}),
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        ),
    ] {
        let mut object = json!({"apiVersion": "apps/v1", "kind": "Deployment", "spec": spec});
        let view = table().schema(&object.gvk()).unwrap();
        assert_eq!(canonicalize(view, &mut object, Unknown::Warn).unwrap_err().to_string(), expected);
    }
}

#[test]
fn pointers_keep_their_zero_and_plain_fields_lose_it() {
    let stored = canonical(json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "a"},
        "spec": {"replicas": 0, "minReadySeconds": 0, "selector": {}, "template": {"spec": {"hostNetwork": false}}},
    }));
    assert_eq!(stored["spec"]["replicas"], 0);
    assert_eq!(stored["spec"].get("minReadySeconds"), None);
    assert_eq!(stored["spec"]["template"]["spec"]["containers"], Value::Null);
    assert_eq!(stored["status"], json!({"replicas": 0}));
}

#[test]
fn string_data_is_folded() {
    let stored = canonical(json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"},
        "data": {"a": "MQ==", "b": "Mg=="}, "stringData": {"b": "two"},
    }));
    assert_eq!(stored["data"], json!({"a": "MQ==", "b": "dHdv"}));
    assert_eq!(stored["type"], "Opaque");
    assert_eq!(stored.get("stringData"), None);
}

#[test]
fn schemas_within_crds_are_walked() {
    let stored = canonical(json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "foos.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": {"plural": "foos", "kind": "Foo"}, "versions": [{
            "name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "description": "",
                "properties": {"spec": {"type": "object", "additionalProperties": {"type": "string", "title": ""}, "default": {"a": null}}},
            }},
        }]},
    }));
    assert_eq!(
        stored["spec"]["names"],
        json!({"plural": "foos", "kind": "Foo", "singular": "foo", "listKind": "FooList"})
    );
    let schema = &stored["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    assert_eq!(
        schema,
        &json!({"type": "object", "properties": {"spec": {"type": "object", "additionalProperties": {"type": "string"}, "default": {"a": null}}}})
    );
    assert_eq!(stored["status"]["conditions"], json!([]));
}

#[test]
fn twice_is_as_once() {
    for file in ["pod", "statefulset"] {
        let text = std::fs::read_to_string(format!(
            "{}/tests/cases/canonical/{file}.json",
            env!("CARGO_MANIFEST_DIR")
        ));
        let Ok(text) = text else { continue };
        let once = canonical(serde_json::from_str(&text).unwrap());
        assert_eq!(canonical(once.clone()), once);
    }
}
