//! The shipped plugins as native code, for tests only: production runs the components.

use windlass_schedule::{
    BindingFields, BindingView, Bitmap, Candidates, Cluster, ClusterFields, ClusterId, ClusterTable,
    Explanation, Filter, PluginError, Profile, Reads, Score, Stage,
};

type Judge = fn(&BindingView, ClusterId, &Cluster) -> Option<String>;

/// A filter made of one function that gives the reason for refusing a cluster, and of what that looks at.
struct Judged {
    name: &'static str,
    reads: Reads,
    judge: Judge,
}

impl Filter for Judged {
    fn name(&self) -> &str {
        self.name
    }

    fn reads(&self) -> Option<Reads> {
        Some(self.reads)
    }

    fn filter(
        &mut self,
        table: &ClusterTable,
        binding: &BindingView,
        candidates: Candidates<'_>,
    ) -> Result<Bitmap, PluginError> {
        let ids = candidates.ids(table);
        let passes = |id: &ClusterId| table.get(*id).is_some_and(|c| (self.judge)(binding, *id, c).is_none());
        Ok(ids.iter().map(passes).collect())
    }

    fn explain(
        &mut self,
        table: &ClusterTable,
        binding: &BindingView,
        candidates: Candidates<'_>,
    ) -> Result<Explanation, PluginError> {
        let mut explanation = Explanation::default();
        for id in candidates.ids(table) {
            let Some(reason) = table.get(id).and_then(|c| (self.judge)(binding, id, c)) else { continue };
            let known = explanation.reasons.iter().position(|have| *have == reason);
            let index = known.unwrap_or_else(|| {
                explanation.reasons.push(reason);
                explanation.reasons.len() - 1
            });
            explanation.refused.push((id, u32::try_from(index).unwrap()));
        }
        Ok(explanation)
    }
}

fn refuse(reason: impl Into<String>) -> Option<String> {
    Some(reason.into())
}

fn api_enablement(binding: &BindingView, id: ClusterId, cluster: &Cluster) -> Option<String> {
    let want = &binding.resource;
    let served = cluster
        .apis
        .iter()
        .any(|api| api.group_version == want.api_version && api.kinds.contains(&want.kind));
    if binding.targets(id) || served { None } else { refuse("cluster(s) did not have the API resource") }
}

fn taint_toleration(binding: &BindingView, id: ClusterId, cluster: &Cluster) -> Option<String> {
    if binding.targets(id) {
        return None;
    }
    let taint = cluster
        .taints
        .iter()
        .filter(|taint| taint.effect == "NoSchedule" || taint.effect == "NoExecute")
        .find(|taint| !binding.tolerations.iter().any(|toleration| toleration.tolerates(taint)))?;
    refuse(format!("cluster(s) had untolerated taint {{{}}}", taint.display()))
}

fn cluster_affinity(binding: &BindingView, _: ClusterId, cluster: &Cluster) -> Option<String> {
    let matches = binding.affinity.iter().any(|affinity| affinity.matches(&cluster.facts));
    if binding.affinity.is_empty() || matches {
        None
    } else {
        refuse("cluster(s) did not match the placement cluster affinity constraint")
    }
}

fn spread_constraint(binding: &BindingView, _: ClusterId, cluster: &Cluster) -> Option<String> {
    binding.spread.iter().find_map(|spread| match spread.by_field.as_str() {
        "" if !spread.by_label.is_empty() && cluster.facts.label(&spread.by_label).is_none() => {
            refuse(format!("cluster(s) did not have label {}", spread.by_label))
        }
        "provider" if cluster.facts.provider.is_empty() => {
            refuse("cluster(s) did not have provider property")
        }
        "region" if cluster.facts.region.is_empty() => refuse("cluster(s) did not have region property"),
        "zone" if cluster.facts.zones.is_empty() => refuse("cluster(s) did not have zones property"),
        _ => None,
    })
}

fn cluster_eviction(binding: &BindingView, id: ClusterId, _: &Cluster) -> Option<String> {
    if binding.evictions.contains(&id) { refuse("cluster(s) is in the process of eviction") } else { None }
}

struct ClusterLocality;

impl Score for ClusterLocality {
    fn name(&self) -> &str {
        "ClusterLocality"
    }

    fn reads(&self) -> Option<Reads> {
        Some(Reads { clusters: ClusterFields::NONE, binding: BindingFields::OWN_TARGET })
    }

    fn score(
        &mut self,
        table: &ClusterTable,
        binding: &BindingView,
        candidates: Candidates<'_>,
    ) -> Result<Vec<i64>, PluginError> {
        let ids = candidates.ids(table);
        Ok(ids.iter().map(|id| if binding.targets(*id) { 100 } else { 0 }).collect())
    }
}

fn workload_affinity(binding: &BindingView, id: ClusterId, _: &Cluster) -> Option<String> {
    if binding.targets(id) || binding.peers.affinity.iter().all(|peer| peer.contains(&id)) {
        return None;
    }
    refuse("ResourceBinding with the same affinity group does not target this cluster")
}

fn workload_anti_affinity(binding: &BindingView, id: ClusterId, _: &Cluster) -> Option<String> {
    if binding.targets(id) || !binding.peers.anti_affinity.iter().any(|peer| peer.contains(&id)) {
        return None;
    }
    refuse("cluster already has workload with the same anti-affinity group")
}

fn filter(name: &str) -> Option<Judged> {
    type B = BindingFields;
    type C = ClusterFields;
    let rows: [(&'static str, Judge, C, B); 7] = [
        ("APIEnablement", api_enablement, C::APIS, B::KIND | B::OWN_TARGET),
        ("TaintToleration", taint_toleration, C::TAINTS, B::TOLERATIONS | B::OWN_TARGET),
        ("ClusterAffinity", cluster_affinity, C::LABELS | C::LOCATION, B::AFFINITY),
        ("SpreadConstraint", spread_constraint, C::LABELS | C::LOCATION, B::SPREAD),
        ("ClusterEviction", cluster_eviction, C::NONE, B::OWN_EVICTION),
        ("WorkloadAffinity", workload_affinity, C::NONE, B::OWN_TARGET | B::PEERS),
        ("WorkloadAntiAffinity", workload_anti_affinity, C::NONE, B::OWN_TARGET | B::PEERS),
    ];
    let (name, judge, clusters, binding) = rows.into_iter().find(|row| row.0 == name)?;
    Some(Judged { name, judge, reads: Reads { clusters, binding } })
}

/// The profile of these filters; names that no fake has are left out.
pub(crate) fn profile_of(filters: &[&str]) -> Profile {
    Profile {
        filters: filters
            .iter()
            .filter_map(|name| Some(Stage::<dyn Filter>::required(Box::new(filter(name)?))))
            .collect(),
        scores: vec![Stage::<dyn Score>::required(Box::new(ClusterLocality))],
        ..Profile::default()
    }
}

/// The shipped profile.
#[allow(dead_code, reason = "every test has its own copy of this module, and not every one uses all of it")]
pub(crate) fn profile() -> Profile {
    profile_of(&windlass_schedule::plugin::DEFAULT_FILTERS)
}
