//! OpenAPI v3: an index with hashes, and a document for each group-version. Those
//! of built-in groups are the same for all servers of a process and made when
//! first asked for; those of custom resources follow their definitions.

mod second;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use axum::body::Body;
use bytes::Bytes;
use http::header::{CACHE_CONTROL, ETAG, IF_NONE_MATCH, LOCATION, VARY};
use http::{HeaderValue, Response};
use serde_json::{Value, json};
use windlass_object::Gvk;
use windlass_schema::openapi;

use super::answer::{self, Form};
use super::discovery::{self, hash};
use super::documents::VERSION;
use super::info::query_pairs;
use crate::error::ApiError;
use crate::registry::{Resource, Snapshot};
use crate::server::Server;

type GroupVersion = (String, String);

/// Documents made so far.
#[derive(Debug, Default)]
pub struct Cache {
    documents: Mutex<BTreeMap<GroupVersion, Document>>,
    /// The document of v2, its hash, and the state of the table that it describes.
    second: Mutex<Option<(u64, Bytes, String)>>,
}

/// A document and the resources that it describes.
#[derive(Clone, Debug)]
struct Document {
    resources: Vec<Arc<Resource>>,
    bytes: Bytes,
    hash: String,
}

impl Document {
    fn make(resources: Vec<Arc<Resource>>) -> Self {
        let bytes = Bytes::from(describe(&resources).to_string());
        let hash = hash(&bytes);
        Self { resources, bytes, hash }
    }

    fn is_of(&self, resources: &[Arc<Resource>]) -> bool {
        self.resources.len() == resources.len()
            && self.resources.iter().zip(resources).all(|(one, other)| Arc::ptr_eq(one, other))
    }
}

impl Cache {
    fn get(&self, group: &str, version: &str, resources: Vec<Arc<Resource>>) -> (Bytes, String) {
        let key = (group.to_owned(), version.to_owned());
        if is_builtin(&resources) {
            return (shared(key, resources), builtin_hash(group, version));
        }
        let mut documents = self.documents.lock().unwrap_or_else(PoisonError::into_inner);
        match documents.get(&key) {
            Some(document) if document.is_of(&resources) => (document.bytes.clone(), document.hash.clone()),
            _ => {
                let document = Document::make(resources);
                let answer = (document.bytes.clone(), document.hash.clone());
                documents.insert(key, document);
                answer
            }
        }
    }

    /// The document of v2 for this state of the table.
    fn second(&self, snapshot: &Snapshot) -> (Bytes, String) {
        let mut second = self.second.lock().unwrap_or_else(PoisonError::into_inner);
        match second.as_ref() {
            Some((version, bytes, hash)) if *version == snapshot.version => (bytes.clone(), hash.clone()),
            _ => {
                let bytes = second::document(self, snapshot);
                let hash = hash(&bytes);
                *second = Some((snapshot.version, bytes.clone(), hash.clone()));
                (bytes, hash)
            }
        }
    }

    fn hash(&self, group: &str, version: &str, resources: Vec<Arc<Resource>>) -> String {
        if is_builtin(&resources) {
            builtin_hash(group, version)
        } else {
            self.get(group, version, resources).1
        }
    }
}

fn is_builtin(resources: &[Arc<Resource>]) -> bool {
    resources.iter().all(|resource| resource.builtin)
}

/// A built-in group's document, made once for the process.
fn shared(key: GroupVersion, resources: Vec<Arc<Resource>>) -> Bytes {
    static DOCUMENTS: OnceLock<Mutex<BTreeMap<GroupVersion, Bytes>>> = OnceLock::new();
    let mut documents = DOCUMENTS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    documents.entry(key).or_insert_with(|| Document::make(resources).bytes).clone()
}

/// Built-in groups change with the program only, so their documents need not be made to be hashed.
fn builtin_hash(group: &str, version: &str) -> String {
    hash(format!("{VERSION} {} {group}/{version}", env!("CARGO_PKG_VERSION")).as_bytes())
}

/// Answers `/openapi/…`.
pub(super) fn answer(
    server: &Server,
    path: &[&str],
    parts: &http::request::Parts,
    form: Form,
) -> Result<Response<Body>, ApiError> {
    let snapshot = server.registry().snapshot();
    let cache = &server.front().openapi;
    let (group, version) = match path {
        ["v2"] => return Ok(second::answer(cache, &snapshot, parts, form)),
        ["v3"] => return Ok(answer::document(200, &index(cache, &snapshot), form)),
        ["v3", "api", version] => ("", *version),
        ["v3", "apis", group, version] => (*group, *version),
        _ => return Err(ApiError::no_such_path()),
    };
    if !snapshot.has_version(group, version) {
        return Err(ApiError::no_such_path());
    }
    let resources: Vec<Arc<Resource>> = snapshot.of_version(group, version).cloned().collect();
    let (bytes, hash) = cache.get(group, version, resources);
    let asked =
        query_pairs(parts.uri.query()).find(|(key, _)| key == "hash").map(|(_, value)| value.into_owned());
    if asked.as_ref().is_some_and(|asked| *asked != hash) {
        let mut response = answer::respond(301, Body::empty());
        if let Ok(place) = HeaderValue::from_str(&address(group, version, &hash)) {
            response.headers_mut().insert(LOCATION, place);
        }
        return Ok(response);
    }
    let mut response = tagged(parts, bytes, &hash, form);
    let headers = response.headers_mut();
    headers.append(VARY, HeaderValue::from_static("Accept"));
    if asked.is_some() {
        // The address names its content, so it never changes.
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, immutable"));
    }
    Ok(response)
}

