//! Plain records in the shape of `wit/types` and `wit/scheduler`: what plugins see, and what the host's own rules read.
//! Texts that are absent in an object are empty here.

use serde_json::Value;

/// One label or any other pair of texts.
pub type Pair = (String, String);

/// A dense number that the host gives to a cluster; reused after removal.
pub type ClusterId = u32;

/// A taint of a cluster.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Taint {
    /// Taint key.
    pub key: String,
    /// Taint value, often empty.
    pub value: String,
    /// `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
    pub effect: String,
}

/// A toleration as in core/v1.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Toleration {
    /// Empty with operator `Exists` tolerates every taint.
    pub key: String,
    /// `Equal` (also when empty) or `Exists`.
    pub operator: String,
    /// Compared when the operator is `Equal`.
    pub value: String,
    /// Empty means every effect.
    pub effect: String,
    /// How long a `NoExecute` taint is tolerated.
    pub toleration_seconds: Option<i64>,
}

/// One requirement of a selector.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Requirement {
    /// Label key or field name.
    pub key: String,
    /// `In`, `NotIn`, `Exists`, `DoesNotExist`.
    pub operator: String,
    /// What `In` and `NotIn` compare with.
    pub values: Vec<String>,
}

/// A label selector; both parts must hold, empty selects everything.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct LabelSelector {
    /// Labels that must have exactly these values.
    pub match_labels: Vec<Pair>,
    /// Requirements that must hold.
    pub match_expressions: Vec<Requirement>,
}

/// Which clusters a placement or a rule means; all present parts must hold.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct ClusterAffinity {
    /// On the cluster's labels.
    pub label_selector: Option<LabelSelector>,
    /// Requirements on `provider`, `region` and `zone`.
    pub field_selector: Option<Vec<Requirement>>,
    /// Empty means any cluster.
    pub cluster_names: Vec<String>,
    /// Clusters that never match.
    pub exclude: Vec<String>,
}

/// What can be said of a cluster without looking at its status: what affinities and override rules read.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct ClusterFacts {
    /// `metadata.name`.
    pub name: String,
    /// `metadata.labels`, in the order of their keys.
    pub labels: Vec<Pair>,
    /// `spec.provider`, or empty.
    pub provider: String,
    /// `spec.region`, or empty.
    pub region: String,
    /// `spec.zones`.
    pub zones: Vec<String>,
}

/// A reference to a Kubernetes object.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct ObjectReference {
    /// `apps/v1`.
    pub api_version: String,
    /// `Deployment`.
    pub kind: String,
    /// Empty for cluster-scoped objects.
    pub namespace: String,
    /// Name of the object.
    pub name: String,
    /// UID, if it is known.
    pub uid: String,
}

/// One group-version and the kinds that a cluster serves in it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct ApiEnablement {
    /// `apps/v1`.
    pub group_version: String,
    /// Kinds served.
    pub kinds: Vec<String>,
}

/// A spread constraint.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct SpreadConstraint {
    /// `cluster`, `region`, `zone`, `provider` or empty.
    pub by_field: String,
    /// Label key, or empty.
    pub by_label: String,
    /// At least so many groups.
    pub min_groups: i64,
    /// At most so many groups.
    pub max_groups: i64,
}

impl Taint {
    /// As people write it: `key=value:effect`, without the value when it is empty.
    pub fn display(&self) -> String {
        if self.value.is_empty() {
            format!("{}:{}", self.key, self.effect)
        } else {
            format!("{}={}:{}", self.key, self.value, self.effect)
        }
    }

    /// From one entry of `spec.taints`.
    pub fn from_value(value: &Value) -> Self {
        Self { key: text(value, "key"), value: text(value, "value"), effect: text(value, "effect") }
    }
}

impl Toleration {
    /// Kubernetes' rule, without the comparison operators `Lt` and `Gt`.
    pub fn tolerates(&self, taint: &Taint) -> bool {
        if !self.effect.is_empty() && self.effect != taint.effect {
            return false;
        }
        if !self.key.is_empty() && self.key != taint.key {
            return false;
        }
        match self.operator.as_str() {
            "" | "Equal" => self.value == taint.value,
            "Exists" => true,
            _ => false,
        }
    }

