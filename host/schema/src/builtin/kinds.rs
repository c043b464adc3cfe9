//! How each built-in kind is served: names, scope, verbs, sub-resources, storage.

use crate::arena::NodeId;
use windlass_object::{Gvk, Gvr, gvk::split_api_version};

/// One kind of one group-version.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BuiltinKind {
    /// API group, empty for the core group.
    pub group: String,
    /// Version within the group.
    pub version: String,
    /// Kind in CamelCase.
    pub kind: String,
    /// Plural, lower case.
    pub resource: String,
    /// Singular, lower case.
    pub singular: String,
    /// `po`, `deploy`, ….
    pub short_names: Vec<String>,
    /// `all`, `api-extensions`.
    pub categories: Vec<String>,
    /// Whether objects live in namespaces.
    pub namespaced: bool,
    /// Verbs as discovery lists them, in alphabetical order.
    pub verbs: Vec<&'static str>,
    /// In alphabetical order.
    pub subresources: Vec<Subresource>,
    /// The group under which objects are stored: kinds served twice share their objects.
    pub storage_group: String,
    /// The version in which objects are stored.
    pub storage_version: String,
    /// The node of its definition in the table's arena.
    pub definition: NodeId,
}

/// A sub-resource as discovery shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Subresource {
    /// `status`, `scale`, ….
    pub name: String,
    /// Group of its kind.
    pub group: String,
    /// Version of its kind.
    pub version: String,
    /// What is sent and answered.
    pub kind: String,
    /// In alphabetical order.
    pub verbs: &'static [&'static str],
}

impl BuiltinKind {
    /// Group, version and kind.
    pub fn gvk(&self) -> Gvk {
        Gvk::new(&self.group, &self.version, &self.kind)
    }

    /// Group, version and resource.
    pub fn gvr(&self) -> Gvr {
        Gvr::new(&self.group, &self.version, &self.resource)
    }

    /// `apiVersion` of its objects.
    pub fn api_version(&self) -> String {
        self.gvk().api_version()
    }

    /// Group and resource under which objects are stored.
    pub fn storage(&self) -> (&str, &str) {
        (&self.storage_group, &self.resource)
    }

    /// Whether a verb is allowed.
    pub fn allows(&self, verb: &str) -> bool {
        self.verbs.contains(&verb)
    }

    /// A sub-resource by name.
    pub fn subresource(&self, name: &str) -> Option<&Subresource> {
        self.subresources.iter().find(|sub| sub.name == name)
    }
}

const ALL: &[&str] = &["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
const NOT_COLLECTION: &[&str] = &["create", "delete", "get", "list", "patch", "update", "watch"];
const CREATE: &[&str] = &["create"];
const CONNECT: &[&str] = &["create", "get"];
const PROXY: &[&str] = &["create", "delete", "get", "patch", "update"];
const READ: &[&str] = &["get", "list"];
const GET: &[&str] = &["get"];
const CHANGE: &[&str] = &["get", "patch", "update"];
const UPDATE: &[&str] = &["update"];

/// Reads `data/kinds.txt`; its form is told there. Malformed lines are left out, which a test notices.
pub(super) fn parse(text: &str) -> Vec<BuiltinKind> {
    text.lines().filter(|line| !line.starts_with('#')).filter_map(parse_line).collect()
}

fn parse_line(line: &str) -> Option<BuiltinKind> {
    let mut words = line.split(' ');
    let (group, version) = split_api_version(words.next()?);
    let (kind, resource, singular) = (words.next()?, words.next()?, words.next()?);
    let namespaced = words.next()? == "n";
    let list = |word: &str| -> Vec<String> {
        if word == "-" { Vec::new() } else { word.split(',').map(str::to_owned).collect() }
    };
    let (short_names, categories) = (list(words.next()?), list(words.next()?));
    let subresources =
        list(words.next()?).iter().map(|name| subresource(name, group, version, kind)).collect();
    let verbs = match words.next()? {
        "*" => ALL,
        "n" => NOT_COLLECTION,
        "c" => CREATE,
        "r" => READ,
        _ => return None,
    };
    let (storage_group, storage_version) = match words.next().and_then(|w| w.strip_prefix("storage=")) {
        Some(storage) => split_api_version(storage),
        None => (group, version),
    };
    Some(BuiltinKind {
        group: group.into(),
        version: version.into(),
        kind: kind.into(),
        resource: resource.into(),
        singular: singular.into(),
        short_names,
        categories,
        namespaced,
        verbs: verbs.to_vec(),
        subresources,
        storage_group: storage_group.into(),
        storage_version: storage_version.into(),
        definition: 0,
    })
}

fn subresource(name: &str, group: &str, version: &str, kind: &str) -> Subresource {
    let (group, version, kind, verbs) = match (kind, name) {
        (_, "scale") => ("autoscaling", "v1", "Scale", CHANGE),
        ("Namespace", "finalize") => (group, version, kind, UPDATE),
        ("ServiceAccount", "token") => ("authentication.k8s.io", "v1", "TokenRequest", CREATE),
        ("Pod", "binding") => ("", "v1", "Binding", CREATE),
        ("Pod", "eviction") => ("policy", "v1", "Eviction", CREATE),
        ("Pod", "attach") => ("", "v1", "PodAttachOptions", CONNECT),
        ("Pod", "exec") => ("", "v1", "PodExecOptions", CONNECT),
        ("Pod", "portforward") => ("", "v1", "PodPortForwardOptions", CONNECT),
        ("Pod", "log") => (group, version, kind, GET),
        ("Pod", "proxy") => ("", "v1", "PodProxyOptions", PROXY),
        ("Node", "proxy") => ("", "v1", "NodeProxyOptions", PROXY),
        ("Service", "proxy") => ("", "v1", "ServiceProxyOptions", PROXY),
        _ => (group, version, kind, CHANGE),
    };
    Subresource { name: name.into(), group: group.into(), version: version.into(), kind: kind.into(), verbs }
}
