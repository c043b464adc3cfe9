//! Applies a folder of manifests, as `kubectl apply -f` would, and remembers what it was.

use anyhow::{Context as _, bail};
use kube::Client;
use serde_json::Value;
use std::path::Path;
use std::time::Duration;
use windlass_members::discover;
use windlass_object::gvk::Gvk;
use windlass_object::meta::Meta;
use windlass_runtime::Objects;

/// The field manager of samples.
const MANAGER: &str = "windlass-sample";

/// How long a kind whose definition is in the sample may take to be served.
const SERVED_WAIT: Duration = Duration::from_secs(5);

/// How often that is looked at.
const SERVED_POLL: Duration = Duration::from_millis(25);

/// One object of the sample.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Applied {
    /// Its kind.
    pub(crate) gvk: Gvk,
    /// Empty for cluster-scoped objects.
    pub(crate) namespace: String,
    /// Its name.
    pub(crate) name: String,
}

impl Applied {
    /// Whether it is to be propagated, and not only says how.
    pub(crate) fn is_template(&self) -> bool {
        let namespace = self.gvk.group.is_empty() && self.gvk.kind == "Namespace";
        let ours = self.gvk.group.ends_with("karmada.io");
        !ours && !namespace
    }
}

/// All objects of a folder's `*.yaml` files, in the order of the files' names.
pub(crate) fn read(folder: &Path) -> anyhow::Result<Vec<Value>> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("sample folder {}", folder.display()))?;
    let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|ext| ext == "yaml" || ext == "yml" || ext == "json"));
    files.sort();
    let mut objects = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).with_context(|| format!("manifest {}", file.display()))?;
        let documents: Vec<Value> = serde_saphyr::from_multiple(&text)
            .with_context(|| format!("manifest {} is no YAML", file.display()))?;
        for document in documents.into_iter().filter(|document| !document.is_null()) {
            if document.kind().is_empty() || document.name().is_empty() {
                bail!("manifest {}: a document has no kind or no metadata.name", file.display());
            }
            objects.push(document);
        }
    }
    if objects.is_empty() {
        bail!("sample folder {} holds no manifests (*.yaml)", folder.display());
    }
    Ok(objects)
}

/// Applies them in order.
pub(crate) async fn apply(client: &Client, objects: &[Value]) -> anyhow::Result<Vec<Applied>> {
    let mut applied = Vec::new();
    let mut table = discover(client).await?;
    for object in objects {
        let gvk = object.gvk();
        let begun = std::time::Instant::now();
        let served = loop {
            if let Some(served) = table.resolve(&gvk) {
                break served.clone();
            }
            if begun.elapsed() > SERVED_WAIT {
                bail!("{gvk} {}: the control plane does not serve this kind", object.name());
            }
            tokio::time::sleep(SERVED_POLL).await;
            table = discover(client).await?;
        };
        let mut object = object.clone();
        if served.namespaced && object.namespace().is_empty() {
            object.metadata_mut().insert("namespace".into(), Value::from("default"));
        }
        let name = windlass_api::names::namespaced(object.namespace(), object.name());
        Objects::new(client.clone(), &served.gvr)
            .apply(&object, MANAGER, true)
            .await
            .with_context(|| format!("{} {name}", object.kind()))?;
        applied.push(Applied {
            gvk,
            namespace: object.namespace().to_owned(),
            name: object.name().to_owned(),
        });
    }
    Ok(applied)
}
