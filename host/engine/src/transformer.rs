//! Override transformers: a fresh instance carries out each list. Several are one `Transform`, by overriders' names.

use crate::component::Component;
use crate::counters::Snapshot;
use crate::error::{CallError, LoadError};
use crate::plugin::{Options, Plugin, Status};
use crate::worlds::{self, Template, TransformerCalls, TransformerDescription};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use windlass_policy::transform::{ClusterFacts, Transform, TransformError};
use windlass_schedule::FailurePolicy;

/// A transformer that was loaded.
pub struct TransformerPlugin {
    plugin: Plugin,
    description: TransformerDescription,
    template: Arc<dyn Template<dyn TransformerCalls>>,
}

impl TransformerPlugin {
    /// Loads a transformer: asks for its description, and tries its configuration out.
    ///
    /// # Errors
    /// When the component is of another kind, or can't be started.
    pub fn load(component: &Component, options: Options) -> Result<Self, LoadError> {
        let template = worlds::transformer(component)?;
        let mut plugin = Plugin::new(component, options);
        let mut guest = plugin.start(&*template).map_err(|why| component.refuse(why))?;
        let description =
            plugin.call(&mut *guest, |guest| guest.describe()).map_err(|why| component.refuse(why))?;
        plugin.described(&description.name, &description.version)?;
        if description.overriders.is_empty() {
            return Err(plugin.misdescribed("it carries out no overrider"));
        }
        Ok(Self { plugin, description, template })
    }

    /// What the transformer says of itself.
    pub fn description(&self) -> &TransformerDescription {
        &self.description
    }

    /// How it fares.
    pub fn counters(&self) -> Snapshot {
        self.plugin.counters.snapshot()
    }

    /// What is known of it.
    pub fn status(&self) -> Status {
        self.plugin.status()
    }
}

impl Transform for TransformerPlugin {
    fn transform(
        &self,
        object: &Value,
        overrider: &str,
        elements: &[Value],
        cluster: &ClusterFacts,
    ) -> Result<Value, TransformError> {
        let transform = |guest: &mut (dyn TransformerCalls + 'static)| {
            guest.transform(object, overrider, elements, cluster)
        };
        match self.plugin.once(&*self.template, transform) {
            Ok(patch) => Ok(patch),
            Err(CallError::Invalid(text)) => Err(TransformError::Invalid(text)),
            // What the user wrote is wrong however the plugin is set up; the plugin's own failure may be ignored.
            Err(error) if self.plugin.options.on_failure == FailurePolicy::Ignore => {
                tracing::warn!(plugin = %self.plugin.name, overrider, %error, "transformer failed and is ignored");
                Ok(json!([]))
            }
            Err(CallError::Unsupported) => Err(TransformError::Unknown(overrider.to_owned())),
            Err(CallError::Internal(text)) => Err(TransformError::Internal(text)),
            Err(CallError::Trapped(text)) => Err(TransformError::Trapped(text)),
            Err(CallError::Timeout) => Err(TransformError::Timeout),
        }
    }
}

impl std::fmt::Debug for TransformerPlugin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TransformerPlugin").field("plugin", &self.plugin).finish_non_exhaustive()
    }
}

/// All transformers, each asked for the overriders that it lists. The first that lists one has it.
#[derive(Clone, Debug, Default)]
pub struct Transformers {
    by_overrider: Arc<BTreeMap<String, Arc<TransformerPlugin>>>,
}

impl Transformers {
    /// Puts transformers together, the first first.
    pub fn new(plugins: &[Arc<TransformerPlugin>]) -> Self {
        let mut by_overrider = BTreeMap::new();
        for plugin in plugins {
            for overrider in &plugin.description.overriders {
                by_overrider.entry(overrider.clone()).or_insert_with(|| Arc::clone(plugin));
            }
        }
        Self { by_overrider: Arc::new(by_overrider) }
    }
}

impl Transform for Transformers {
    fn transform(
        &self,
        object: &Value,
        overrider: &str,
        elements: &[Value],
        cluster: &ClusterFacts,
    ) -> Result<Value, TransformError> {
        match self.by_overrider.get(overrider) {
            Some(plugin) => plugin.transform(object, overrider, elements, cluster),
            None => Err(TransformError::Unknown(overrider.to_owned())),
        }
    }
}
