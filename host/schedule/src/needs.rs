//! Which bindings a cluster's change can affect, without looking at all of them. What bindings ask of clusters (affinity,
//! tolerations, spread constraints, kind) is kept once for all that ask the same: a *need*. A change is tested against each
//! need, and only the bindings of those that it touches are looked at. Pure bookkeeping; `driver` asks the filters.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use serde_json::Value;
use windlass_object::path::{get, i64_at};

use crate::binding::BindingView;
use crate::decide::{Trigger, scheduled_condition, trigger_of};
use crate::queue::Key;
use crate::records::{ClusterAffinity, ClusterFacts, ObjectReference};
use crate::request::{AffinityTerm, Request};
use crate::table::{ClusterFields, ClusterTable};

/// A number of a need; reused once its last binding is gone.
pub type NeedId = usize;

/// What filters are shown of a binding beyond affinity, tolerations, spread constraints and kind. The less, the more
/// bindings share a need.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Detail {
    /// Namespace, name and UID of the template.
    pub resource: bool,
    /// The number of replicas.
    pub replicas: bool,
}

/// What some bindings ask of clusters.
#[derive(Debug)]
pub struct Need {
    /// Their scheduler.
    pub scheduler: Arc<str>,
    /// What filters are shown of them: a binding that is nowhere yet, with every affinity that may come into force.
    pub view: BindingView,
    /// What of a cluster that takes them before and after its change matters nevertheless.
    pub follows: ClusterFields,
    text: Arc<str>,
    open: BTreeSet<Key>,
    waiting: BTreeSet<Key>,
    members: usize,
}

impl Need {
    /// Whether a cluster matches one of the affinities, or there are none.
    pub fn matches(&self, facts: &ClusterFacts) -> bool {
        self.view.affinity.is_empty() || self.view.affinity.iter().any(|affinity| affinity.matches(facts))
    }

    /// Bindings that a pass might place otherwise.
    pub fn open(&self) -> &BTreeSet<Key> {
        &self.open
    }

    /// Those of them that wait for room.
    pub fn waiting(&self) -> &BTreeSet<Key> {
        &self.waiting
    }
}

/// What is known of one binding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// What it asks for.
    pub need: NeedId,
    /// Its clusters.
    pub targets: Vec<String>,
    /// Divided and placed: only the end of one of its clusters moves it.
    pub settled: bool,
    /// Its last pass failed.
    pub failed: bool,
    /// `spec.schedulePriority.priority`.
    pub priority: i32,
}

/// All bindings of a process's schedulers, by what they ask of clusters and by where they are.
#[derive(Debug, Default)]
pub struct Needs {
    slots: Vec<Option<Need>>,
    free: Vec<NeedId>,
    by_text: HashMap<Arc<str>, NeedId>,
    bindings: HashMap<Key, Place>,
    on: HashMap<String, BTreeSet<Key>>,
}

impl Needs {
    /// A binding is there, or has changed. `components` is gate `MultiplePodTemplatesScheduling`.
    pub fn put(&mut self, key: &Key, binding: &Value, scheduler: &str, detail: Detail, components: bool) {
        let request = Request::from_binding(binding);
        let trigger = trigger_of(binding, &request, &ClusterTable::new(), components);
        let condition = scheduled_condition(binding);
        let (status, _) = condition.unwrap_or_default();
        let place = Place {
            need: self.intern(scheduler, binding, &request, status == "True", detail),
            targets: request.targets.iter().map(|target| target.name.clone()).collect(),
            settled: matches!(trigger, Trigger::Skip(_)),
            failed: status == "False",
            priority: priority(binding),
        };
        let before = self.bindings.get(key);
        if before == Some(&place) {
            return self.release(place.need);
        }
        // A binding that waits goes on waiting: the queue says when it is over.
        let waits = before
            .is_some_and(|before| self.need(before.need).is_some_and(|need| need.waiting.contains(key)));
        self.remove(key);
        for name in &place.targets {
            self.on.entry(name.clone()).or_default().insert(key.clone());
        }
        if let Some(need) = self.slots.get_mut(place.need).and_then(Option::as_mut) {
            if !place.settled {
                need.open.insert(key.clone());
            }
            if waits {
                need.waiting.insert(key.clone());
            }
        }
        self.bindings.insert(key.clone(), place);
    }

    /// A binding is gone, or no longer ours.
    pub fn remove(&mut self, key: &str) {
        let Some((key, place)) = self.bindings.remove_entry(key) else { return };
        for name in &place.targets {
            if let Some(keys) = self.on.get_mut(name) {
                keys.remove(&key);
                if keys.is_empty() {
                    self.on.remove(name);
                }
            }
        }
        if let Some(need) = self.slots.get_mut(place.need).and_then(Option::as_mut) {
            need.open.remove(&key);
            need.waiting.remove(&key);
        }
        self.release(place.need);
    }

