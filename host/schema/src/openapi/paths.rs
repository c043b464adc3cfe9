//! Paths and operations of resources. Clients look for the `fieldValidation` parameter, for the kinds that operations
//! concern, and for the forms of bodies.

use super::{Resource, Schemas, gvk_json};
use crate::builtin::META;
use serde_json::{Map, Value, json};
use windlass_object::Gvk;

type Object = Map<String, Value>;

const FORMS: [&str; 3] = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];
const STREAMS: [&str; 2] =
    ["application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch"];
const PATCHES: [&str; 4] = [
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
];

/// One operation to be written.
struct Operation<'a> {
    method: &'static str,
    action: &'static str,
    id: String,
    gvk: &'a Gvk,
    parameters: Vec<Value>,
    body: Option<Value>,
    answer: Value,
    codes: &'static [&'static str],
    tag: String,
}

/// The paths of a resource and its sub-resources.
pub(super) fn add(all: &mut Object, resource: &Resource<'_>, schemas: &mut Schemas) {
    let base = base(&resource.gvk.group, &resource.gvk.version);
    let scope = if resource.namespaced { "/namespaces/{namespace}" } else { "" };
    let collection = format!("{base}{scope}/{}", resource.resource);
    let object = format!("{collection}/{{name}}");
    let tag = tag(&resource.gvk.group, &resource.gvk.version);
    let word = if resource.namespaced { "Namespaced" } else { "" };
    let has = |verb: &str| resource.verbs.iter().any(|own| own == verb);
    let kind = &resource.gvk.kind;
    let own = reference(&resource.definition);
    let list = reference(&format!("{}List", resource.definition));
    let status = schemas.reference(&format!("{META}Status"));
    let options = schemas.reference(&format!("{META}DeleteOptions"));
    let id = |action: &str, of: &str| format!("{action}{}{word}{of}", camel(&tag));
    let make = |method, action, id, parameters, body, answer, codes| Operation {
        method,
        action,
        id,
        gvk: &resource.gvk,
        parameters,
        body,
        answer,
        codes,
        tag: tag.clone(),
    };

    let mut operations = Object::new();
    if has("list") {
        put(
            &mut operations,
            make("get", "list", id("list", kind), list_parameters(), None, list.clone(), &["200"]),
            &STREAMS,
        );
    }
    if has("create") {
        let body = Some(own.clone());
        put(
            &mut operations,
            make(
                "post",
                "post",
                id("create", kind),
                write_parameters(false),
                body,
                own.clone(),
                &["200", "201", "202"],
            ),
            &[],
        );
    }
    if has("deletecollection") {
        let mut parameters = delete_parameters();
        parameters.extend(list_parameters());
        let body = Some(options.clone());
        let id = format!("delete{}Collection{word}{kind}", camel(&tag));
        put(
            &mut operations,
            make("delete", "deletecollection", id, parameters, body, status.clone(), &["200"]),
            &[],
        );
    }
    insert(all, &collection, operations, resource.namespaced, false);
    if resource.namespaced && has("list") {
        let mut everywhere = Object::new();
        let id = format!("list{}{kind}ForAllNamespaces", camel(&tag));
        put(&mut everywhere, make("get", "list", id, list_parameters(), None, list, &["200"]), &STREAMS);
        insert(all, &format!("{base}/{}", resource.resource), everywhere, false, false);
    }

    let mut operations = Object::new();
    if has("get") {
        put(
            &mut operations,
            make("get", "get", id("read", kind), Vec::new(), None, own.clone(), &["200"]),
            &[],
        );
    }
    if has("update") {
        let body = Some(own.clone());
        put(
            &mut operations,
            make(
                "put",
                "put",
                id("replace", kind),
                write_parameters(false),
                body,
                own.clone(),
                &["200", "201"],
            ),
            &[],
        );
    }
    if has("patch") {
        let body = Some(schemas.reference(&format!("{META}Patch")));
        put(
            &mut operations,
            make(
                "patch",
                "patch",
                id("patch", kind),
                write_parameters(true),
                body,
                own.clone(),
                &["200", "201"],
            ),
            &[],
        );
    }
    if has("delete") {
        let body = Some(options);
        put(
            &mut operations,
            make("delete", "delete", id("delete", kind), delete_parameters(), body, status, &["200", "202"]),
            &[],
        );
    }
    insert(all, &object, operations, resource.namespaced, true);

    for (name, gvk, verbs) in &resource.subresources {
        let answer = if gvk == &resource.gvk { own.clone() } else { definition_of(gvk, schemas) };
        let mut operations = Object::new();
        let of = format!("{kind}{}", camel(name));
        for verb in verbs {
            let (method, action, word, body) = match verb.as_str() {
                "get" => ("get", "get", "read", false),
                "update" => ("put", "put", "replace", true),
                "patch" => ("patch", "patch", "patch", true),
                "create" => ("post", "post", "create", true),
                _ => continue,
            };
            let body = match (body, method) {
                (false, _) => None,
                (true, "patch") => Some(schemas.reference(&format!("{META}Patch"))),
                (true, _) => Some(answer.clone()),
            };
            let parameters = if body.is_some() { write_parameters(method == "patch") } else { Vec::new() };
            let operation = Operation {
                gvk,
                ..make(method, action, id(word, &of), parameters, body, answer.clone(), &["200", "201"])
            };
            put(&mut operations, operation, &[]);
        }
        insert(all, &format!("{object}/{name}"), operations, resource.namespaced, true);
    }
}

