//! CustomResourceDefinitions, made from the types. Checked in under `deploy/crds`; a test holds them equal.

use serde_json::{Value, json};

use crate::binding::{ClusterResourceBinding, ResourceBinding, ResourceBindingSpec, ResourceBindingStatus};
use crate::cluster::{Cluster, ClusterSpec, ClusterStatus};
use crate::overrides::{ClusterOverridePolicy, OverridePolicy, OverrideSpec};
use crate::policy::{ClusterPropagationPolicy, PropagationPolicy, PropagationSpec};
use crate::work::{Work, WorkSpec, WorkStatus};
use crate::{plain, schema};

/// A column of `kubectl get`.
pub(crate) struct Column {
    name: &'static str,
    path: &'static str,
    type_: &'static str,
    /// Above 0: only in wide output.
    priority: i64,
}

pub(crate) const fn column(name: &'static str, path: &'static str) -> Column {
    Column { name, path, type_: "string", priority: 0 }
}

pub(crate) const fn integer(name: &'static str, path: &'static str) -> Column {
    Column { name, path, type_: "integer", priority: 0 }
}

const fn wide(name: &'static str, path: &'static str) -> Column {
    Column { name, path, type_: "string", priority: 1 }
}

pub(crate) const fn age(name: &'static str) -> Column {
    Column { name, path: ".metadata.creationTimestamp", type_: "date", priority: 0 }
}

