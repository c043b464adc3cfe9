//! Which policy has a template: the label with the policy's id and the annotations with its name, on the template and on
//! its binding. A claim is written with a merge patch of just these keys, and taken back only if it still is the same.

use serde_json::{Map, Value, json};
use windlass_api::labels::{
    ANNOTATION_CLUSTER_POLICY_NAME, ANNOTATION_POLICY_NAME, ANNOTATION_POLICY_NAMESPACE,
    LABEL_CLUSTER_POLICY_ID, LABEL_POLICY_ID,
};
use windlass_object::Meta;
use windlass_object::patch::escape_token;

use crate::patch::Patch;

/// Which of the two kinds of policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// PropagationPolicy.
    Namespaced,
    /// ClusterPropagationPolicy.
    Cluster,
}

impl Scope {
    /// The label that holds the policy's id, on the policy itself, its templates and their bindings.
    pub fn label(self) -> &'static str {
        match self {
            Self::Namespaced => LABEL_POLICY_ID,
            Self::Cluster => LABEL_CLUSTER_POLICY_ID,
        }
    }

    /// The annotations that name the policy.
    pub fn annotations(self) -> &'static [&'static str] {
        match self {
            Self::Namespaced => &[ANNOTATION_POLICY_NAMESPACE, ANNOTATION_POLICY_NAME],
            Self::Cluster => &[ANNOTATION_CLUSTER_POLICY_NAME],
        }
    }

    /// The policy's kind.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Namespaced => "PropagationPolicy",
            Self::Cluster => "ClusterPropagationPolicy",
        }
    }

    /// The scope of a policy object.
    pub fn of(policy: &Value) -> Self {
        if policy.kind() == "ClusterPropagationPolicy" || policy.namespace().is_empty() {
            Self::Cluster
        } else {
            Self::Namespaced
        }
    }
}

/// What a template or a binding says of the policy that has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Kind of the policy.
    pub scope: Scope,
    /// Namespace of the policy; empty for a ClusterPropagationPolicy.
    pub namespace: String,
    /// Name of the policy.
    pub name: String,
    /// Id of the policy.
    pub id: String,
}

impl Claim {
    /// The claim that a policy would make.
    pub fn by(policy: &Value) -> Self {
        let scope = Scope::of(policy);
        Self {
            scope,
            namespace: policy.namespace().to_owned(),
            name: policy.name().to_owned(),
            id: policy.label(scope.label()).unwrap_or_default().to_owned(),
        }
    }

    /// The claim on an object, complete in all its parts; a PropagationPolicy's comes first.
    pub fn on(object: &Value) -> Option<Self> {
        let label = |key: &str| object.label(key).filter(|value| !value.is_empty()).map(str::to_owned);
        let annotation =
            |key: &str| object.annotation(key).filter(|value| !value.is_empty()).map(str::to_owned);
        let namespaced = || {
            Some(Self {
                scope: Scope::Namespaced,
                namespace: annotation(ANNOTATION_POLICY_NAMESPACE)?,
                name: annotation(ANNOTATION_POLICY_NAME)?,
                id: label(LABEL_POLICY_ID)?,
            })
        };
        let cluster = || {
            Some(Self {
                scope: Scope::Cluster,
                namespace: String::new(),
                name: annotation(ANNOTATION_CLUSTER_POLICY_NAME)?,
                id: label(LABEL_CLUSTER_POLICY_ID)?,
            })
        };
        namespaced().or_else(cluster)
    }

    /// Labels that carry the claim.
    pub fn labels(&self) -> [(&'static str, &str); 1] {
        [(self.scope.label(), self.id.as_str())]
    }

    /// Annotations that carry the claim.
    pub fn annotations(&self) -> Vec<(&'static str, &str)> {
        match self.scope {
            Scope::Namespaced => vec![
                (ANNOTATION_POLICY_NAMESPACE, self.namespace.as_str()),
                (ANNOTATION_POLICY_NAME, self.name.as_str()),
            ],
            Scope::Cluster => vec![(ANNOTATION_CLUSTER_POLICY_NAME, self.name.as_str())],
        }
    }
}

/// Gives a template to a policy; nothing if it has it already. A PropagationPolicy takes the template from a
/// ClusterPropagationPolicy.
pub fn claim(template: &Value, policy: &Value) -> Option<Patch> {
    let claim = Claim::by(policy);
    let mut labels = Map::new();
    let mut annotations = Map::new();
    if claim.scope == Scope::Namespaced {
        if template.label(LABEL_CLUSTER_POLICY_ID).is_some() {
            labels.insert(LABEL_CLUSTER_POLICY_ID.to_owned(), Value::Null);
        }
        if template.annotation(ANNOTATION_CLUSTER_POLICY_NAME).is_some() {
            annotations.insert(ANNOTATION_CLUSTER_POLICY_NAME.to_owned(), Value::Null);
        }
    }
    for (key, value) in claim.labels() {
        if template.label(key) != Some(value) {
            labels.insert(key.to_owned(), value.into());
        }
    }
    for (key, value) in claim.annotations() {
        if template.annotation(key) != Some(value) {
            annotations.insert(key.to_owned(), value.into());
        }
    }
    let mut metadata = Map::new();
    if !labels.is_empty() {
        metadata.insert("labels".to_owned(), labels.into());
    }
    if !annotations.is_empty() {
        metadata.insert("annotations".to_owned(), annotations.into());
    }
    if metadata.is_empty() {
        return None;
    }
    if !template.uid().is_empty() {
        metadata.insert("uid".to_owned(), template.uid().into());
    }
    Some(Patch::Merge(json!({ "metadata": metadata })))
}

/// Takes a template or a binding from the policy with this id; nothing if another one has it by now.
pub fn release(object: &Value, scope: Scope, id: &str) -> Option<Patch> {
    if id.is_empty() || object.label(scope.label()) != Some(id) {
        return None;
    }
    let label = format!("/metadata/labels/{}", escape_token(scope.label()));
    let mut operations =
        vec![json!({"op": "test", "path": label, "value": id}), json!({"op": "remove", "path": label})];
    for key in scope.annotations().iter().filter(|key| object.annotation(key).is_some()) {
        let path = format!("/metadata/annotations/{}", escape_token(key));
        operations.push(json!({"op": "remove", "path": path}));
    }
    Some(Patch::Json(operations.into()))
}
