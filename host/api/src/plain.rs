//! CustomResourceDefinitions of kinds that have no Rust type yet: schemas only, field by field as the API has them.

use serde_json::{Value, json};

use crate::crd::{Definition, Fields, age, column, integer};
use crate::placement::ClusterAffinity;
use crate::schema;

/// A required field.
const R: bool = true;
/// An optional field.
const O: bool = false;

/// The definitions, in the order of their groups.
pub(crate) const DEFINITIONS: &[Definition] = &[
    Definition {
        columns: &[column("OVERALL", ".status.overall"), column("OVERALL_USED", ".status.overallUsed")],
        ..namespaced(
            "policy.karmada.io",
            "FederatedResourceQuota",
            "federatedresourcequotas",
            None,
            federated_resource_quota,
        )
    },
    Definition {
        category: false,
        ..cluster(
            "policy.karmada.io",
            "ClusterTaintPolicy",
            "clustertaintpolicies",
            None,
            cluster_taint_policy,
        )
    },
    Definition {
        columns: &[
            column("TARGET-API-VERSION", ".spec.target.apiVersion"),
            column("TARGET-KIND", ".spec.target.kind"),
            age("AGE"),
        ],
        ..cluster(
            "config.karmada.io",
            "ResourceInterpreterCustomization",
            "resourceinterpretercustomizations",
            Some("ric"),
            customization,
        )
    },
    Definition {
        root: Some(interpreter_webhooks),
        ..cluster(
            "config.karmada.io",
            "ResourceInterpreterWebhookConfiguration",
            "resourceinterpreterwebhookconfigurations",
            None,
            nothing,
        )
    },
    namespaced(
        "networking.karmada.io",
        "MultiClusterService",
        "multiclusterservices",
        Some("mcs"),
        multi_cluster_service,
    ),
    Definition {
        spec_optional: true,
        ..namespaced(
            "networking.karmada.io",
            "MultiClusterIngress",
            "multiclusteringresses",
            Some("mci"),
            multi_cluster_ingress,
        )
    },
    Definition {
        columns: &[
            column("REFERENCE-KIND", ".spec.scaleTargetRef.kind"),
            column("REFERENCE-NAME", ".spec.scaleTargetRef.name"),
            integer("MINPODS", ".spec.minReplicas"),
            integer("MAXPODS", ".spec.maxReplicas"),
            integer("REPLICAS", ".status.currentReplicas"),
            age("AGE"),
        ],
        ..namespaced("autoscaling.karmada.io", "FederatedHPA", "federatedhpas", Some("fhpa"), federated_hpa)
    },
    Definition {
        columns: &[
            column("REFERENCE-KIND", ".spec.scaleTargetRef.kind"),
            column("REFERENCE-NAME", ".spec.scaleTargetRef.name"),
            age("AGE"),
        ],
        ..namespaced(
            "autoscaling.karmada.io",
            "CronFederatedHPA",
            "cronfederatedhpas",
            Some("cronfhpa"),
            cron_federated_hpa,
        )
    },
    Definition {
        category: false,
        ..cluster("apps.karmada.io", "WorkloadRebalancer", "workloadrebalancers", None, workload_rebalancer)
    },
    cluster("remedy.karmada.io", "Remedy", "remedies", None, remedy),
    Definition {
        category: false,
        spec_optional: true,
        columns: &[
            column("ACCEPTED", r#".status.conditions[?(@.type=="Accepted")].status"#),
            column("FILTERS", ".spec.filters[*].name"),
            column("SCORES", ".spec.scores[*].name"),
            age("AGE"),
        ],
        ..cluster("plugins.windlass.io", "SchedulerProfile", "schedulerprofiles", None, scheduler_profile)
    },
    Definition {
        category: false,
        columns: &[age("Age")],
        ..namespaced(
            "multicluster.x-k8s.io",
            "ServiceExport",
            "serviceexports",
            Some("svcex"),
            service_export,
        )
    },
    Definition {
        category: false,
        spec_optional: true,
        columns: &[column("Type", ".spec.type"), column("IP", ".spec.ips"), age("Age")],
        ..namespaced(
            "multicluster.x-k8s.io",
            "ServiceImport",
            "serviceimports",
            Some("svcim"),
            service_import,
        )
    },
];

type Schemas = fn() -> (Value, Option<Value>);

const fn namespaced(
    group: &'static str,
    kind: &'static str,
    plural: &'static str,
    short: Option<&'static str>,
    schema: Schemas,
) -> Definition {
    Definition { namespaced: true, ..cluster(group, kind, plural, short, schema) }
}

const fn cluster(
    group: &'static str,
    kind: &'static str,
    plural: &'static str,
    short_name: Option<&'static str>,
    schema: Schemas,
) -> Definition {
    Definition {
        group,
        version: "v1alpha1",
        kind,
        plural,
        namespaced: false,
        short_name,
        category: true,
        columns: &[],
        root: None,
        spec_optional: false,
        schema,
    }
}

/// Which plugins the scheduler of the object's name runs.
fn scheduler_profile() -> (Value, Option<Value>) {
    let policy = json!({"type": "string", "enum": ["Fail", "Ignore"],
        "description": "What a failure means: the pass fails and the binding keeps its clusters, or the pass goes on as if the plugin weren't there."});
    let config = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true,
        "description": "The plugin's configuration; absent: the one that it was loaded with."});
    let weight = json!({"type": "integer", "format": "int64", "minimum": 1, "maximum": 1_000_000,
        "description": "By what the scores are multiplied; 1 if absent."});
    let filter = [("name", R, text()), ("config", O, config.clone()), ("failurePolicy", O, policy.clone())];
    let score =
        [("name", R, text()), ("weight", O, weight), ("config", O, config), ("failurePolicy", O, policy)];
    let plugins = |fields: &[(&'static str, bool, Value)], words: &str| {
        let mut list = with(list(object(fields)), "maxItems", 32);
        if let Some(map) = list.as_object_mut() {
            map.insert("description".into(), words.into());
        }
        list
    };
    let spec = object(&[
        (
            "filters",
            O,
            plugins(&filter, "Filters in the order in which they run; absent: the standard ones."),
        ),
        ("scores", O, plugins(&score, "Scores; absent: the standard ones.")),
    ]);
    let status = object(&[
        ("conditions", O, by("type", schema::condition_list())),
        ("observedGeneration", O, int64()),
    ]);
    (spec, Some(status))
}