const POLICY_COLUMNS: &[Column] = &[
    column("CONFLICT-RESOLUTION", ".spec.conflictResolution"),
    column("PRIORITY", ".spec.priority"),
    age("AGE"),
];
const WORK_COLUMNS: &[Column] = &[
    column("WORKLOAD-KIND", ".spec.workload.manifests[*].kind"),
    column("APPLIED", r#".status.conditions[?(@.type=="Applied")].status"#),
    age("AGE"),
];
const BINDING_COLUMNS: &[Column] = &[
    column("SCHEDULED", r#".status.conditions[?(@.type=="Scheduled")].status"#),
    column("FULLYAPPLIED", r#".status.conditions[?(@.type=="FullyApplied")].status"#),
    age("AGE"),
];
const CLUSTER_COLUMNS: &[Column] = &[
    column("Version", ".status.kubernetesVersion"),
    column("Mode", ".spec.syncMode"),
    column("Ready", r#".status.conditions[?(@.type=="Ready")].status"#),
    age("Age"),
    wide("Zones", ".spec.zones"),
    wide("Region", ".spec.region"),
    wide("Provider", ".spec.provider"),
    wide("API-Endpoint", ".spec.apiEndpoint"),
    wide("Proxy-URL", ".spec.proxyURL"),
];

/// Fields of a schema: name, whether it is required, schema.
pub(crate) type Fields = Vec<(&'static str, bool, Value)>;

/// Everything about a kind that its Rust type doesn't say.
pub(crate) struct Definition {
    pub(crate) group: &'static str,
    pub(crate) version: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) plural: &'static str,
    pub(crate) namespaced: bool,
    pub(crate) short_name: Option<&'static str>,
    /// Whether the kind is in the category `karmada-io`.
    pub(crate) category: bool,
    pub(crate) columns: &'static [Column],
    /// Whether `spec` may be absent.
    pub(crate) spec_optional: bool,
    /// Fields beside `metadata`, for a kind that has neither spec nor status.
    pub(crate) root: Option<fn() -> Fields>,
    /// Field descriptions and rules under `spec` (null: there is none) and `status`, which then is a subresource.
    pub(crate) schema: fn() -> (Value, Option<Value>),
}

macro_rules! definition {
    ($kind:ident, $namespaced:literal, $short:expr, $category:literal, $columns:expr, $spec:ty $(, $status:ty)?) => {
        Definition {
            group: $kind::GROUP,
            version: $kind::VERSION,
            kind: $kind::KIND,
            plural: $kind::PLURAL,
            namespaced: $namespaced,
            short_name: $short,
            category: $category,
            columns: $columns,
            root: None,
            spec_optional: false,
            schema: || (schema::of::<$spec>(), None::<Value>$(.or(Some(schema::of::<$status>())))?),
        }
    };
}

const DEFINITIONS: &[Definition] = &[
    definition!(Cluster, false, None, false, CLUSTER_COLUMNS, ClusterSpec, ClusterStatus),
    definition!(PropagationPolicy, true, Some("pp"), true, POLICY_COLUMNS, PropagationSpec),
    definition!(ClusterPropagationPolicy, false, Some("cpp"), true, POLICY_COLUMNS, PropagationSpec),
    definition!(OverridePolicy, true, Some("op"), true, &[], OverrideSpec),
    definition!(ClusterOverridePolicy, false, Some("cop"), true, &[], OverrideSpec),
    definition!(Work, true, Some("wk"), true, WORK_COLUMNS, WorkSpec, WorkStatus),
    definition!(
        ResourceBinding,
        true,
        Some("rb"),
        true,
        BINDING_COLUMNS,
        ResourceBindingSpec,
        ResourceBindingStatus
    ),
    definition!(
        ClusterResourceBinding,
        false,
        Some("crb"),
        true,
        BINDING_COLUMNS,
        ResourceBindingSpec,
        ResourceBindingStatus
    ),
];

/// The CustomResourceDefinitions of all kinds, with and without a Rust type. In embedded mode Cluster is one of them; in production an extension
/// server may serve it instead.
pub fn crds() -> Vec<Value> {
    DEFINITIONS.iter().chain(plain::DEFINITIONS).map(Definition::render).collect()
}

impl Definition {
    fn render(&self) -> Value {
        let (spec, status) = (self.schema)();
        let subresource = status.is_some();
        let mut fields = vec![
            (
                "apiVersion",
                false,
                json!({ "type": "string", "description": "Group and version of this object." }),
            ),
            ("kind", false, json!({ "type": "string", "description": "Kind of this object." })),
            ("metadata", false, json!({ "type": "object" })),
        ];
        if !spec.is_null() {
            fields.push(("spec", !self.spec_optional, spec));
        }
        fields.extend(status.map(|status| ("status", false, status)));
        fields.extend(self.root.map(|root| root()).into_iter().flatten());
        let mut version = json!({
            "name": self.version,
            "served": true,
            "storage": true,
            "schema": { "openAPIV3Schema": plain::object(&fields) },
        });
        if let Some(map) = version.as_object_mut() {
            if subresource {
                map.insert("subresources".into(), json!({ "status": {} }));
            }
            if !self.columns.is_empty() {
                map.insert(
                    "additionalPrinterColumns".into(),
                    self.columns.iter().map(Column::render).collect(),
                );
            }
        }
        let singular = self.kind.to_lowercase();
        let mut names = json!({
            "kind": self.kind,
            "listKind": format!("{}List", self.kind),
            "plural": self.plural,
            "singular": singular,
        });
        if let Some(map) = names.as_object_mut() {
            if let Some(short) = self.short_name {
                map.insert("shortNames".into(), json!([short]));
            }
            if self.category {
                map.insert("categories".into(), json!(["karmada-io"]));
            }
        }
        json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": { "name": format!("{}.{}", self.plural, self.group) },
            "spec": {
                "group": self.group,
                "names": names,
                "scope": if self.namespaced { "Namespaced" } else { "Cluster" },
                "versions": [version],
            },
        })
    }
}

impl Column {
    fn render(&self) -> Value {
        let mut column = json!({ "name": self.name, "type": self.type_, "jsonPath": self.path });
        if let (1.., Some(map)) = (self.priority, column.as_object_mut()) {
            map.insert("priority".into(), self.priority.into());
        }
        column
    }
}