    /// From one entry of `clusterTolerations`.
    pub fn from_value(value: &Value) -> Self {
        Self {
            key: text(value, "key"),
            operator: text(value, "operator"),
            value: text(value, "value"),
            effect: text(value, "effect"),
            toleration_seconds: value.get("tolerationSeconds").and_then(Value::as_i64),
        }
    }
}

impl Requirement {
    /// From one entry of `matchExpressions`.
    pub fn from_value(value: &Value) -> Self {
        Self {
            key: text(value, "key"),
            operator: text(value, "operator"),
            values: texts(value.get("values")),
        }
    }
}

impl LabelSelector {
    /// From a `LabelSelector` object.
    pub fn from_value(value: &Value) -> Self {
        Self {
            match_labels: pairs(value.get("matchLabels")),
            match_expressions: list(value.get("matchExpressions"), Requirement::from_value),
        }
    }
}

impl ClusterAffinity {
    /// From a `ClusterAffinity` object, or any object that inlines one.
    pub fn from_value(value: &Value) -> Self {
        Self {
            label_selector: present(value, "labelSelector").map(LabelSelector::from_value),
            field_selector: present(value, "fieldSelector")
                .map(|selector| list(selector.get("matchExpressions"), Requirement::from_value)),
            cluster_names: texts(value.get("clusterNames")),
            exclude: texts(value.get("exclude")),
        }
    }
}

impl ClusterFacts {
    /// From a Cluster object.
    pub fn from_value(cluster: &Value) -> Self {
        let null = Value::Null;
        let metadata = cluster.get("metadata").unwrap_or(&null);
        let spec = cluster.get("spec").unwrap_or(&null);
        Self {
            name: text(metadata, "name"),
            labels: pairs(metadata.get("labels")),
            provider: text(spec, "provider"),
            region: text(spec, "region"),
            zones: texts(spec.get("zones")),
        }
    }

    /// The value of a label.
    pub fn label(&self, key: &str) -> Option<&str> {
        self.labels.iter().find(|(have, _)| have == key).map(|(_, value)| value.as_str())
    }
}

impl ObjectReference {
    /// From `spec.resource` of a binding or any object reference.
    pub fn from_value(value: &Value) -> Self {
        Self {
            api_version: text(value, "apiVersion"),
            kind: text(value, "kind"),
            namespace: text(value, "namespace"),
            name: text(value, "name"),
            uid: text(value, "uid"),
        }
    }
}

impl SpreadConstraint {
    /// From one entry of `spreadConstraints`.
    pub fn from_value(value: &Value) -> Self {
        let number = |key: &str| value.get(key).and_then(Value::as_i64).unwrap_or(0);
        Self {
            by_field: text(value, "spreadByField"),
            by_label: text(value, "spreadByLabel"),
            min_groups: number("minGroups"),
            max_groups: number("maxGroups"),
        }
    }
}

/// The text of field `key`, empty if it is absent or no text.
pub(crate) fn text(value: &Value, key: &str) -> String {
    value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// The texts of a list; other entries are left out.
pub(crate) fn texts(value: Option<&Value>) -> Vec<String> {
    elements(value).filter_map(Value::as_str).map(str::to_owned).collect()
}

/// A map of texts, in the order of its keys.
pub(crate) fn pairs(value: Option<&Value>) -> Vec<Pair> {
    let mut pairs: Vec<Pair> = value
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
        .collect();
    pairs.sort();
    pairs
}

/// Every element of a list, converted.
pub(crate) fn list<T>(value: Option<&Value>, convert: impl Fn(&Value) -> T) -> Vec<T> {
    elements(value).map(convert).collect()
}

/// The elements of a list; none if the value is something else.
pub(crate) fn elements(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    value.and_then(Value::as_array).into_iter().flatten()
}

/// Field `key`, unless it is absent or null.
pub(crate) fn present<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    value.get(key).filter(|value| !value.is_null())
}
