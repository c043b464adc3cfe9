//! What a cluster's change means: which bindings are pushed, and which of those that wait for room are woken.
//!
//! The filters themselves say whether a cluster would take what a need asks for, before and after the change. Filters that
//! look at more of a binding than a need has are taken to let it pass, and what they read of a cluster always counts.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::Driver;
use crate::binding::{BindingFields, BindingView, TargetView};
use crate::capacity::{Capacity, Models};
use crate::needs::{Need, NeedId};
use crate::plugin::{Candidates, Filter, Profile, Reads};
use crate::queue::{Key, Moment};
use crate::records::ClusterId;
use crate::table::{Cluster, ClusterFields, ClusterTable};

/// The filter that compares with the affinities; with it, a cluster that matches none needn't be shown to any filter.
const AFFINITY_FILTER: &str = "ClusterAffinity";

/// Whether a cluster takes bindings of a need: one that is nowhere yet, and one that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Takes {
    new: bool,
    present: bool,
}

/// Answers by need.
type Answers = BTreeMap<NeedId, Takes>;

impl Driver {
    /// A cluster is there, or has changed. Gives how many bindings were moved to the active ones.
    pub fn on_cluster(&mut self, cluster: &Value, now: Moment) -> usize {
        let fresh = Cluster::from_value(cluster);
        let name = fresh.name().to_owned();
        let old = self.table.id(&name).and_then(|id| self.table.get(id)).cloned();
        let changed = old.as_ref().map_or(ClusterFields::ALL, |old| old.difference(&fresh));
        if changed.is_empty() {
            return 0;
        }
        let grew = old.as_ref().is_none_or(|old| grew(&old.capacity, &fresh.capacity));
        let judged = changed != ClusterFields::CAPACITY;
        let ends = fresh.deleting && old.as_ref().is_none_or(|old| !old.deleting);
        let mut relevant: Vec<NeedId> = Vec::new();
        for (id, need) in self.needs.iter() {
            let affinity = self.profiles.get(&*need.scheduler).is_some_and(compares_affinities);
            let matches = !affinity
                || need.matches(&fresh.facts)
                || old.as_ref().is_some_and(|old| need.matches(&old.facts));
            if matches && (judged && !need.open().is_empty() || grew && !need.waiting().is_empty()) {
                relevant.push(id);
            }
        }
        let before = match judged && old.is_some() {
            true => self.ask(&name, &relevant),
            false => Answers::new(),
        };
        self.table.upsert_cluster(fresh);
        let after = self.ask(&name, &relevant);
        let moved = if judged { self.push_affected(&name, &before, &after, changed, ends, now) } else { 0 };
        let woken: Vec<Key> = match grew {
            true => self.with_room(&name, &after),
            false => Vec::new(),
        };
        moved + self.queue.wake(&woken, now)
    }

    /// A cluster is gone.
    pub fn on_cluster_gone(&mut self, name: &str, now: Moment) -> usize {
        let open: Vec<NeedId> =
            self.needs.iter().filter(|(_, need)| !need.open().is_empty()).map(|(id, _)| id).collect();
        let before = self.ask(name, &open);
        self.table.remove(name);
        self.push_affected(name, &before, &Answers::new(), ClusterFields::ALL, true, now)
    }

    /// Asks the filters about one cluster, as the table has it.
    fn ask(&mut self, name: &str, needs: &[NeedId]) -> Answers {
        let Some(id) = self.table.id(name) else { return Answers::new() };
        if self.table.get(id).is_none_or(|cluster| cluster.deleting) {
            return Answers::new();
        }
        let present: BTreeSet<NeedId> =
            self.needs.on(name).filter(|(_, place)| !place.settled).map(|(_, place)| place.need).collect();
        let mut answers = Answers::new();
        for need_id in needs {
            let Some(need) = self.needs.need(*need_id) else { continue };
            let Some(profile) = self.profiles.get_mut(&*need.scheduler) else { continue };
            let takes = Takes {
                new: passes(profile, &self.table, &need.view, id),
                present: present.contains(need_id) && {
                    let targets = vec![TargetView { cluster: id, replicas: 0 }];
                    passes(profile, &self.table, &BindingView { targets, ..need.view.clone() }, id)
                },
            };
            answers.insert(*need_id, takes);
        }
        answers
    }

