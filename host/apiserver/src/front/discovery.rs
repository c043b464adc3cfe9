//! Discovery: which groups, versions and resources are served, one document for
//! each place or everything in one, made once for each state of the registry.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Body;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY};
use http::{HeaderMap, HeaderValue, Response};
use serde_json::{Map, Value, json};

use super::answer::{self, Form};
use super::negotiate::{self, Discovery};
use crate::error::ApiError;
use crate::registry::{Resource, Snapshot, Subresource};

/// An encoded document and its tag.
#[derive(Clone, Debug)]
struct Document {
    bytes: Bytes,
    tag: HeaderValue,
}

/// Documents of one state of the registry.
#[derive(Debug, Default)]
pub struct Cache(Mutex<(u64, BTreeMap<String, Document>)>);

impl Cache {
    fn get(&self, version: u64, key: &str, make: impl FnOnce() -> Value) -> Document {
        let mut cache = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if cache.0 != version {
            *cache = (version, BTreeMap::new());
        }
        let make = || {
            let bytes = Bytes::from(make().to_string());
            let tag = HeaderValue::from_str(&format!("\"{}\"", hash(&bytes)));
            Document { bytes, tag: tag.unwrap_or_else(|_| HeaderValue::from_static("\"\"")) }
        };
        cache.1.entry(key.to_owned()).or_insert_with(make).clone()
    }
}

/// A short name for content, in upper-case hexadecimal digits.
pub fn hash(content: &[u8]) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, content);
    digest.as_ref().iter().map(|byte| format!("{byte:02X}")).collect()
}

/// Answers `/api`, `/apis` and what is right below; `None`: no such document.
pub fn answer(
    cache: &Cache,
    snapshot: &Arc<Snapshot>,
    path: &[&str],
    headers: &HeaderMap,
    form: Form,
) -> Option<Result<Response<Body>, ApiError>> {
    let accept = headers.get(http::header::ACCEPT).and_then(|value| value.to_str().ok());
    let aggregated = match path {
        ["api"] | ["apis"] => match negotiate::discovery(accept) {
            Ok(Discovery::Aggregated(version)) => Some(version),
            Ok(Discovery::Plain) => None,
            Err(error) => return Some(Err(error)),
        },
        _ => None,
    };
    let make: Box<dyn FnOnce() -> Value> = match (path, aggregated) {
        ([root], Some(version)) => {
            let core = *root == "api";
            Box::new(move || aggregate(snapshot, core, version))
        }
        (["api"], None) => Box::new(core_versions),
        (["apis"], None) => Box::new(|| groups(snapshot)),
        (["apis", name], None) if !name.is_empty() && !snapshot.versions(name).is_empty() => {
            let name = (*name).to_owned();
            Box::new(move || group(snapshot, &name, true))
        }
        (["api", version], None) if snapshot.has_version("", version) => {
            let version = (*version).to_owned();
            Box::new(move || resources(snapshot, "", &version))
        }
        (["apis", name, version], None) if !name.is_empty() && snapshot.has_version(name, version) => {
            let (name, version) = ((*name).to_owned(), (*version).to_owned());
            Box::new(move || resources(snapshot, &name, &version))
        }
        _ => return None,
    };
    let key = format!("{}#{}", path.join("/"), aggregated.unwrap_or_default());
    let document = cache.get(snapshot.version, &key, make);
    Some(Ok(match aggregated {
        Some(version) => tagged(&document, version, headers, form),
        None => match form.format {
            negotiate::Format::Json if !form.pretty => answer::bytes(200, document.bytes, form),
            _ => {
                let value: Value = serde_json::from_slice(&document.bytes).unwrap_or_default();
                answer::document(200, &value, form)
            }
        },
    }))
}

/// An aggregated document: 304 if the client has it. The Content-Type must name
/// group, version and kind, or client-go takes it for the plain form.
fn tagged(document: &Document, version: &str, headers: &HeaderMap, form: Form) -> Response<Body> {
    let known = headers.get(IF_NONE_MATCH).is_some_and(|tags| {
        tags.to_str()
            .is_ok_and(|tags| tags.split(',').any(|tag| tag.trim().as_bytes() == document.tag.as_bytes()))
    });
    let mut response = if known {
        answer::respond(304, Body::empty())
    } else {
        answer::bytes(200, document.bytes.clone(), form)
    };
    let kind = match version {
        "v2beta1" => "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList",
        _ => "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
    };
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(ETAG, document.tag.clone());
    headers.append(VARY, HeaderValue::from_static("Accept"));
    response
}

fn core_versions() -> Value {
    json!({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []})
}

fn groups(snapshot: &Snapshot) -> Value {
    let names = snapshot.groups().into_iter().filter(|name| !name.is_empty());
    json!({
        "kind": "APIGroupList", "apiVersion": "v1",
        "groups": names.map(|name| group(snapshot, name, false)).collect::<Vec<_>>(),
    })
}

fn group(snapshot: &Snapshot, name: &str, alone: bool) -> Value {
    let versions: Vec<Value> = snapshot
        .versions(name)
        .iter()
        .map(|version| json!({"groupVersion": format!("{name}/{version}"), "version": version}))
        .collect();
    let mut group = json!({
        "name": name, "preferredVersion": versions.first().cloned().unwrap_or_default(), "versions": versions,
    });
    if let (true, Some(group)) = (alone, group.as_object_mut()) {
        group.insert("kind".into(), "APIGroup".into());
        group.insert("apiVersion".into(), "v1".into());
    }
    group
}

