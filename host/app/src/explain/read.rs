//! The objects that an explanation rests on.

use crate::cli::Explain;
use crate::join;
use anyhow::{Context as _, bail};
use kube::Client;
use serde_json::Value;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_object::gvk::Gvr;
use windlass_object::meta::Meta;
use windlass_object::path::str_at;
use windlass_runtime::Objects;
use windlass_runtime::objects::{is_not_found, words};

/// Names that an error suggests.
const SUGGESTIONS: usize = 5;

/// Clusters, bindings and profiles.
#[derive(Default)]
pub(super) struct World {
    pub(super) clusters: Vec<Arc<Value>>,
    pub(super) bindings: Vec<Arc<Value>>,
    pub(super) profiles: Vec<Arc<Value>>,
    /// Only what was asked for is explained; the rest are its peers.
    from_server: bool,
}

impl World {
    /// What a control plane has. The bindings beside the one asked for are read for the groups that it may be in.
    pub(super) async fn of_server(args: &Explain) -> anyhow::Result<Self> {
        let config =
            join::config(args.kubeconfig.as_deref(), args.context.as_deref(), Some("windlass")).await?;
        let address = config.cluster_url.to_string();
        let client = Client::try_from(config)?;
        let objects = |group: &str, version: &str, resource: &str| {
            Objects::new(client.clone(), &Gvr::new(group, version, resource))
        };
        let clusters = objects("cluster.karmada.io", "v1alpha1", "clusters").list("", "").await;
        let clusters = clusters.map_err(|why| anyhow::anyhow!("clusters of {address}: {}", words(&why)))?;
        let binding = args.binding.as_deref().unwrap_or_default();
        let (namespace, resource) = match binding.split_once('/') {
            Some((namespace, _)) => (namespace, "resourcebindings"),
            None => ("", "clusterresourcebindings"),
        };
        let bindings = objects("work.karmada.io", "v1alpha2", resource).list(namespace, "").await;
        let bindings = bindings.map_err(|why| anyhow::anyhow!("{resource} of {address}: {}", words(&why)))?;
        let profiles =
            match objects("plugins.windlass.io", "v1alpha1", "schedulerprofiles").list("", "").await {
                Ok(profiles) => profiles,
                // Another control plane may not have the kind.
                Err(why) if is_not_found(&why) => Vec::new(),
                Err(why) => bail!("schedulerprofiles of {address}: {}", words(&why)),
            };
        let kind = if namespace.is_empty() { "ClusterResourceBinding" } else { "ResourceBinding" };
        let shared = |list: Vec<Value>, kind: &str| {
            // Items of a list don't say their kind.
            let named = |mut item: Value| {
                if let Some(map) = item.as_object_mut() {
                    map.insert("kind".into(), kind.into());
                }
                Arc::new(item)
            };
            list.into_iter().map(named).collect()
        };
        Ok(Self {
            clusters: shared(clusters, "Cluster"),
            bindings: shared(bindings, kind),
            profiles: shared(profiles, "SchedulerProfile"),
            from_server: true,
        })
    }

    /// What files have.
    pub(super) fn of_files(files: &[PathBuf]) -> anyhow::Result<Self> {
        let mut world = Self::default();
        for file in files {
            let text = text(file)?;
            let documents: Vec<Value> = serde_saphyr::from_multiple(&text)
                .with_context(|| format!("{} is no YAML", file.display()))?;
            for document in documents {
                world.take(document, file)?;
            }
        }
        if world.clusters.is_empty() {
            bail!("the files hold no Cluster; kubectl get clusters -o yaml prints those of a control plane");
        }
        Ok(world)
    }

    fn take(&mut self, document: Value, file: &Path) -> anyhow::Result<()> {
        if document.is_null() {
            return Ok(());
        }
        if document.kind().ends_with("List") {
            for item in document.get("items").and_then(Value::as_array).into_iter().flatten() {
                self.take(item.clone(), file)?;
            }
            return Ok(());
        }
        let list = match document.kind() {
            "Cluster" => &mut self.clusters,
            "ResourceBinding" | "ClusterResourceBinding" => &mut self.bindings,
            "SchedulerProfile" => &mut self.profiles,
            "" => bail!("{}: a document has no kind", file.display()),
            other => bail!(
                "{}: {other} {}; expected Cluster, ResourceBinding, ClusterResourceBinding or SchedulerProfile",
                file.display(),
                document.name()
            ),
        };
        if document.name().is_empty() {
            bail!("{}: a {} has no metadata.name", file.display(), document.kind());
        }
        list.push(Arc::new(document));
        Ok(())
    }