    /// Pushes all that may be placed otherwise now.
    fn push_affected(
        &mut self,
        name: &str,
        before: &Answers,
        after: &Answers,
        changed: ClusterFields,
        ends: bool,
        now: Moment,
    ) -> usize {
        let mut keys: BTreeMap<Key, i32> = BTreeMap::new();
        let ids: BTreeSet<NeedId> = before.keys().chain(after.keys()).copied().collect();
        let mut present = BTreeSet::new();
        for id in ids {
            let Some(need) = self.needs.need(id) else { continue };
            let follows = self.follows(need);
            let of = |answers: &Answers| answers.get(&id).copied().unwrap_or_default();
            let (before, after) = (of(before), of(after));
            let matters = |was: bool, is: bool| was != is || is && follows.meets(changed);
            if matters(before.present, after.present) {
                present.insert(id);
            }
            if matters(before.new, after.new) {
                for key in need.open() {
                    if let Some(place) = self.needs.place(key)
                        && !place.targets.iter().any(|target| target == name)
                    {
                        keys.insert(key.clone(), place.priority);
                    }
                }
            }
        }
        for (key, place) in self.needs.on(name) {
            if if place.settled { ends } else { present.contains(&place.need) } {
                keys.insert(key.clone(), place.priority);
            }
        }
        for (key, priority) in &keys {
            self.queue.push(key, *priority, now);
        }
        keys.len()
    }

    /// Those that wait for room and would be taken.
    fn with_room(&self, name: &str, after: &Answers) -> Vec<Key> {
        let mut keys = Vec::new();
        for (id, takes) in after {
            let Some(need) = self.needs.need(*id) else { continue };
            let on = |key: &Key| {
                self.needs.place(key).is_some_and(|place| place.targets.iter().any(|target| target == name))
            };
            keys.extend(
                need.waiting().iter().filter(|key| if on(key) { takes.present } else { takes.new }).cloned(),
            );
        }
        keys
    }

    /// What of a cluster counts for a need although the cluster takes it before and after.
    fn follows(&self, need: &Need) -> ClusterFields {
        let mut fields = need.follows;
        let all = |reads: Option<Reads>| reads.map_or(ClusterFields::PLUGIN, |reads| reads.clusters);
        if let Some(profile) = self.profiles.get(&*need.scheduler) {
            for stage in &profile.scores {
                fields |= all(stage.plugin.reads());
            }
            for stage in profile.filters.iter().filter(|stage| !can_be_asked(&*stage.plugin)) {
                fields |= all(stage.plugin.reads());
            }
        }
        fields
    }
}

fn compares_affinities(profile: &Profile) -> bool {
    profile.filters.iter().any(|stage| stage.plugin.name() == AFFINITY_FILTER)
}

/// Whether a need has all that a filter reads of a binding. One that doesn't say is taken to read everything.
pub(super) fn can_be_asked(filter: &dyn Filter) -> bool {
    let needs = BindingFields::RESOURCE
        | BindingFields::KIND
        | BindingFields::AFFINITY
        | BindingFields::TOLERATIONS
        | BindingFields::SPREAD
        | BindingFields::REPLICAS
        | BindingFields::OWN_TARGET;
    filter.reads().is_some_and(|reads| needs.contains(reads.binding))
}

/// Whether all filters that can be asked let a cluster pass; one that fails is taken to.
fn passes(profile: &mut Profile, table: &ClusterTable, view: &BindingView, id: ClusterId) -> bool {
    profile.filters.iter_mut().all(|stage| {
        !can_be_asked(&*stage.plugin)
            || stage.plugin.filter(table, view, Candidates::These(&[id])).map_or(true, |passed| passed.get(0))
    })
}

/// Whether a cluster has more of anything than before.
fn grew(old: &Capacity, new: &Capacity) -> bool {
    let models = |capacity: &Capacity| matches!(capacity.models, Some(Models::Grades(_)));
    if old.models != new.models && models(new) {
        return true;
    }
    match (&old.summary, &new.summary) {
        (_, None) => false,
        (None, Some(_)) => true,
        (Some(old), Some(new)) => {
            new.pods > old.pods
                || new.free.iter().any(|(name, free)| {
                    old.free
                        .get(name)
                        .is_none_or(|before| free.millis > before.millis || free.units > before.units)
                })
        }
    }
}