fn resources(snapshot: &Snapshot, group: &str, version: &str) -> Value {
    let mut list = Vec::new();
    for resource in snapshot.of_version(group, version) {
        let mut entry = json!({
            "name": resource.resource, "singularName": resource.singular, "namespaced": resource.namespaced,
            "kind": resource.kind, "verbs": resource.verbs,
        });
        if let Some(entry) = entry.as_object_mut() {
            put_names(entry, resource);
            if !resource.storage_hash.is_empty() {
                entry.insert("storageVersionHash".into(), resource.storage_hash.as_str().into());
            }
        }
        list.push(entry);
        for sub in &resource.subresources {
            let (sub_group, sub_version, kind) = body_kind(resource, sub);
            let mut entry = json!({
                "name": format!("{}/{}", resource.resource, sub.name), "singularName": "",
                "namespaced": resource.namespaced, "kind": kind, "verbs": sub.verbs,
            });
            if let Some(entry) = entry.as_object_mut()
                && (sub_group, sub_version) != (group, version)
            {
                entry.insert("group".into(), sub_group.into());
                entry.insert("version".into(), sub_version.into());
            }
            list.push(entry);
        }
    }
    let group_version = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version, "resources": list})
}

fn aggregate(snapshot: &Snapshot, core: bool, version: &str) -> Value {
    let names = snapshot.groups().into_iter().filter(|name| name.is_empty() == core);
    let items: Vec<Value> = names
        .map(|name| {
            let versions: Vec<Value> = snapshot
                .versions(name)
                .iter()
                .map(|version| {
                    let resources: Vec<Value> =
                        snapshot.of_version(name, version).map(|one| aggregated(one)).collect();
                    json!({"version": version, "resources": resources, "freshness": "Current"})
                })
                .collect();
            let metadata = if name.is_empty() { json!({}) } else { json!({"name": name}) };
            json!({"metadata": metadata, "versions": versions})
        })
        .collect();
    json!({
        "kind": "APIGroupDiscoveryList", "apiVersion": format!("apidiscovery.k8s.io/{version}"),
        "metadata": {}, "items": items,
    })
}

fn aggregated(resource: &Resource) -> Value {
    let mut entry = json!({
        "resource": resource.resource,
        "responseKind": {"group": resource.group, "version": resource.version, "kind": resource.kind},
        "scope": if resource.namespaced { "Namespaced" } else { "Cluster" },
        "singularResource": resource.singular,
        "verbs": resource.verbs,
    });
    if let Some(entry) = entry.as_object_mut() {
        put_names(entry, resource);
        if !resource.subresources.is_empty() {
            let subresources: Vec<Value> = resource
                .subresources
                .iter()
                .map(|sub| {
                    let (group, version, kind) = body_kind(resource, sub);
                    json!({
                        "subresource": sub.name, "verbs": sub.verbs,
                        "responseKind": {"group": group, "version": version, "kind": kind},
                    })
                })
                .collect();
            entry.insert("subresources".into(), Value::Array(subresources));
        }
    }
    entry
}

fn put_names(entry: &mut Map<String, Value>, resource: &Resource) {
    if !resource.short_names.is_empty() {
        entry.insert("shortNames".into(), json!(resource.short_names));
    }
    if !resource.categories.is_empty() {
        entry.insert("categories".into(), json!(resource.categories));
    }
}

/// Group, version and kind of a subresource's body: its own where it names a kind, else the resource's.
pub(super) fn body_kind<'a>(resource: &'a Resource, sub: &'a Subresource) -> (&'a str, &'a str, &'a str) {
    if sub.kind.is_empty() {
        (&resource.group, &resource.version, &resource.kind)
    } else if sub.version.is_empty() {
        (&resource.group, &resource.version, &sub.kind)
    } else {
        (&sub.group, &sub.version, &sub.kind)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;
    use http::header::ACCEPT;

    const AGGREGATED: &str =
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

    async fn ask(
        snapshot: &Arc<Snapshot>,
        path: &str,
        accept: &str,
        tag: &str,
    ) -> Option<(Response<()>, Value)> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, accept.parse().unwrap());
        if !tag.is_empty() {
            headers.insert(IF_NONE_MATCH, tag.parse().unwrap());
        }
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let response = answer(&Cache::default(), snapshot, &parts, &headers, Form::default())?.unwrap();
        let (parts, body) = response.into_parts();
        let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
        Some((Response::from_parts(parts, ()), serde_json::from_slice(&body).unwrap_or_default()))
    }

    #[tokio::test]
    async fn documents_are_as_clients_expect_them() {
        let snapshot = fixture::registry().snapshot();
        let cases: Vec<Value> =
            serde_json::from_str(include_str!("../../tests/cases/discovery.json")).unwrap();
        for case in &cases {
            let path = case["path"].as_str().unwrap();
            let accept = if case["aggregated"] == true { AGGREGATED } else { "application/json" };
            let Some((_, got)) = ask(&snapshot, path, accept, "").await else {
                assert!(case["at"].is_null(), "{path} is not served");
                continue;
            };
            for (pointer, expected) in case["at"].as_object().unwrap() {
                assert_eq!(
                    got.pointer(pointer).unwrap_or(&Value::Null),
                    expected,
                    "{path} {pointer} in {got:#}"
                );
            }
        }
    }

    #[tokio::test]
    async fn aggregated_documents_are_tagged() {
        let snapshot = fixture::registry().snapshot();
        let (first, _) = ask(&snapshot, "/apis", AGGREGATED, "").await.unwrap();
        let kind = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
        assert_eq!(first.headers()[CONTENT_TYPE], kind);
        let tag = first.headers()[ETAG].to_str().unwrap();
        let (again, body) = ask(&snapshot, "/apis", AGGREGATED, tag).await.unwrap();
        assert_eq!((again.status().as_u16(), body), (304, Value::Null));
    }
}