    /// Whether a binding waits for room.
    pub fn wait(&mut self, key: &str, waits: bool) {
        let Some((key, place)) = self.bindings.get_key_value(key) else { return };
        let Some(need) = self.slots.get_mut(place.need).and_then(Option::as_mut) else { return };
        if waits {
            need.waiting.insert(key.clone());
        } else {
            need.waiting.remove(key);
        }
    }

    /// All needs.
    pub fn iter(&self) -> impl Iterator<Item = (NeedId, &Need)> {
        self.slots.iter().enumerate().filter_map(|(id, slot)| Some((id, slot.as_ref()?)))
    }

    /// One of them.
    pub fn need(&self, id: NeedId) -> Option<&Need> {
        self.slots.get(id)?.as_ref()
    }

    /// What is known of a binding.
    pub fn place(&self, key: &str) -> Option<&Place> {
        self.bindings.get(key)
    }

    /// The bindings that are on a cluster.
    pub fn on(&self, cluster: &str) -> impl Iterator<Item = (&Key, &Place)> {
        self.on.get(cluster).into_iter().flatten().filter_map(|key| self.bindings.get_key_value(key))
    }

    /// Keys of a scheduler's bindings.
    pub fn of(&self, scheduler: &str) -> Vec<Key> {
        let of = |place: &Place| self.need(place.need).is_some_and(|need| &*need.scheduler == scheduler);
        self.bindings.iter().filter(|(_, place)| of(place)).map(|(key, _)| key.clone()).collect()
    }

    /// How many bindings there are.
    pub fn len(&self) -> usize {
        self.bindings.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.bindings.is_empty()
    }

    /// The need of a binding, counted once more.
    fn intern(
        &mut self,
        scheduler: &str,
        binding: &Value,
        request: &Request,
        placed: bool,
        detail: Detail,
    ) -> NeedId {
        let in_force = placed.then_some(request.observed_affinity.as_str());
        let resource = shown(&request.resource, detail);
        let replicas = if detail.replicas { request.replicas } else { 0 };
        let placement = get(binding, &["spec", "placement"]).unwrap_or(&Value::Null);
        // Not the group in force where there are no groups.
        let group = if has_groups(request) { in_force } else { None };
        let text = format!(
            "{scheduler}\n{resource:?}\n{replicas}\n{}\n{group:?}\n{placement}",
            request.is_workload()
        );
        if let Some(id) = self.by_text.get(text.as_str()).copied() {
            if let Some(need) = self.slots.get_mut(id).and_then(Option::as_mut) {
                need.members += 1;
            }
            return id;
        }
        let text: Arc<str> = text.into();
        let placement = request.placement.as_ref();
        let need = Need {
            scheduler: scheduler.into(),
            follows: follows(request),
            view: BindingView {
                resource,
                affinity: affinities(request, in_force),
                tolerations: placement.map(|placement| placement.tolerations.clone()).unwrap_or_default(),
                spread: placement.map(|placement| placement.spread.clone()).unwrap_or_default(),
                replicas,
                workload: request.is_workload(),
                ..BindingView::default()
            },
            text: text.clone(),
            open: BTreeSet::new(),
            waiting: BTreeSet::new(),
            members: 1,
        };
        let id = self.free.pop().unwrap_or(self.slots.len());
        match self.slots.get_mut(id) {
            Some(slot) => *slot = Some(need),
            None => self.slots.push(Some(need)),
        }
        self.by_text.insert(text, id);
        id
    }

    fn release(&mut self, id: NeedId) {
        let Some(slot) = self.slots.get_mut(id) else { return };
        let Some(need) = slot else { return };
        need.members -= 1;
        if need.members == 0 {
            self.by_text.remove(&need.text);
            *slot = None;
            self.free.push(id);
        }
    }
}

/// `spec.schedulePriority.priority`.
pub fn priority(binding: &Value) -> i32 {
    let found = i64_at(binding, &["spec", "schedulePriority", "priority"]).unwrap_or(0);
    i32::try_from(found).unwrap_or(0)
}

fn shown(resource: &Arc<ObjectReference>, detail: Detail) -> Arc<ObjectReference> {
    if detail.resource {
        return resource.clone();
    }
    let (api_version, kind) = (resource.api_version.clone(), resource.kind.clone());
    Arc::new(ObjectReference { api_version, kind, ..ObjectReference::default() })
}