/// The path of the group-version itself.
pub(super) fn group(all: &mut Object, group: &str, version: &str, schemas: &mut Schemas) {
    let answer = schemas.reference(&format!("{META}APIResourceList"));
    let tag = tag(group, version);
    let operation = json!({"get": {
        "tags": [tag],
        "description": "get available resources",
        "operationId": format!("get{}APIResources", camel(&tag)),
        "responses": {"200": {"description": "OK", "content": content(&FORMS, &answer)}, "401": {"description": "Unauthorized"}},
    }});
    all.insert(format!("{}/", base(group, version)), operation);
}

fn definition_of(gvk: &Gvk, schemas: &mut Schemas) -> Value {
    let name = crate::builtin::table().schema(gvk).and_then(|view| view.node().name.clone());
    match name {
        Some(name) => schemas.reference(&name),
        None => json!({"type": "object"}),
    }
}

fn put(operations: &mut Object, operation: Operation<'_>, streams: &[&str]) {
    let forms: Vec<&str> = FORMS.iter().chain(streams).copied().collect();
    let mut responses = Object::new();
    for code in operation.codes {
        let word = match *code {
            "201" => "Created",
            "202" => "Accepted",
            _ => "OK",
        };
        responses.insert(
            (*code).into(),
            json!({"description": word, "content": content(&forms, &operation.answer)}),
        );
    }
    responses.insert("401".into(), json!({"description": "Unauthorized"}));
    let mut value = json!({
        "tags": [operation.tag],
        "description": format!("{} {}", operation.action, operation.gvk.kind),
        "operationId": operation.id,
        "responses": responses,
        "x-kubernetes-action": operation.action,
        "x-kubernetes-group-version-kind": gvk_json(operation.gvk),
    });
    if let Some(map) = value.as_object_mut() {
        if !operation.parameters.is_empty() {
            map.insert("parameters".into(), operation.parameters.into());
        }
        if let Some(body) = operation.body {
            let forms: &[&str] = match operation.method {
                "patch" => &PATCHES,
                "delete" => &FORMS[..1],
                _ => &["*/*"],
            };
            map.insert(
                "requestBody".into(),
                json!({"content": content(forms, &body), "required": operation.method != "delete"}),
            );
        }
    }
    operations.insert(operation.method.into(), value);
}

fn insert(all: &mut Object, path: &str, mut operations: Object, namespaced: bool, named: bool) {
    if operations.is_empty() {
        return;
    }
    let mut parameters = vec![query("pretty", "string")];
    for (wanted, name) in [(named, "name"), (namespaced, "namespace")] {
        if wanted {
            parameters.push(json!({"name": name, "in": "path", "required": true, "schema": {"type": "string", "uniqueItems": true}}));
        }
    }
    operations.insert("parameters".into(), parameters.into());
    all.insert(path.to_owned(), operations.into());
}

fn content(forms: &[&str], schema: &Value) -> Value {
    forms.iter().map(|form| ((*form).to_owned(), json!({"schema": schema}))).collect::<Object>().into()
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

fn query(name: &str, type_: &str) -> Value {
    json!({"name": name, "in": "query", "schema": {"type": type_, "uniqueItems": true}})
}

fn list_parameters() -> Vec<Value> {
    let text = ["continue", "fieldSelector", "labelSelector", "resourceVersion", "resourceVersionMatch"];
    let mut all: Vec<Value> = text.iter().map(|name| query(name, "string")).collect();
    all.extend(
        ["allowWatchBookmarks", "sendInitialEvents", "watch"].iter().map(|name| query(name, "boolean")),
    );
    all.extend(["limit", "timeoutSeconds"].iter().map(|name| query(name, "integer")));
    all
}

fn write_parameters(patch: bool) -> Vec<Value> {
    let mut all: Vec<Value> =
        ["dryRun", "fieldManager", "fieldValidation"].iter().map(|name| query(name, "string")).collect();
    if patch {
        all.push(query("force", "boolean"));
    }
    all
}

fn delete_parameters() -> Vec<Value> {
    let mut all: Vec<Value> =
        ["dryRun", "propagationPolicy"].iter().map(|name| query(name, "string")).collect();
    all.push(query("gracePeriodSeconds", "integer"));
    all.push(query("orphanDependents", "boolean"));
    all.push(query("ignoreStoreReadErrorWithClusterBreakingPotential", "boolean"));
    all
}

fn base(group: &str, version: &str) -> String {
    if group.is_empty() { format!("/api/{version}") } else { format!("/apis/{group}/{version}") }
}

fn tag(group: &str, version: &str) -> String {
    let group = if group.is_empty() { "core" } else { group.trim_end_matches(".k8s.io") };
    format!("{}_{version}", group.replace('.', "_"))
}

/// `apps_v1` → `AppsV1`.
fn camel(text: &str) -> String {
    let upper = |part: &str| {
        let mut chars = part.chars();
        chars.next().map(|first| first.to_ascii_uppercase().to_string() + chars.as_str()).unwrap_or_default()
    };
    text.split(['_', '-']).map(upper).collect()
}
