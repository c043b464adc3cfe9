//! The paths of an OpenAPI v3 document: which operations a resource has, with the
//! parameters by which clients know what the server can do.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use windlass_object::Gvk;
use windlass_schema::builtin;

use crate::registry::{Resource, Subresource};

/// Where schemas are in the document.
pub(super) const SCHEMAS: &str = "#/components/schemas/";
/// The package of the types that all groups share.
pub(super) const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.";

/// The name of a resource's own schema.
pub(super) fn schema_name(resource: &Resource) -> String {
    match &resource.schema.view().node().name {
        Some(name) => name.to_string(),
        None => {
            let reversed: Vec<&str> = resource.group.split('.').rev().collect();
            format!("{}.{}.{}", reversed.join("."), resource.version, resource.kind)
        }
    }
}

/// The name of the schema of a resource's lists.
pub(super) fn list_name(resource: &Resource) -> String {
    let own = schema_name(resource);
    match own.rsplit_once('.') {
        Some((package, _)) => format!("{package}.{}", resource.list_kind),
        None => resource.list_kind.clone(),
    }
}

/// The name of the schema of a subresource's body.
pub(super) fn body_name(resource: &Resource, sub: &Subresource) -> String {
    if sub.kind.is_empty() || sub.kind == resource.kind {
        return schema_name(resource);
    }
    let gvk = Gvk { group: sub.group.clone(), version: sub.version.clone(), kind: sub.kind.clone() };
    match builtin::table().schema(&gvk).and_then(|view| view.node().name.clone()) {
        Some(name) => name.to_string(),
        None => schema_name(resource),
    }
}

/// Names of schemas that the paths of a resource speak of, beside its own and its list's.
pub(super) fn referred(resource: &Resource) -> Vec<String> {
    let mut names: Vec<String> = resource.subresources.iter().map(|sub| body_name(resource, sub)).collect();
    names.extend(["Patch", "Status", "DeleteOptions"].map(|name| format!("{META}{name}")));
    names
}

/// Adds the paths of a resource.
pub(super) fn add(paths: &mut BTreeMap<String, Value>, resource: &Resource) {
    let root = if resource.group.is_empty() {
        format!("/api/{}", resource.version)
    } else {
        format!("/apis/{}/{}", resource.group, resource.version)
    };
    let plural = &resource.resource;
    let here = if resource.namespaced { format!("{root}/namespaces/{{namespace}}") } else { root.clone() };
    let writer = Writer { resource, scope: if resource.namespaced { "Namespaced" } else { "" } };
    let place = if resource.namespaced { vec![path_parameter("namespace")] } else { Vec::new() };

    let many = [("get", "list"), ("post", "create"), ("delete", "deletecollection")];
    writer.put(paths, format!("{here}/{plural}"), &place, &many);
    if resource.namespaced && resource.allows("list") {
        let everywhere = Writer { scope: "ForAllNamespaces", ..writer };
        everywhere.put(paths, format!("{root}/{plural}"), &[], &[("get", "list")]);
    }
    let mut item = vec![path_parameter("name")];
    item.extend(place);
    let one = [("get", "get"), ("put", "update"), ("patch", "patch"), ("delete", "delete")];
    writer.put(paths, format!("{here}/{plural}/{{name}}"), &item, &one);
    for sub in &resource.subresources {
        let path = format!("{here}/{plural}/{{name}}/{}", sub.name);
        let operations: Map<String, Value> =
            [("get", "get"), ("post", "create"), ("put", "update"), ("patch", "patch")]
                .into_iter()
                .filter(|(_, verb)| sub.verbs.iter().any(|own| own == verb))
                .map(|(method, verb)| (method.to_owned(), writer.operation(verb, Some(sub))))
                .collect();
        insert(paths, path, operations, &item);
    }
}

fn insert(
    paths: &mut BTreeMap<String, Value>,
    path: String,
    mut operations: Map<String, Value>,
    place: &[Value],
) {
    if operations.is_empty() {
        return;
    }
    let mut parameters = place.to_vec();
    parameters.push(query_parameter("pretty", "string"));
    operations.insert("parameters".into(), Value::Array(parameters));
    paths.insert(path, Value::Object(operations));
}

#[derive(Clone, Copy)]
struct Writer<'a> {
    resource: &'a Resource,
    scope: &'static str,
}