/// A document in JSON that is known by its hash: 304 if the client has it.
fn tagged(parts: &http::request::Parts, bytes: Bytes, hash: &str, form: Form) -> Response<Body> {
    let tag = format!("\"{hash}\"");
    let known = parts.headers.get(IF_NONE_MATCH).is_some_and(|given| given.as_bytes() == tag.as_bytes());
    let mut response = if known {
        answer::respond(304, Body::empty())
    } else {
        answer::bytes(200, bytes, Form { format: Default::default(), ..form })
    };
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        response.headers_mut().insert(ETAG, tag);
    }
    response
}

fn address(group: &str, version: &str, hash: &str) -> String {
    format!("/openapi/v3/{}?hash={hash}", place(group, version))
}

fn place(group: &str, version: &str) -> String {
    if group.is_empty() { format!("api/{version}") } else { format!("apis/{group}/{version}") }
}

fn index(cache: &Cache, snapshot: &Snapshot) -> Value {
    let mut paths = BTreeMap::new();
    for group in snapshot.groups() {
        for version in snapshot.versions(group) {
            let resources = snapshot.of_version(group, version).cloned().collect();
            let hash = cache.hash(group, version, resources);
            paths.insert(place(group, version), json!({"serverRelativeURL": address(group, version, &hash)}));
        }
    }
    json!({"paths": paths})
}

fn describe(resources: &[Arc<Resource>]) -> Value {
    let (group, version) = match resources.first() {
        Some(first) => (first.group.as_str(), first.version.as_str()),
        None => ("", ""),
    };
    let described: Vec<openapi::Resource<'_>> =
        resources.iter().map(|resource| described(resource)).collect();
    let mut document = openapi::v3(group, version, &described);
    if !is_builtin(resources)
        && let Some(paths) = document.get_mut("paths").and_then(Value::as_object_mut)
    {
        // kubectl apply sends what is offered here, and custom resources know no strategic merge.
        for path in paths.values_mut() {
            let contents = path.pointer_mut("/patch/requestBody/content").and_then(Value::as_object_mut);
            contents.map(|contents| contents.remove("application/strategic-merge-patch+json"));
        }
    }
    document
}

fn described(resource: &Resource) -> openapi::Resource<'_> {
    let gvk = Gvk::new(&resource.group, &resource.version, &resource.kind);
    let schema = resource.schema.view();
    let subresources = resource.subresources.iter().map(|sub| {
        let (group, version, kind) = discovery::body_kind(resource, sub);
        (sub.name.clone(), Gvk::new(group, version, kind), sub.verbs.clone())
    });
    openapi::Resource {
        definition: match &schema.node().name {
            Some(name) => name.to_string(),
            None => openapi::definition_name(&gvk),
        },
        resource: resource.resource.clone(),
        namespaced: resource.namespaced,
        verbs: resource.verbs.clone(),
        subresources: subresources.collect(),
        schema,
        gvk,
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    #[test]
    fn apply_finds_its_parameter() {
        let snapshot = fixture::registry().snapshot();
        let resources: Vec<_> = snapshot.of_version("example.io", "v1").cloned().collect();
        let document = describe(&resources);
        let paths = document["paths"].as_object().unwrap();
        let patch = &paths["/apis/example.io/v1/namespaces/{namespace}/things/{name}"]["patch"];
        assert_eq!(patch["x-kubernetes-group-version-kind"]["kind"], "Thing");
        let named =
            patch["parameters"].as_array().unwrap().iter().any(|one| one["name"] == "fieldValidation");
        assert!(named);
        let forms = patch["requestBody"]["content"].as_object().unwrap();
        assert!(forms.contains_key("application/merge-patch+json"));
        assert!(!forms.contains_key("application/strategic-merge-patch+json"));
        let ids: Vec<&str> = paths
            .values()
            .flat_map(|path| path.as_object().unwrap().values())
            .filter_map(|operation| operation["operationId"].as_str())
            .collect();
        let unique: std::collections::BTreeSet<&str> = ids.iter().copied().collect();
        assert_eq!(unique.len(), ids.len(), "{ids:?}");
    }

    #[test]
    fn a_changed_definition_changes_its_address_only() {
        let registry = fixture::registry();
        let cache = Cache::default();
        let before = index(&cache, &registry.snapshot());
        let mut thing = fixture::resource("example.io", "v1", "things", "Thing", false);
        thing.verbs.retain(|verb| verb != "delete");
        registry.replace(|one| one.group == "example.io" && one.version == "v1", [Arc::new(thing)]);
        let after = index(&cache, &registry.snapshot());
        for (place, same) in [
            ("api/v1", true),
            ("apis/apps/v1", true),
            ("apis/example.io/v1", false),
            ("apis/example.io/v1beta1", true),
        ] {
            assert_eq!(before["paths"][place] == after["paths"][place], same, "{place}");
        }
    }
}