fn federated_resource_quota() -> (Value, Option<Value>) {
    let assignment = object(&[("clusterName", R, text()), ("hard", R, resources())]);
    let item = object(&[("clusterName", R, text()), ("hard", O, resources()), ("used", O, resources())]);
    (
        object(&[("overall", R, resources()), ("staticAssignments", O, list(assignment))]),
        Some(object(&[
            ("overall", O, resources()),
            ("overallUsed", O, resources()),
            ("aggregatedStatus", O, list(item)),
        ])),
    )
}

fn cluster_taint_policy() -> (Value, Option<Value>) {
    let condition =
        object(&[("conditionType", R, text()), ("operator", R, text()), ("statusValues", R, list(text()))]);
    let taint = object(&[("key", R, text()), ("effect", R, text()), ("value", O, text())]);
    let spec = object(&[
        ("targetClusters", O, schema::of::<ClusterAffinity>()),
        ("addOnConditions", O, list(condition.clone())),
        ("removeOnConditions", O, list(condition)),
        ("taints", R, with(list(taint), "minItems", 1)),
    ]);
    (spec, None)
}

fn customization() -> (Value, Option<Value>) {
    let rule = object(&[("luaScript", R, text())]);
    let rules = [
        "retention",
        "replicaResource",
        "componentResource",
        "replicaRevision",
        "statusReflection",
        "statusAggregation",
        "healthInterpretation",
        "dependencyInterpretation",
    ];
    let rules: Vec<_> = rules.into_iter().map(|name| (name, O, rule.clone())).collect();
    let target = object(&[("apiVersion", R, text()), ("kind", R, text())]);
    (object(&[("target", R, target), ("customizations", R, object(&rules))]), None)
}

