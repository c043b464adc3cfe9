//! The table of served resources: built-in kinds and CRDs alike. Readers take an
//! immutable snapshot; a change swaps in a new one, so that discovery, OpenAPI and
//! routing always agree.

use crate::builtin;
use crate::strategy::Facts;
use arc_swap::ArcSwap;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use tokio::sync::watch;
use windlass_schema::arena::{Arena, NodeId, View};

/// A schema that may live for ever (built-in) or as long as its CRD version.
#[derive(Clone, Debug)]
pub enum ArenaRef {
    /// The built-in table's.
    Static(&'static Arena),
    /// A CRD version's.
    Shared(Arc<Arena>),
}

/// The schema of one kind.
#[derive(Clone, Debug)]
pub struct Schema {
    /// Where the nodes live.
    pub arena: ArenaRef,
    /// The kind's own node.
    pub root: NodeId,
}

impl Schema {
    /// A cursor on the kind's own node.
    pub fn view(&self) -> View<'_> {
        match &self.arena {
            ArenaRef::Static(arena) => arena.view(self.root),
            ArenaRef::Shared(arena) => arena.view(self.root),
        }
    }
}

/// Where a Table's columns come from.
#[derive(Clone, Debug)]
pub enum Columns {
    /// The generated table of built-in kinds.
    BuiltIn,
    /// `additionalPrinterColumns` of a CRD version, as written there.
    Custom(Arc<Vec<Value>>),
}

/// A subresource and what it takes and gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subresource {
    /// `status`, `scale`, `binding`, `eviction`, `finalize`, `token`, …
    pub name: String,
    /// Group, version and kind of its body, where they differ from the resource's.
    pub group: String,
    /// See `group`.
    pub version: String,
    /// See `group`.
    pub kind: String,
    /// What may be done with it.
    pub verbs: Vec<String>,
}

/// The paths of a scale subresource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScalePaths {
    /// `.spec.replicas` as keys.
    pub spec_replicas: Vec<String>,
    /// `.status.replicas` as keys.
    pub status_replicas: Vec<String>,
    /// Where `status.selector` comes from, if anywhere.
    pub selector: Option<Vec<String>>,
}

/// One version of one resource, as it is served.
#[derive(Clone, Debug)]
pub struct Resource {
    /// API group; empty for the core group.
    pub group: String,
    /// Version.
    pub version: String,
    /// Plural name, as in the path.
    pub resource: String,
    /// Kind.
    pub kind: String,
    /// Kind of its lists.
    pub list_kind: String,
    /// Singular name.
    pub singular: String,
    /// Short names.
    pub short_names: Vec<String>,
    /// Categories (`all`, …).
    pub categories: Vec<String>,
    /// Lives in namespaces.
    pub namespaced: bool,
    /// Verbs of the main resource.
    pub verbs: Vec<String>,
    /// Subresources.
    pub subresources: Vec<Subresource>,
    /// Its schema.
    pub schema: Schema,
    /// Built in, not from a CRD.
    pub builtin: bool,
    /// The prefix of its keys in the store, with a slash at the end. Versions of one kind share it.
    pub prefix: String,
    /// The `apiVersion` that is stored.
    pub storage_api_version: String,
    /// The version's own `apiVersion`.
    pub api_version: String,
    /// Table columns.
    pub columns: Columns,
    /// Paths of the scale subresource, if there is one.
    pub scale: Option<ScalePaths>,
    /// Field selectors beside `metadata.name` and `metadata.namespace`, as key and path.
    pub selectable: Vec<(String, Vec<String>)>,
    /// Deprecation warning of the version, if any.
    pub deprecation: Option<String>,
    /// The uid of the CRD behind it; empty for built-in kinds.
    pub crd_uid: String,
    /// `storageVersionHash` of discovery.
    pub storage_hash: String,
    /// Stored bytes are not what this version shows: they are converted or defaulted on reading.
    pub read_through: bool,
    /// The CRD behind it is being deleted: nothing new is taken.
    pub terminating: bool,
    /// Names one life of a CRD version; watches end when it changes. Empty for built-in kinds.
    pub incarnation: String,
    /// How its objects are written.
    pub facts: Facts,
}

impl Resource {
    /// `deployments.apps`, or `pods` in the core group.
    pub fn qualified(&self) -> String {
        if self.group.is_empty() {
            self.resource.clone()
        } else {
            format!("{}.{}", self.resource, self.group)
        }
    }

    /// An error target of this resource.
    pub fn target(&self, name: &str) -> crate::error::Target {
        crate::error::Target::new(&self.group, &self.resource, name)
    }

    /// An error target of this kind (what `Invalid` names).
    pub fn kind_target(&self, name: &str) -> crate::error::Target {
        crate::error::Target::new(&self.group, &self.kind, name)
    }

