//! World `windlass:overrides/override-transformer@0.1.0`. Objects cross as JSON text.

use super::bindings::transformer as generated;
use super::{instance, parse};
use crate::error::GuestError;
use crate::state::HostState;
use crate::worlds::{Outcome, TransformerCalls, TransformerDescription};
use generated::exports::windlass::overrides::transformer as wit;
use serde_json::Value;
use windlass_schedule::ClusterFacts;

instance!(
    generated::OverrideTransformerPre<HostState>,
    generated::OverrideTransformer,
    TransformerCalls,
    windlass_overrides_transformer
);

impl TransformerCalls for Instance {
    fn describe(&mut self) -> Outcome<TransformerDescription> {
        let told = self.guest.windlass_overrides_transformer().call_describe(&mut self.store)?;
        Ok(Ok(TransformerDescription { name: told.name, version: told.version, overriders: told.overriders }))
    }

    fn transform(
        &mut self,
        object: &Value,
        overrider: &str,
        elements: &[Value],
        cluster: &ClusterFacts,
    ) -> Outcome<Value> {
        let elements: Vec<String> = elements.iter().map(Value::to_string).collect();
        let cluster = wit::Cluster {
            name: cluster.name.clone(),
            labels: cluster.labels.clone(),
            provider: cluster.provider.clone(),
            region: cluster.region.clone(),
            zones: cluster.zones.clone(),
        };
        let plugin = self.guest.windlass_overrides_transformer();
        let answer =
            plugin.call_transform(&mut self.store, &object.to_string(), overrider, &elements, &cluster)?;
        Ok(answer.map_err(GuestError::from).and_then(|text| parse("patch", &text)))
    }
}

impl From<wit::Error> for GuestError {
    fn from(error: wit::Error) -> Self {
        match error {
            wit::Error::Invalid(text) => Self::Invalid(text),
            wit::Error::Internal(text) => Self::Internal(text),
        }
    }
}
