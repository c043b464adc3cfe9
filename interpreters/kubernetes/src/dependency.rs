//! Which other objects an object can't run without.

use crate::json::{Result, get, list, text};
use windlass_sdk::Value;

/// One thing that is needed: by name, or by a label.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Dependency {
    /// `v1`
    pub(crate) api_version: &'static str,
    /// `Secret`
    pub(crate) kind: &'static str,
    /// Where it is.
    pub(crate) namespace: String,
    /// Empty if `label` says which.
    pub(crate) name: String,
    /// A label and its value.
    pub(crate) label: Option<(String, String)>,
}

/// What the object needs, each once, but for Ingress as often as it is named.
pub(crate) fn interpret(kind: &str, object: &Value) -> Result<Vec<Dependency>> {
    let namespace = text(object, &["metadata", "namespace"])?;
    match kind {
        "Ingress" => list(object, &["spec", "tls"])?
            .iter()
            .map(|entry| Ok(core("Secret", namespace, text(entry, &["secretName"])?)))
            .collect(),
        "ServiceImport" => service_import(object, namespace),
        "Pod" => pod(object, namespace),
        _ => {
            let path: &[&str] = match kind {
                "CronJob" => &["spec", "jobTemplate", "spec", "template"],
                _ => &["spec", "template"],
            };
            let Some(template) = get(object, path)? else { return Ok(Vec::new()) };
            let mut found = pod(template, namespace)?;
            if kind == "StatefulSet" {
                // Claims made from the set's own templates are its members' business.
                for claim in list(object, &["spec", "volumeClaimTemplates"])? {
                    let own = text(claim, &["metadata", "name"])?;
                    found.retain(|need| need.kind != "PersistentVolumeClaim" || need.name != own);
                }
            }
            Ok(found)
        }
    }
}

fn core(kind: &'static str, namespace: &str, name: &str) -> Dependency {
    Dependency { api_version: "v1", kind, namespace: namespace.into(), name: name.into(), label: None }
}

fn service_import(object: &Value, namespace: &str) -> Result<Vec<Dependency>> {
    let derived = format!("derived-{}", text(object, &["metadata", "name"])?);
    let mut slices = core("EndpointSlice", namespace, "");
    slices.api_version = "discovery.k8s.io/v1";
    slices.label = Some(("kubernetes.io/service-name".into(), derived.clone()));
    Ok(vec![core("Service", namespace, &derived), slices])
}

/// Where in a volume a name is found, and of what.
const VOLUMES: [(&str, &[&str]); 12] = [
    ("ConfigMap", &["configMap", "name"]),
    ("Secret", &["azureFile", "secretName"]),
    ("Secret", &["cephfs", "secretRef", "name"]),
    ("Secret", &["cinder", "secretRef", "name"]),
    ("Secret", &["flexVolume", "secretRef", "name"]),
    ("Secret", &["rbd", "secretRef", "name"]),
    ("Secret", &["secret", "secretName"]),
    ("Secret", &["scaleIO", "secretRef", "name"]),
    ("Secret", &["iscsi", "secretRef", "name"]),
    ("Secret", &["storageos", "secretRef", "name"]),
    ("Secret", &["csi", "nodePublishSecretRef", "name"]),
    ("PersistentVolumeClaim", &["persistentVolumeClaim", "claimName"]),
];

fn pod(pod: &Value, namespace: &str) -> Result<Vec<Dependency>> {
    let mut found = Vec::new();
    let mut need = |kind: &'static str, name: &str| {
        let one = core(kind, namespace, name);
        if !name.is_empty() && !found.contains(&one) {
            found.push(one);
        }
    };
    for reference in list(pod, &["spec", "imagePullSecrets"])? {
        need("Secret", text(reference, &["name"])?);
    }
    for field in ["initContainers", "containers", "ephemeralContainers"] {
        for container in list(pod, &["spec", field])? {
            for source in list(container, &["envFrom"])? {
                need("ConfigMap", text(source, &["configMapRef", "name"])?);
                need("Secret", text(source, &["secretRef", "name"])?);
            }
            for variable in list(container, &["env"])? {
                need("ConfigMap", text(variable, &["valueFrom", "configMapKeyRef", "name"])?);
                need("Secret", text(variable, &["valueFrom", "secretKeyRef", "name"])?);
            }
        }
    }
    for volume in list(pod, &["spec", "volumes"])? {
        for (kind, path) in VOLUMES {
            need(kind, text(volume, path)?);
        }
        for source in list(volume, &["projected", "sources"])? {
            need("ConfigMap", text(source, &["configMap", "name"])?);
            need("Secret", text(source, &["secret", "name"])?);
        }
    }
    let account = text(pod, &["spec", "serviceAccountName"])?;
    if account != "default" {
        need("ServiceAccount", account);
    }
    Ok(found)
}