fn interpreter_webhooks() -> Fields {
    let service =
        object(&[("namespace", R, text()), ("name", R, text()), ("path", O, text()), ("port", O, int32())]);
    let bytes = with(text(), "format", "byte");
    let client = object(&[("url", O, text()), ("service", O, service), ("caBundle", O, bytes)]);
    let rule = object(&[
        ("operations", R, list(text())),
        ("apiGroups", R, list(text())),
        ("apiVersions", R, list(text())),
        ("kinds", R, list(text())),
    ]);
    let webhook = object(&[
        ("name", R, text()),
        ("clientConfig", R, client),
        ("rules", O, list(rule)),
        ("timeoutSeconds", O, int32()),
        ("interpreterContextVersions", R, list(text())),
    ]);
    vec![("webhooks", R, list(webhook))]
}

fn nothing() -> (Value, Option<Value>) {
    (Value::Null, None)
}

fn load_balancer(ip_mode: bool) -> Value {
    let error = with(with(text(), "maxLength", 316), "pattern", schema::CONDITION_TYPE);
    let port = object(&[("port", R, int32()), ("protocol", R, text()), ("error", R, error)]);
    let mut fields = vec![("ip", O, text()), ("hostname", O, text()), ("ports", O, atomic(list(port)))];
    if ip_mode {
        fields.push(("ipMode", O, text()));
    }
    object(&[("ingress", O, atomic(list(object(&fields))))])
}

fn multi_cluster_service() -> (Value, Option<Value>) {
    let selector = object(&[("name", R, text())]);
    let port = object(&[("name", O, text()), ("port", R, int32())]);
    let spec = object(&[
        ("types", R, list(text())),
        ("ports", O, list(port)),
        ("range", O, object(&[("clusterNames", O, list(text()))])),
        ("serviceProvisionClusters", O, list(text())),
        ("serviceConsumptionClusters", O, list(text())),
        ("providerClusters", O, list(selector.clone())),
        ("consumerClusters", O, list(selector)),
    ]);
    (
        spec,
        Some(object(&[
            ("loadBalancer", O, load_balancer(true)),
            ("conditions", O, by("type", schema::condition_list())),
        ])),
    )
}

fn multi_cluster_ingress() -> (Value, Option<Value>) {
    let resource = with(
        object(&[("apiGroup", O, text()), ("kind", R, text()), ("name", R, text())]),
        "x-kubernetes-map-type",
        "atomic",
    );
    let port =
        with(object(&[("name", O, text()), ("number", O, int32())]), "x-kubernetes-map-type", "atomic");
    let service = object(&[("name", R, text()), ("port", O, port)]);
    let backend = object(&[("resource", O, resource), ("service", O, service)]);
    let path = object(&[("path", O, text()), ("pathType", R, text()), ("backend", R, backend.clone())]);
    let http = object(&[("paths", R, atomic(list(path)))]);
    let spec = object(&[
        ("ingressClassName", O, text()),
        ("defaultBackend", O, backend),
        ("tls", O, atomic(list(object(&[("hosts", O, atomic(list(text()))), ("secretName", O, text())])))),
        ("rules", O, atomic(list(object(&[("host", O, text()), ("http", O, http)])))),
    ]);
    let location = object(&[("name", R, text()), ("clusters", O, list(text()))]);
    let status = object(&[
        ("loadBalancer", O, load_balancer(false)),
        ("trafficBlockClusters", O, list(text())),
        ("serviceLocations", O, list(location)),
    ]);
    (spec, Some(status))
}

