//! World `windlass:scheduler/scheduler-plugin@0.1.0`. Lowers only what the plugin declared that it reads.

use super::bindings::scheduler as generated;
use super::bindings::shared::windlass::types::types;
use super::instance;
use crate::error::GuestError;
use crate::state::HostState;
use crate::worlds::{Outcome, Question, SchedulerCalls, SchedulerDescription};
use generated::exports::windlass::scheduler::plugin as wit;
use std::time::Instant;
use windlass_schedule::records::{self, ClusterAffinity, LabelSelector, Requirement};
use windlass_schedule::{
    BindingFields, BindingView, Candidates, Cluster, ClusterFields, ClusterId, ClusterTable, Delta,
    Explanation,
};

instance!(
    generated::SchedulerPluginPre<HostState>,
    generated::SchedulerPlugin,
    SchedulerCalls,
    windlass_scheduler_plugin
);

impl SchedulerCalls for Instance {
    fn describe(&mut self) -> Outcome<SchedulerDescription> {
        let told = self.guest.windlass_scheduler_plugin().call_describe(&mut self.store)?;
        Ok(Ok(SchedulerDescription {
            filters: told.points.contains(wit::ExtensionPoints::FILTER),
            scores: told.points.contains(wit::ExtensionPoints::SCORE),
            normalizes: told.points.contains(wit::ExtensionPoints::NORMALIZE),
            reads_clusters: cluster_fields(told.reads_clusters),
            reads_bindings: binding_fields(told.reads_bindings),
            name: told.name,
            version: told.version,
        }))
    }

    fn sync(&mut self, table: &ClusterTable, delta: &Delta, reads: ClusterFields) -> Outcome<()> {
        let begun = Instant::now();
        let changed = delta.upserts.iter().filter_map(|id| Some(lower_cluster(*id, table.get(*id)?, reads)));
        let upserts: Vec<wit::Cluster> = changed.collect();
        self.store.data_mut().lowered(begun.elapsed());
        let plugin = self.guest.windlass_scheduler_plugin();
        Ok(plugin.call_sync(&mut self.store, delta.generation, &upserts, &delta.removes)?.map_err(Into::into))
    }

    fn filter(&mut self, question: &Question<'_>) -> Outcome<Vec<u64>> {
        let (binding, candidates) = self.lower(question);
        let plugin = self.guest.windlass_scheduler_plugin();
        Ok(plugin
            .call_filter(&mut self.store, question.generation, &binding, &candidates)?
            .map_err(Into::into))
    }

    fn score(&mut self, question: &Question<'_>) -> Outcome<Vec<i64>> {
        let (binding, candidates) = self.lower(question);
        let plugin = self.guest.windlass_scheduler_plugin();
        Ok(plugin
            .call_score(&mut self.store, question.generation, &binding, &candidates)?
            .map_err(Into::into))
    }

    fn normalize(&mut self, scores: &[i64]) -> Outcome<Vec<i64>> {
        let plugin = self.guest.windlass_scheduler_plugin();
        Ok(plugin.call_normalize(&mut self.store, scores)?.map_err(Into::into))
    }

    fn explain(&mut self, question: &Question<'_>) -> Outcome<Explanation> {
        let (binding, candidates) = self.lower(question);
        let plugin = self.guest.windlass_scheduler_plugin();
        let told = plugin.call_explain(&mut self.store, question.generation, &binding, &candidates)?;
        Ok(told.map(|told| Explanation { reasons: told.reasons, refused: told.refused }).map_err(Into::into))
    }
}

impl From<wit::Error> for GuestError {
    fn from(error: wit::Error) -> Self {
        match error {
            wit::Error::Stale => Self::Stale,
            wit::Error::Invalid(text) => Self::Invalid(text),
            wit::Error::Internal(text) => Self::Internal(text),
        }
    }
}

fn cluster_fields(told: wit::ClusterFields) -> ClusterFields {
    let table = [
        (wit::ClusterFields::LABELS, ClusterFields::LABELS),
        (wit::ClusterFields::LOCATION, ClusterFields::LOCATION),
        (wit::ClusterFields::TAINTS, ClusterFields::TAINTS),
        (wit::ClusterFields::APIS, ClusterFields::APIS),
    ];
    let declared = table.into_iter().filter(|(flag, _)| told.contains(*flag));
    declared.fold(ClusterFields::NONE, |all, (_, group)| all | group)
}

fn binding_fields(told: wit::BindingFields) -> BindingFields {
    let table = [
        (wit::BindingFields::RESOURCE, BindingFields::RESOURCE),
        (wit::BindingFields::TARGETS, BindingFields::TARGETS),
        (wit::BindingFields::EVICTIONS, BindingFields::EVICTIONS),
        (wit::BindingFields::AFFINITY, BindingFields::AFFINITY),
        (wit::BindingFields::TOLERATIONS, BindingFields::TOLERATIONS),
        (wit::BindingFields::SPREAD, BindingFields::SPREAD),
        (wit::BindingFields::REPLICAS, BindingFields::REPLICAS),
        (wit::BindingFields::PEERS, BindingFields::PEERS),
        (wit::BindingFields::KIND, BindingFields::KIND),
        (wit::BindingFields::OWN_TARGET, BindingFields::OWN_TARGET),
        (wit::BindingFields::OWN_EVICTION, BindingFields::OWN_EVICTION),
    ];
    let declared = table.into_iter().filter(|(flag, _)| told.contains(*flag));
    declared.fold(BindingFields::NONE, |all, (_, group)| all | group)
}