    /// The subresource of this name.
    pub fn subresource(&self, name: &str) -> Option<&Subresource> {
        self.subresources.iter().find(|s| s.name == name)
    }

    /// Whether the main resource has this verb.
    pub fn allows(&self, verb: &str) -> bool {
        self.verbs.iter().any(|v| v == verb)
    }

    /// Whether it has a status subresource.
    pub fn has_status(&self) -> bool {
        self.subresource("status").is_some()
    }

    /// The key of an object in the store.
    pub fn key(&self, namespace: &str, name: &str) -> String {
        if self.namespaced {
            format!("{}{namespace}/{name}", self.prefix)
        } else {
            format!("{}{name}", self.prefix)
        }
    }

    /// The prefix of all keys, or of those in one namespace (empty: all).
    pub fn range(&self, namespace: &str) -> String {
        if self.namespaced && !namespace.is_empty() {
            format!("{}{namespace}/", self.prefix)
        } else {
            self.prefix.clone()
        }
    }
}

/// One state of the table.
#[derive(Debug, Default)]
pub struct Snapshot {
    /// Counts changes; an ETag for documents derived from the table.
    pub version: u64,
    /// All resources by (group, version, plural).
    resources: BTreeMap<(String, String, String), Arc<Resource>>,
    /// Group → versions, preferred first.
    groups: BTreeMap<String, Vec<String>>,
}

impl Snapshot {
    /// The resource served at this place.
    pub fn get(&self, group: &str, version: &str, resource: &str) -> Option<&Arc<Resource>> {
        self.resources.get(&(group.to_owned(), version.to_owned(), resource.to_owned()))
    }

    /// The resource of this kind.
    pub fn by_kind(&self, group: &str, version: &str, kind: &str) -> Option<&Arc<Resource>> {
        self.all().find(|r| r.group == group && r.version == version && r.kind == kind)
    }

    /// The resource, namespace and name behind a key of the store; of several versions the stored one.
    pub fn of_key<'k>(&self, key: &'k str) -> Option<(Arc<Resource>, &'k str, &'k str)> {
        let mut parts = key.strip_prefix('/')?.splitn(3, '/');
        let (group, plural, path) = (parts.next()?, parts.next()?, parts.next()?);
        let group = if group == "core" { "" } else { group };
        let mut found: Option<&Arc<Resource>> = None;
        for version in self.versions(group) {
            if let Some(resource) = self.get(group, version, plural)
                && (found.is_none() || resource.api_version == resource.storage_api_version)
            {
                found = Some(resource);
            }
        }
        let resource = found?.clone();
        let (namespace, name) = if resource.namespaced { path.split_once('/')? } else { ("", path) };
        Some((resource, namespace, name))
    }

    /// The resource of a kind as an owner reference names it: in that version, else in any of the group.
    pub fn of_owner(&self, group: &str, version: &str, kind: &str) -> Option<&Arc<Resource>> {
        self.by_kind(group, version, kind)
            .or_else(|| self.versions(group).iter().find_map(|other| self.by_kind(group, other, kind)))
    }

    /// All resources of a group-version.
    pub fn of_version<'a>(
        &'a self,
        group: &'a str,
        version: &'a str,
    ) -> impl Iterator<Item = &'a Arc<Resource>> + 'a {
        let start = (group.to_owned(), version.to_owned(), String::new());
        self.resources
            .range(start..)
            .take_while(move |(key, _)| key.0 == group && key.1 == version)
            .map(|(_, resource)| resource)
    }

    /// Everything served, by group, version, plural.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Resource>> {
        self.resources.values()
    }

    /// Everything stored, once for each storage prefix: of several versions the preferred one.
    pub fn stored(&self) -> Vec<Arc<Resource>> {
        let mut by_prefix: BTreeMap<&str, &Arc<Resource>> = BTreeMap::new();
        for resource in self.all() {
            let slot = by_prefix.entry(&resource.prefix).or_insert(resource);
            let canonical = resource.api_version == resource.storage_api_version;
            if canonical && slot.api_version != slot.storage_api_version {
                *slot = resource;
            }
        }
        by_prefix.into_values().cloned().collect()
    }

    /// Group names in discovery's order: the core group, built-in groups, then CRD groups by name.
    pub fn groups(&self) -> Vec<&str> {
        let mut names: Vec<(usize, &str)> = self.groups.keys().map(|g| (group_rank(g), g.as_str())).collect();
        names.sort();
        names.into_iter().map(|(_, name)| name).collect()
    }

    /// The versions of a group, preferred first.
    pub fn versions(&self, group: &str) -> &[String] {
        self.groups.get(group).map(Vec::as_slice).unwrap_or_default()
    }

    /// Whether the group-version serves anything.
    pub fn has_version(&self, group: &str, version: &str) -> bool {
        self.versions(group).iter().any(|v| v == version)
    }
}

