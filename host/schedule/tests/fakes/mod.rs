//! The six shipped plugins as native code, for tests only: production runs the components.

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

/// The shipped profile.
pub(crate) fn profile() -> Profile {
    type Row = (&'static str, ClusterFields, BindingFields, Judge);
    let own = BindingFields::OWN_TARGET;
    let placed = ClusterFields::LABELS | ClusterFields::LOCATION;
    let filters: [Row; 5] = [
        ("APIEnablement", ClusterFields::APIS, own | BindingFields::KIND, api_enablement),
        ("TaintToleration", ClusterFields::TAINTS, own | BindingFields::TOLERATIONS, taint_toleration),
        ("ClusterAffinity", placed, BindingFields::AFFINITY, cluster_affinity),
        ("SpreadConstraint", placed, BindingFields::SPREAD, spread_constraint),
        ("ClusterEviction", ClusterFields::NONE, BindingFields::OWN_EVICTION, cluster_eviction),
    ];
    let filter = |(name, clusters, binding, judge): Row| {
        Stage::<dyn Filter>::required(Box::new(Judged { name, reads: Reads { clusters, binding }, judge }))
    };
    Profile {
        filters: filters.into_iter().map(filter).collect(),
        scores: vec![Stage::<dyn Score>::required(Box::new(ClusterLocality))],
        ..Profile::default()
    }
}