    /// The bindings to explain: the one that was asked for, or all that the files have.
    pub(super) fn chosen(&self, name: Option<&str>) -> anyhow::Result<Vec<Arc<Value>>> {
        let Some(name) = name else {
            if self.bindings.is_empty() {
                bail!("the files hold no ResourceBinding and no ClusterResourceBinding");
            }
            return Ok(self.bindings.clone());
        };
        if let Some(found) = self.bindings.iter().find(|binding| super::key(binding) == name) {
            return Ok(vec![found.clone()]);
        }
        let kind = if name.contains('/') { "ResourceBinding" } else { "ClusterResourceBinding" };
        let wanted = name.rsplit('/').next().unwrap_or(name);
        // Whoever names a template means its binding.
        let mut near: Vec<String> = self
            .bindings
            .iter()
            .filter(|binding| {
                str_at(binding, &["spec", "resource", "name"]) == wanted || binding.name().starts_with(wanted)
            })
            .map(|binding| super::key(binding))
            .collect();
        near.truncate(SUGGESTIONS);
        let place = if self.from_server { "the control plane has" } else { "the files have" };
        match near.as_slice() {
            [] if name.contains('/') => bail!("{place} no {kind} {name}"),
            [] => bail!("{place} no {kind} {name}; a ResourceBinding is named NAMESPACE/NAME"),
            near => bail!("{place} no {kind} {name}; there is {}", near.join(", ")),
        }
    }
}

fn text(file: &Path) -> anyhow::Result<String> {
    if file.as_os_str() == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).context("standard input")?;
        return Ok(text);
    }
    std::fs::read_to_string(file).with_context(|| format!("{}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn world(documents: &[Value]) -> anyhow::Result<World> {
        let mut world = World::default();
        for document in documents {
            world.take(document.clone(), Path::new("f.yaml"))?;
        }
        Ok(world)
    }

    fn binding(namespace: &str, name: &str, template: &str) -> Value {
        json!({"kind": "ResourceBinding", "metadata": {"namespace": namespace, "name": name},
            "spec": {"resource": {"name": template}}})
    }

    #[test]
    fn lists_and_single_documents() {
        let list = json!({"kind": "List", "items": [{"kind": "Cluster", "metadata": {"name": "m1"}}]});
        let world = world(&[list, binding("shop", "web-deployment", "web"), Value::Null]).unwrap();
        assert_eq!((world.clusters.len(), world.bindings.len()), (1, 1));
        assert_eq!(world.chosen(None).unwrap().len(), 1);
        assert_eq!(world.chosen(Some("shop/web-deployment")).unwrap().len(), 1);
    }

    #[test]
    fn errors_help() {
        let error = |documents: &[Value]| world(documents).err().unwrap().to_string();
        assert_eq!(
            error(&[json!({"kind": "Deployment", "metadata": {"name": "web"}})]),
            "f.yaml: Deployment web; expected Cluster, ResourceBinding, ClusterResourceBinding or SchedulerProfile"
        );
        assert_eq!(error(&[json!({"kind": "Cluster"})]), "f.yaml: a Cluster has no metadata.name");
        let world = world(&[binding("shop", "web-deployment", "web")]).unwrap();
        let error = |name: &str| world.chosen(Some(name)).err().unwrap().to_string();
        assert_eq!(
            error("shop/web"),
            "the files have no ResourceBinding shop/web; there is shop/web-deployment"
        );
        assert_eq!(error("shop/other"), "the files have no ResourceBinding shop/other");
        assert_eq!(
            error("other"),
            "the files have no ClusterResourceBinding other; a ResourceBinding is named NAMESPACE/NAME"
        );
    }
}
