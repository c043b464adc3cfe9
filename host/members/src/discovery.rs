//! What an API server serves: kinds, their resources and verbs, from aggregated discovery, or from the
//! single documents where a server has nothing better.

use http::Request;
use kube::{Client, Error};
use serde_json::Value;
use std::collections::BTreeMap;
use windlass_api::cluster::{ApiEnablement, ApiResource};
use windlass_object::gvk::{Gvk, Gvr};

/// The form of discovery that gives everything in two documents.
const AGGREGATED: &str =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

/// One resource that is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedResource {
    /// Its address.
    pub gvr: Gvr,
    /// Its kind.
    pub kind: String,
    /// Whether its objects have namespaces.
    pub namespaced: bool,
    /// What can be done with it.
    pub verbs: Vec<String>,
    /// In its group's preferred version.
    pub preferred: bool,
    /// Whether there is a status subresource.
    pub has_status: bool,
}

impl ServedResource {
    /// Whether it has all these verbs.
    pub fn can(&self, verbs: &[&str]) -> bool {
        verbs.iter().all(|verb| self.verbs.iter().any(|held| held == verb))
    }

    /// Its kind with group and version.
    pub fn gvk(&self) -> Gvk {
        Gvk { group: self.gvr.group.clone(), version: self.gvr.version.clone(), kind: self.kind.clone() }
    }
}

/// Everything that a server serves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApiTable {
    resources: BTreeMap<Gvk, ServedResource>,
    /// Parts that could not be read, each in words. Empty: the table is complete.
    pub missing: Vec<String>,
}

impl ApiTable {
    /// The resource of a kind.
    pub fn resolve(&self, gvk: &Gvk) -> Option<&ServedResource> {
        self.resources.get(gvk)
    }

    /// All resources.
    pub fn iter(&self) -> impl Iterator<Item = &ServedResource> {
        self.resources.values()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.resources.len()
    }

    /// Whether nothing is served, or nothing could be read.
    pub fn is_empty(&self) -> bool {
        self.resources.is_empty()
    }

    /// As a Cluster's status lists it: by group-version, then by resource.
    pub fn enablements(&self) -> Vec<ApiEnablement> {
        let mut by_version: BTreeMap<String, Vec<ApiResource>> = BTreeMap::new();
        for served in self.iter() {
            let resources = by_version.entry(served.gvk().api_version()).or_default();
            resources.push(ApiResource { name: served.gvr.resource.clone(), kind: served.kind.clone() });
        }
        by_version
            .into_iter()
            .map(|(group_version, mut resources)| {
                resources.sort_by(|a, b| a.name.cmp(&b.name));
                ApiEnablement { group_version, resources }
            })
            .collect()
    }

    fn add(&mut self, served: ServedResource) {
        self.resources.insert(served.gvk(), served);
    }
}

/// Reads what a server serves.
///
/// # Errors
/// When it can't be asked at all; parts that fail are listed in [`ApiTable::missing`].
pub async fn discover(client: &Client) -> Result<ApiTable, Error> {
    let mut table = ApiTable::default();
    for root in ["/api", "/apis"] {
        let answer: Value = get(client, root, AGGREGATED).await?;
        if answer.get("kind").and_then(Value::as_str) == Some("APIGroupDiscoveryList") {
            aggregated(&mut table, &answer);
        } else {
            plain(&mut table, client, root, &answer).await;
        }
    }
    Ok(table)
}

async fn get(client: &Client, path: &str, accept: &str) -> Result<Value, Error> {
    let request = Request::get(path).header(http::header::ACCEPT, accept).body(Vec::new());
    client.request(request.map_err(Error::HttpError)?).await
}

fn list<'a>(value: &'a Value, field: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    value.get(field).and_then(Value::as_array).into_iter().flatten()
}

fn text(value: &Value, field: &str) -> String {
    value.get(field).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn texts(value: &Value, field: &str) -> Vec<String> {
    list(value, field).filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

fn aggregated(table: &mut ApiTable, document: &Value) {
    for group in list(document, "items") {
        let name = group.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
        for (at, version) in list(group, "versions").enumerate() {
            let number = text(version, "version");
            if text(version, "freshness") == "Stale" {
                table.missing.push(format!("{name}/{number}: its server does not answer"));
            }
            for resource in list(version, "resources") {
                let kind = resource.pointer("/responseKind/kind").and_then(Value::as_str).unwrap_or_default();
                table.add(ServedResource {
                    gvr: Gvr {
                        group: name.to_owned(),
                        version: number.clone(),
                        resource: text(resource, "resource"),
                    },
                    kind: kind.to_owned(),
                    namespaced: text(resource, "scope") == "Namespaced",
                    verbs: texts(resource, "verbs"),
                    preferred: at == 0,
                    has_status: list(resource, "subresources")
                        .any(|sub| text(sub, "subresource") == "status"),
                });
            }
        }
    }
}

/// One document per group-version.
async fn plain(table: &mut ApiTable, client: &Client, root: &str, answer: &Value) {
    let mut versions = Vec::new();
    for version in texts(answer, "versions") {
        versions.push((version, true));
    }
    for group in list(answer, "groups") {
        let preferred =
            group.get("preferredVersion").map(|version| text(version, "groupVersion")).unwrap_or_default();
        for version in list(group, "versions") {
            let name = text(version, "groupVersion");
            let first = name == preferred;
            versions.push((name, first));
        }
    }
    for (version, preferred) in versions {
        match get(client, &format!("{root}/{version}"), "application/json").await {
            Ok(document) => add_plain(table, &version, preferred, &document),
            Err(error) => table.missing.push(format!("{version}: {error}")),
        }
    }
}

fn add_plain(table: &mut ApiTable, group_version: &str, preferred: bool, document: &Value) {
    let all: Vec<&Value> = list(document, "resources").collect();
    for resource in all.iter().filter(|resource| !text(resource, "name").contains('/')) {
        let name = text(resource, "name");
        let gvk = Gvk::from_api_version(group_version, &text(resource, "kind"));
        let status = format!("{name}/status");
        table.add(ServedResource {
            gvr: Gvr { group: gvk.group, version: gvk.version, resource: name },
            kind: gvk.kind,
            namespaced: resource.get("namespaced").and_then(Value::as_bool).unwrap_or(false),
            verbs: texts(resource, "verbs"),
            preferred,
            has_status: all.iter().any(|other| text(other, "name") == status),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn both_forms_say_the_same() {
        let mut one = ApiTable::default();
        let resources = json!([{
            "resource": "deployments", "responseKind": {"kind": "Deployment"}, "scope": "Namespaced",
            "verbs": ["get", "list"], "subresources": [{"subresource": "status"}],
        }]);
        let versions = json!([{"version": "v1", "freshness": "Current", "resources": resources}]);
        aggregated(&mut one, &json!({"items": [{"metadata": {"name": "apps"}, "versions": versions}]}));
        let mut two = ApiTable::default();
        let document = json!({"resources": [
            {"name": "deployments", "kind": "Deployment", "namespaced": true, "verbs": ["get", "list"]},
            {"name": "deployments/status", "kind": "Deployment", "namespaced": true, "verbs": ["get"]},
        ]});
        add_plain(&mut two, "apps/v1", true, &document);
        assert_eq!(one, two);
        assert_eq!(one.enablements()[0].group_version, "apps/v1");
        let served = one.resolve(&Gvk::from_api_version("apps/v1", "Deployment")).unwrap();
        assert!(served.can(&["get", "list"]) && !served.can(&["watch"]));
    }
}