/// A list, or nothing if its group wasn't declared.
fn when<T, U>(declared: bool, list: &[T], lower: impl Fn(&T) -> U) -> Vec<U> {
    if declared { list.iter().map(lower).collect() } else { Vec::new() }
}

/// A text, or an empty one if its group wasn't declared.
fn text_when(declared: bool, text: &str) -> String {
    if declared { text.to_owned() } else { String::new() }
}

fn lower_cluster(id: ClusterId, cluster: &Cluster, reads: ClusterFields) -> wit::Cluster {
    let located = reads.contains(ClusterFields::LOCATION);
    let facts = &cluster.facts;
    wit::Cluster {
        id,
        name: facts.name.clone(),
        labels: when(reads.contains(ClusterFields::LABELS), &facts.labels, Clone::clone),
        provider: text_when(located, &facts.provider),
        region: text_when(located, &facts.region),
        zones: when(located, &facts.zones, Clone::clone),
        taints: when(reads.contains(ClusterFields::TAINTS), &cluster.taints, lower_taint),
        apis: when(reads.contains(ClusterFields::APIS), &cluster.apis, |api| wit::ApiEnablement {
            group_version: api.group_version.clone(),
            kinds: api.kinds.clone(),
        }),
    }
}

impl Instance {
    fn lower(&mut self, question: &Question<'_>) -> (wit::Binding, wit::Candidates) {
        let begun = Instant::now();
        let candidates = match question.candidates {
            Candidates::All => wit::Candidates::All,
            Candidates::These(ids) => wit::Candidates::These(ids.to_vec()),
        };
        let binding = lower_binding(question.binding, question.reads);
        self.store.data_mut().lowered(begun.elapsed());
        (binding, candidates)
    }
}

fn lower_binding(binding: &BindingView, reads: BindingFields) -> wit::Binding {
    let counted = reads.contains(BindingFields::REPLICAS);
    let peers = reads.contains(BindingFields::PEERS);
    let targets = reads.meets(BindingFields::TARGETS | BindingFields::OWN_TARGET);
    let evictions = reads.meets(BindingFields::EVICTIONS | BindingFields::OWN_EVICTION);
    wit::Binding {
        resource: lower_reference(&binding.resource, reads),
        targets: when(targets, &binding.targets, |target| wit::Target {
            cluster: target.cluster,
            replicas: target.replicas,
        }),
        evictions: when(evictions, &binding.evictions, |id| *id),
        affinity: when(reads.contains(BindingFields::AFFINITY), &binding.affinity, |one| lower_affinity(one)),
        tolerations: when(reads.contains(BindingFields::TOLERATIONS), &binding.tolerations, lower_toleration),
        spread: when(reads.contains(BindingFields::SPREAD), &binding.spread, |spread| {
            wit::SpreadConstraint {
                by_field: spread.by_field.clone(),
                by_label: spread.by_label.clone(),
                min_groups: spread.min_groups,
                max_groups: spread.max_groups,
            }
        }),
        replicas: if counted { binding.replicas } else { 0 },
        workload: counted && binding.workload,
        peers: wit::Peers {
            affinity: when(peers, &binding.peers.affinity, Clone::clone),
            anti_affinity: when(peers, &binding.peers.anti_affinity, Clone::clone),
        },
    }
}

fn lower_reference(reference: &records::ObjectReference, reads: BindingFields) -> types::ObjectReference {
    let declared = reads.contains(BindingFields::RESOURCE);
    let kind = reads.meets(BindingFields::RESOURCE | BindingFields::KIND);
    types::ObjectReference {
        api_version: text_when(kind, &reference.api_version),
        kind: text_when(kind, &reference.kind),
        namespace: text_when(declared, &reference.namespace),
        name: text_when(declared, &reference.name),
        uid: text_when(declared, &reference.uid),
    }
}

fn lower_taint(taint: &records::Taint) -> types::Taint {
    types::Taint { key: taint.key.clone(), value: taint.value.clone(), effect: taint.effect.clone() }
}

fn lower_toleration(toleration: &records::Toleration) -> types::Toleration {
    types::Toleration {
        key: toleration.key.clone(),
        operator: toleration.operator.clone(),
        value: toleration.value.clone(),
        effect: toleration.effect.clone(),
        toleration_seconds: toleration.toleration_seconds,
    }
}

fn lower_affinity(affinity: &ClusterAffinity) -> types::ClusterAffinity {
    types::ClusterAffinity {
        label_selector: affinity.label_selector.as_ref().map(lower_selector),
        field_selector: affinity
            .field_selector
            .as_ref()
            .map(|list| list.iter().map(lower_requirement).collect()),
        cluster_names: affinity.cluster_names.clone(),
        exclude: affinity.exclude.clone(),
    }
}

fn lower_selector(selector: &LabelSelector) -> types::LabelSelector {
    types::LabelSelector {
        match_labels: selector.match_labels.clone(),
        match_expressions: selector.match_expressions.iter().map(lower_requirement).collect(),
    }
}

fn lower_requirement(requirement: &Requirement) -> types::Requirement {
    types::Requirement {
        key: requirement.key.clone(),
        operator: requirement.operator.clone(),
        values: requirement.values.clone(),
    }
}