fn federated_hpa() -> (Value, Option<Value>) {
    let target = object(&[
        ("type", R, text()),
        ("value", O, quantity()),
        ("averageValue", O, quantity()),
        ("averageUtilization", O, int32()),
    ]);
    let current = object(&[
        ("value", O, quantity()),
        ("averageValue", O, quantity()),
        ("averageUtilization", O, int32()),
    ]);
    let identifier = object(&[("name", R, text()), ("selector", O, schema::label_selector_value())]);
    let described = object(&[("apiVersion", O, text()), ("kind", R, text()), ("name", R, text())]);
    // The same sources, once with a target and once with what is measured.
    let sources = |field: &'static str, value: &Value| {
        vec![
            ("type", R, text()),
            ("resource", O, object(&[("name", R, text()), (field, R, value.clone())])),
            (
                "containerResource",
                O,
                object(&[("name", R, text()), ("container", R, text()), (field, R, value.clone())]),
            ),
            ("pods", O, object(&[("metric", R, identifier.clone()), (field, R, value.clone())])),
            (
                "object",
                O,
                object(&[
                    ("describedObject", R, described.clone()),
                    ("metric", R, identifier.clone()),
                    (field, R, value.clone()),
                ]),
            ),
            ("external", O, object(&[("metric", R, identifier.clone()), (field, R, value.clone())])),
        ]
    };
    let policy = object(&[("type", R, text()), ("value", R, int32()), ("periodSeconds", R, int32())]);
    let rules = object(&[
        ("policies", O, atomic(list(policy))),
        ("selectPolicy", O, text()),
        ("stabilizationWindowSeconds", O, int32()),
        ("tolerance", O, quantity()),
    ]);
    let spec = object(&[
        ("scaleTargetRef", R, described.clone()),
        ("minReplicas", O, int32()),
        ("maxReplicas", R, int32()),
        ("metrics", O, list(object(&sources("target", &target)))),
        ("behavior", O, object(&[("scaleUp", O, rules.clone()), ("scaleDown", O, rules)])),
    ]);
    let condition = object(&[
        ("type", R, text()),
        ("status", R, text()),
        ("reason", O, text()),
        ("message", O, text()),
        ("lastTransitionTime", O, time()),
    ]);
    let status = object(&[
        ("observedGeneration", O, int64()),
        ("lastScaleTime", O, time()),
        ("currentReplicas", O, int32()),
        ("desiredReplicas", R, int32()),
        ("currentMetrics", O, atomic(list(object(&sources("current", &current))))),
        ("conditions", O, by("type", list(condition))),
    ]);
    (spec, Some(status))
}

fn cron_federated_hpa() -> (Value, Option<Value>) {
    let target = object(&[("apiVersion", O, text()), ("kind", R, text()), ("name", R, text())]);
    let limit = |min: i64| with(with(with(int32(), "default", 3), "minimum", min), "maximum", 32);
    let rule = object(&[
        ("name", R, with(with(text(), "minLength", 1), "maxLength", 32)),
        ("schedule", R, text()),
        ("targetReplicas", O, int32()),
        ("targetMinReplicas", O, int32()),
        ("targetMaxReplicas", O, int32()),
        ("suspend", O, with(boolean(), "default", false)),
        ("timeZone", O, text()),
        ("successfulHistoryLimit", O, limit(1)),
        ("failedHistoryLimit", O, limit(0)),
    ]);
    let successful = object(&[
        ("scheduleTime", R, time()),
        ("executionTime", R, time()),
        ("appliedReplicas", O, int32()),
        ("appliedMinReplicas", O, int32()),
        ("appliedMaxReplicas", O, int32()),
    ]);
    let failed = object(&[("scheduleTime", R, time()), ("executionTime", R, time()), ("message", R, text())]);
    let history = object(&[
        ("ruleName", R, text()),
        ("nextExecutionTime", O, time()),
        ("successfulExecutions", O, list(successful)),
        ("failedExecutions", O, list(failed)),
    ]);
    (
        object(&[("scaleTargetRef", R, target), ("rules", R, list(rule))]),
        Some(object(&[("executionHistories", O, list(history))])),
    )
}