impl Writer<'_> {
    fn put(self, paths: &mut BTreeMap<String, Value>, path: String, place: &[Value], verbs: &[(&str, &str)]) {
        let operations = verbs
            .iter()
            .filter(|(_, verb)| self.resource.allows(verb))
            .map(|(method, verb)| ((*method).to_owned(), self.operation(verb, None)))
            .collect();
        insert(paths, path, operations, place);
    }

    fn operation(self, verb: &str, sub: Option<&Subresource>) -> Value {
        let resource = self.resource;
        let own = sub.map_or_else(|| schema_name(resource), |sub| body_name(resource, sub));
        let answer = match verb {
            "list" => list_name(resource),
            "delete" | "deletecollection" => format!("{META}Status"),
            _ => own.clone(),
        };
        let gvk = match sub {
            Some(sub) if !sub.kind.is_empty() => {
                json!({"group": sub.group, "version": sub.version, "kind": sub.kind})
            }
            _ => json!({"group": resource.group, "version": resource.version, "kind": resource.kind}),
        };
        let (action, word) = match verb {
            "get" => ("get", "read"),
            "create" => ("post", "create"),
            "update" => ("put", "replace"),
            "deletecollection" => ("deletecollection", "delete"),
            other => (other, other),
        };
        let group = group_word(&resource.group);
        let collection = if verb == "deletecollection" { "Collection" } else { "" };
        let (before, after) =
            if self.scope == "ForAllNamespaces" { ("", self.scope) } else { (self.scope, "") };
        let id = format!(
            "{word}{group}{}{collection}{before}{}{}{after}",
            capital(&resource.version),
            resource.kind,
            sub.map(|sub| capital(&sub.name)).unwrap_or_default(),
        );
        let mut operation = json!({
            "tags": [format!("{}_{}", lower_first(&group), resource.version)],
            "description": sentence(word, &resource.kind, sub),
            "operationId": id,
            "parameters": parameters(verb),
            "responses": {
                "200": {"description": "OK", "content": contents(&["application/json", "application/yaml"], &answer)},
                "401": {"description": "Unauthorized"},
            },
            "x-kubernetes-action": action,
            "x-kubernetes-group-version-kind": gvk,
        });
        let body = match verb {
            "create" | "update" => Some(contents(&["*/*"], &own)),
            "patch" => Some(contents(patch_types(resource), &format!("{META}Patch"))),
            "delete" | "deletecollection" => Some(contents(&["*/*"], &format!("{META}DeleteOptions"))),
            _ => None,
        };
        if let (Some(content), Some(operation)) = (body, operation.as_object_mut()) {
            let required = !matches!(verb, "delete" | "deletecollection");
            let mut body = json!({"content": content});
            if let (true, Some(body)) = (required, body.as_object_mut()) {
                body.insert("required".into(), Value::Bool(true));
            }
            operation.insert("requestBody".into(), body);
        }
        operation
    }
}

fn patch_types(resource: &Resource) -> &'static [&'static str] {
    const ALL: [&str; 4] = [
        "application/apply-patch+yaml",
        "application/json-patch+json",
        "application/merge-patch+json",
        "application/strategic-merge-patch+json",
    ];
    if resource.builtin { &ALL } else { ALL.get(..3).unwrap_or(&ALL) }
}

fn contents(types: &[&str], schema: &str) -> Value {
    let reference = json!({"schema": {"$ref": format!("{SCHEMAS}{schema}")}});
    Value::Object(types.iter().map(|media| ((*media).to_owned(), reference.clone())).collect())
}

fn parameters(verb: &str) -> Value {
    const SELECTION: [(&str, &str); 10] = [
        ("allowWatchBookmarks", "boolean"),
        ("continue", "string"),
        ("fieldSelector", "string"),
        ("labelSelector", "string"),
        ("limit", "integer"),
        ("resourceVersion", "string"),
        ("resourceVersionMatch", "string"),
        ("sendInitialEvents", "boolean"),
        ("timeoutSeconds", "integer"),
        ("watch", "boolean"),
    ];
    const WRITING: [(&str, &str); 4] = [
        ("dryRun", "string"),
        ("fieldManager", "string"),
        ("fieldValidation", "string"),
        ("force", "boolean"),
    ];
    const DELETION: [(&str, &str); 4] = [
        ("dryRun", "string"),
        ("gracePeriodSeconds", "integer"),
        ("orphanDependents", "boolean"),
        ("propagationPolicy", "string"),
    ];
    let chosen: Vec<(&str, &str)> = match verb {
        "list" => SELECTION.to_vec(),
        "create" | "update" => WRITING.iter().take(3).copied().collect(),
        "patch" => WRITING.to_vec(),
        "delete" => DELETION.to_vec(),
        "deletecollection" => {
            let selection = SELECTION
                .iter()
                .filter(|(name, _)| !matches!(*name, "allowWatchBookmarks" | "watch" | "timeoutSeconds"));
            DELETION.iter().chain(selection).copied().collect()
        }
        _ => Vec::new(),
    };
    Value::Array(chosen.into_iter().map(|(name, kind)| query_parameter(name, kind)).collect())
}

fn query_parameter(name: &str, kind: &str) -> Value {
    json!({"name": name, "in": "query", "schema": {"type": kind, "uniqueItems": true}})
}

fn path_parameter(name: &str) -> Value {
    json!({"name": name, "in": "path", "required": true, "schema": {"type": "string", "uniqueItems": true}})
}

fn sentence(word: &str, kind: &str, sub: Option<&Subresource>) -> String {
    match sub {
        Some(sub) => format!("{word} {} of the specified {kind}", sub.name),
        None => format!("{word} {kind}"),
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}

/// `rbac.authorization.k8s.io` → `RbacAuthorization`, the core group → `Core`.
fn group_word(group: &str) -> String {
    if group.is_empty() {
        return "Core".to_owned();
    }
    group.trim_end_matches(".k8s.io").split(['.', '-']).map(capital).collect()
}
