//! OpenAPI v3 documents of group-versions: what `kubectl apply`, `explain`, `diff` and typed client generators read.
//! Built from the same schemas that requests are checked by. Costly (milliseconds to tens of them): build lazily, keep.

mod describe;
mod paths;
mod schema;
#[cfg(test)]
mod tests;

use crate::arena::View;
use crate::builtin::{BuiltinKind, table};
use serde_json::{Map, Value, json};
use windlass_object::Gvk;

pub use describe::Descriptions;
pub use schema::Schemas;

/// One resource of the group-version.
#[derive(Clone, Debug)]
pub struct Resource<'a> {
    /// Its kind.
    pub gvk: Gvk,
    /// Plural, lower case.
    pub resource: String,
    /// Whether objects live in namespaces.
    pub namespaced: bool,
    /// As discovery lists them.
    pub verbs: Vec<String>,
    /// Names and kinds of sub-resources, and their verbs.
    pub subresources: Vec<(String, Gvk, Vec<String>)>,
    /// The schema of an object.
    pub schema: View<'a>,
    /// The name of the object's definition in the document.
    pub definition: String,
}

impl Resource<'static> {
    /// A built-in kind.
    pub fn builtin(kind: &BuiltinKind) -> Self {
        let schema = table().arena().view(kind.definition);
        let words = |verbs: &[&str]| verbs.iter().map(|verb| (*verb).to_owned()).collect();
        Resource {
            gvk: kind.gvk(),
            resource: kind.resource.clone(),
            namespaced: kind.namespaced,
            verbs: words(&kind.verbs),
            subresources: kind
                .subresources
                .iter()
                .map(|sub| {
                    (sub.name.clone(), Gvk::new(&sub.group, &sub.version, &sub.kind), words(sub.verbs))
                })
                .collect(),
            definition: schema.node().name.as_deref().unwrap_or_default().to_owned(),
            schema,
        }
    }
}

impl<'a> Resource<'a> {
    /// A custom resource. `subresources` are those of the version: `status`, `scale`.
    pub fn custom(
        gvk: Gvk,
        resource: &str,
        namespaced: bool,
        subresources: &[&str],
        schema: View<'a>,
    ) -> Self {
        let words = |verbs: &[&str]| -> Vec<String> { verbs.iter().map(|verb| (*verb).to_owned()).collect() };
        let subresources = subresources
            .iter()
            .map(|name| {
                let kind =
                    if *name == "scale" { Gvk::new("autoscaling", "v1", "Scale") } else { gvk.clone() };
                ((*name).to_owned(), kind, words(&["get", "patch", "update"]))
            })
            .collect();
        Resource {
            definition: definition_name(&gvk),
            gvk,
            resource: resource.to_owned(),
            namespaced,
            verbs: words(&[
                "create",
                "delete",
                "deletecollection",
                "get",
                "list",
                "patch",
                "update",
                "watch",
            ]),
            subresources,
            schema,
        }
    }
}

/// `com.example.stable.v1.CronTab`: the group's parts backwards, then version and kind.
pub fn definition_name(gvk: &Gvk) -> String {
    let mut parts: Vec<&str> = gvk.group.split('.').filter(|part| !part.is_empty()).collect();
    parts.reverse();
    parts.extend([gvk.version.as_str(), gvk.kind.as_str()]);
    parts.join(".")
}

/// The document of one group-version.
pub fn v3(group: &str, version: &str, resources: &[Resource<'_>]) -> Value {
    let mut schemas = Schemas::new(Descriptions::builtin());
    let mut all = Map::new();
    for resource in resources {
        schemas.root(resource);
        paths::add(&mut all, resource, &mut schemas);
    }
    paths::group(&mut all, group, version, &mut schemas);
    json!({
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": VERSION},
        "paths": all,
        "components": {
            "schemas": schemas.finish(),
            "securitySchemes": {"BearerToken": {
                "type": "apiKey", "name": "authorization", "in": "header", "description": "Bearer token",
            }},
        },
    })
}

/// What the documents say they describe.
const VERSION: &str = "v1.36.0";

/// `x-kubernetes-group-version-kind` of one kind.
fn gvk_json(gvk: &Gvk) -> Value {
    json!({"group": gvk.group, "version": gvk.version, "kind": gvk.kind})
}