fn workload_rebalancer() -> (Value, Option<Value>) {
    let workload = object(&[
        ("apiVersion", R, text()),
        ("kind", R, text()),
        ("namespace", O, text()),
        ("name", R, text()),
    ]);
    let observed = object(&[("workload", R, workload.clone()), ("result", O, text()), ("reason", O, text())]);
    (
        object(&[
            ("workloads", R, with(list(workload), "minItems", 1)),
            ("ttlSecondsAfterFinished", O, int32()),
        ]),
        Some(object(&[
            ("observedWorkloads", O, list(observed)),
            ("observedGeneration", O, int64()),
            ("finishTime", O, time()),
        ])),
    )
}

fn remedy() -> (Value, Option<Value>) {
    let operator = with(text(), "enum", json!(["Equal", "NotEqual"]));
    let condition =
        object(&[("conditionType", R, text()), ("operator", R, operator), ("conditionStatus", R, text())]);
    let spec = object(&[
        ("clusterAffinity", O, object(&[("clusterNames", O, list(text()))])),
        ("decisionMatches", O, list(object(&[("clusterConditionMatch", O, condition)]))),
        ("actions", O, list(text())),
    ]);
    (spec, None)
}

fn service_export() -> (Value, Option<Value>) {
    (Value::Null, Some(object(&[("conditions", O, by("type", schema::condition_list()))])))
}

fn service_import() -> (Value, Option<Value>) {
    let port = object(&[
        ("name", O, text()),
        ("protocol", O, text()),
        ("appProtocol", O, text()),
        ("port", R, int32()),
    ]);
    let timeout = object(&[("clientIP", O, object(&[("timeoutSeconds", O, int32())]))]);
    let spec = object(&[
        ("type", R, with(text(), "enum", json!(["ClusterSetIP", "Headless"]))),
        ("ports", R, atomic(list(port))),
        ("ips", O, with(list(text()), "maxItems", 1)),
        ("sessionAffinity", O, text()),
        ("sessionAffinityConfig", O, timeout),
    ]);
    (spec, Some(object(&[("clusters", O, by("cluster", list(object(&[("cluster", R, text())]))))])))
}

pub(crate) fn object(fields: &[(&str, bool, Value)]) -> Value {
    let properties: serde_json::Map<String, Value> =
        fields.iter().map(|(name, _, s)| ((*name).to_owned(), s.clone())).collect();
    let mut required: Vec<&str> =
        fields.iter().filter(|(_, required, _)| *required).map(|(name, _, _)| *name).collect();
    required.sort_unstable();
    let schema = json!({ "type": "object", "properties": properties });
    if required.is_empty() { schema } else { with(schema, "required", required) }
}

fn with(mut schema: Value, key: &str, value: impl Into<Value>) -> Value {
    if let Some(map) = schema.as_object_mut() {
        map.insert(key.to_owned(), value.into());
    }
    schema
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn boolean() -> Value {
    json!({ "type": "boolean" })
}

fn int32() -> Value {
    json!({ "type": "integer", "format": "int32" })
}

fn int64() -> Value {
    json!({ "type": "integer", "format": "int64" })
}

fn time() -> Value {
    json!({ "type": "string", "format": "date-time" })
}

fn list(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}

fn atomic(list: Value) -> Value {
    with(list, "x-kubernetes-list-type", "atomic")
}

fn by(key: &str, list: Value) -> Value {
    with(with(list, "x-kubernetes-list-type", "map"), "x-kubernetes-list-map-keys", vec![key])
}

fn quantity() -> Value {
    schema::of::<crate::Quantity>()
}

fn resources() -> Value {
    json!({ "type": "object", "additionalProperties": quantity() })
}