/// Built-in groups in kube-apiserver's order of priority: short names resolve by it.
const GROUP_ORDER: &[&str] = &[
    "",
    "apiregistration.k8s.io",
    "events.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "networking.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "storage.k8s.io",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "scheduling.k8s.io",
    "coordination.k8s.io",
    "node.k8s.io",
    "discovery.k8s.io",
    "resource.k8s.io",
    "flowcontrol.apiserver.k8s.io",
    "internal.apiserver.k8s.io",
];

fn group_rank(group: &str) -> usize {
    match group {
        "" => 0,
        // apps comes before all that follow it: `kubectl get deploy` must not find another group's.
        "apps" => 2,
        other => GROUP_ORDER.iter().position(|g| *g == other).map_or(usize::MAX, |i| i + 2),
    }
}

/// Kubernetes' order of versions: v2 > v1 > v1beta2 > v1beta1 > v1alpha1 > others by name.
pub fn version_rank(version: &str) -> (u8, u64, u64) {
    let parsed = version.strip_prefix('v').and_then(|rest| {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (major, tail) = rest.split_at(digits);
        let major: u64 = major.parse().ok()?;
        if tail.is_empty() {
            return Some((3, major, 0));
        }
        if let Some(minor) = tail.strip_prefix("beta") {
            return Some((2, major, minor.parse().ok()?));
        }
        Some((1, major, tail.strip_prefix("alpha")?.parse().ok()?))
    });
    parsed.unwrap_or((0, 0, 0))
}

/// The table and its changes.
#[derive(Debug)]
pub struct Registry {
    current: ArcSwap<Snapshot>,
    changed: watch::Sender<u64>,
}

impl Default for Registry {
    fn default() -> Self {
        Self { current: ArcSwap::default(), changed: watch::Sender::new(0) }
    }
}

impl Registry {
    /// A table of these resources.
    pub fn new(resources: impl IntoIterator<Item = Resource>) -> Self {
        let registry = Self::default();
        registry.replace(|_| true, resources.into_iter().map(Arc::new));
        registry
    }

    /// A table of the built-in kinds. Servers share it until they add to it.
    pub fn builtin() -> Self {
        static TABLE: OnceLock<Arc<Snapshot>> = OnceLock::new();
        let table = TABLE.get_or_init(|| {
            let registry = Self::default();
            registry.replace(|_| true, builtin::resources().iter().cloned());
            registry.snapshot()
        });
        Self { current: ArcSwap::new(table.clone()), ..Self::default() }
    }

    /// The present state.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.current.load_full()
    }

    /// Counts changes.
    pub fn version(&self) -> u64 {
        self.current.load().version
    }

    /// The resource served at this place.
    pub fn get(&self, group: &str, version: &str, resource: &str) -> Option<Arc<Resource>> {
        self.current.load().get(group, version, resource).cloned()
    }

    /// Takes out what `remove` chooses and puts in `add`, in one swap.
    pub fn replace(&self, remove: impl Fn(&Resource) -> bool, add: impl IntoIterator<Item = Arc<Resource>>) {
        let add: Vec<Arc<Resource>> = add.into_iter().collect();
        self.current.rcu(|old| {
            let mut resources: BTreeMap<_, _> = old
                .resources
                .iter()
                .filter(|(_, resource)| !remove(resource))
                .map(|(key, resource)| (key.clone(), resource.clone()))
                .collect();
            for resource in &add {
                let key = (resource.group.clone(), resource.version.clone(), resource.resource.clone());
                resources.insert(key, resource.clone());
            }
            let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
            for (group, version, _) in resources.keys() {
                let versions = groups.entry(group.clone()).or_default();
                if !versions.contains(version) {
                    versions.push(version.clone());
                }
            }
            for versions in groups.values_mut() {
                versions.sort_by(|a, b| version_rank(b).cmp(&version_rank(a)).then_with(|| a.cmp(b)));
            }
            Snapshot { version: old.version + 1, resources, groups }
        });
        self.changed.send_replace(self.version());
    }

    /// Tells of changes.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_sort_as_in_kubernetes() {
        let mut versions = vec!["foo1", "v1alpha1", "v1", "v1beta2", "v10", "v2"];
        versions.sort_by(|a, b| version_rank(b).cmp(&version_rank(a)).then_with(|| a.cmp(b)));
        assert_eq!(versions, ["v10", "v2", "v1", "v1beta2", "v1alpha1", "foo1"]);
    }
}