fn has_groups(request: &Request) -> bool {
    request
        .placement
        .as_ref()
        .is_some_and(|placement| placement.affinity.is_none() && !placement.terms.is_empty())
}

/// Every affinity that the next pass may bring into force: all groups if none has succeeded.
fn affinities(request: &Request, in_force: Option<&str>) -> Vec<Arc<ClusterAffinity>> {
    let Some(placement) = &request.placement else { return Vec::new() };
    if let Some(affinity) = &placement.affinity {
        return vec![affinity.clone()];
    }
    let with_overflow = |term: &AffinityTerm| -> Vec<Arc<ClusterAffinity>> {
        let overflow = term.overflow.iter().flatten().filter(|_| request.is_workload());
        std::iter::once(&term.affinity).chain(overflow).cloned().collect()
    };
    match in_force.and_then(|name| request.term(name)) {
        Some(term) => with_overflow(term),
        None => placement.terms.iter().flat_map(with_overflow).collect(),
    }
}

/// What of a cluster that passes all filters the host's own rules look at.
fn follows(request: &Request) -> ClusterFields {
    let Some(placement) = &request.placement else { return ClusterFields::NONE };
    let mut fields = ClusterFields::NONE;
    for spread in placement.spread.iter() {
        if !spread.by_label.is_empty() {
            fields |= ClusterFields::LABELS;
        }
        if !matches!(spread.by_field.as_str(), "" | "cluster") {
            fields |= ClusterFields::LOCATION;
        }
    }
    let weighted = placement
        .strategy
        .as_ref()
        .and_then(|strategy| strategy.weights.as_ref())
        .is_some_and(|weights| !weights.fixed.is_empty());
    let overflows = placement.terms.iter().any(|term| term.overflow.is_some());
    if weighted || overflows {
        fields |= ClusterFields::LABELS | ClusterFields::LOCATION;
    }
    fields
}

/// Distinct needs with their bindings, for diagnostics.
impl std::fmt::Display for Needs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let counts: BTreeMap<NeedId, usize> = self.iter().map(|(id, need)| (id, need.members)).collect();
        write!(f, "{} bindings with {} needs", self.bindings.len(), counts.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn binding(name: &str, placement: &Value, clusters: &[&str]) -> Value {
        let clusters: Vec<Value> = clusters.iter().map(|name| json!({"name": name, "replicas": 1})).collect();
        json!({"metadata": {"name": name, "namespace": "shop", "generation": 1},
            "spec": {"resource": {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}, "replicas": 1,
                "placement": placement, "clusters": clusters}})
    }

    #[test]
    fn bindings_that_ask_the_same_share_a_need() {
        let mut needs = Needs::default();
        let mut put = |name: &str, placement: &Value, clusters: &[&str]| {
            needs.put(&name.into(), &binding(name, placement, clusters), "s", Detail::default(), false);
            needs.place(name).cloned()
        };
        let (plain, named) = (json!({}), json!({"clusterAffinity": {"clusterNames": ["m1"]}}));
        let a = put("a", &plain, &[]).unwrap();
        let b = put("b", &plain, &["m1", "m2"]).unwrap();
        let c = put("c", &named, &["m1"]).unwrap();
        assert_eq!(a.need, b.need);
        assert_ne!(a.need, c.need);
        let on: Vec<&str> = needs.on("m1").map(|(key, _)| &**key).collect();
        assert_eq!(on, ["b", "c"]);
        needs.put(&"c".into(), &binding("c", &plain, &[]), "s", Detail::default(), false);
        assert_eq!((needs.on("m1").count(), needs.iter().count()), (1, 1), "the other need is gone");
        for key in ["a", "b", "c", "c"] {
            needs.remove(key);
        }
        assert!(
            needs.is_empty() && needs.iter().count() == 0 && needs.on.is_empty() && needs.by_text.is_empty()
        );
    }

    #[test]
    fn waiting_survives_a_change() {
        let mut needs = Needs::default();
        let key: Key = "a".into();
        let put = |needs: &mut Needs, placement: &Value| {
            needs.put(&key, &binding("a", placement, &[]), "s", Detail::default(), false);
        };
        put(&mut needs, &json!({}));
        needs.wait("a", true);
        put(&mut needs, &json!({"clusterAffinity": {}}));
        assert_eq!(needs.iter().map(|(_, need)| need.waiting().len()).sum::<usize>(), 1);
        needs.wait("a", false);
        assert_eq!(needs.iter().map(|(_, need)| need.waiting().len()).sum::<usize>(), 0);
    }
}
