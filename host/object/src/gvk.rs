//! Names of kinds and of resources: group, version, and kind or plural.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A kind: what `apiVersion` and `kind` of an object say.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Gvk {
    /// API group, empty for the core group.
    pub group: String,
    /// Version within the group.
    pub version: String,
    /// Kind in CamelCase.
    pub kind: String,
}

/// A resource: what a request path says.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Gvr {
    /// API group, empty for the core group.
    pub group: String,
    /// Version within the group.
    pub version: String,
    /// Plural, lower case.
    pub resource: String,
}

impl Gvk {
    /// From the three parts.
    pub fn new(group: impl Into<String>, version: impl Into<String>, kind: impl Into<String>) -> Self {
        Self { group: group.into(), version: version.into(), kind: kind.into() }
    }

    /// From an object's `apiVersion` and `kind`.
    pub fn from_api_version(api_version: &str, kind: &str) -> Self {
        let (group, version) = split_api_version(api_version);
        Self::new(group, version, kind)
    }

    /// `group/version`, or the version alone for the core group.
    pub fn api_version(&self) -> String {
        join_api_version(&self.group, &self.version)
    }
}

impl Gvr {
    /// From the three parts.
    pub fn new(group: impl Into<String>, version: impl Into<String>, resource: impl Into<String>) -> Self {
        Self { group: group.into(), version: version.into(), resource: resource.into() }
    }

    /// From an `apiVersion` and a plural.
    pub fn from_api_version(api_version: &str, resource: &str) -> Self {
        let (group, version) = split_api_version(api_version);
        Self::new(group, version, resource)
    }

    /// `group/version`, or the version alone for the core group.
    pub fn api_version(&self) -> String {
        join_api_version(&self.group, &self.version)
    }
}

/// Splits an `apiVersion` into group and version; the core group is empty.
pub fn split_api_version(api_version: &str) -> (&str, &str) {
    api_version.split_once('/').unwrap_or(("", api_version))
}

/// Joins group and version to an `apiVersion`.
pub fn join_api_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}

impl fmt::Display for Gvk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, Kind={}", self.api_version(), self.kind)
    }
}

impl fmt::Display for Gvr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, Resource={}", self.api_version(), self.resource)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn api_versions_split_and_join() {
        let deployment = Gvk::from_api_version("apps/v1", "Deployment");
        assert_eq!(deployment, Gvk::new("apps", "v1", "Deployment"));
        assert_eq!(deployment.api_version(), "apps/v1");
        assert_eq!(deployment.to_string(), "apps/v1, Kind=Deployment");
        let pods = Gvr::from_api_version("v1", "pods");
        assert_eq!(pods, Gvr::new("", "v1", "pods"));
        assert_eq!(pods.to_string(), "v1, Resource=pods");
    }
}
