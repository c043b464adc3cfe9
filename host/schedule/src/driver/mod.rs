//! The whole scheduler but its reading and writing: told of every change of bindings and clusters, it says which binding is
//! next, decides, and keeps in mind what was decided and isn't shown yet. The caller brings the clock, carries decisions
//! out, and reports how that went.

mod clusters;
mod flight;

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use serde_json::Value;
use windlass_object::Meta;
use windlass_object::path::{i64_at, list_at, str_at};

use crate::assumptions::Assumptions;
use crate::binding::{BindingFields, Peers};
use crate::decide::{self, Trigger};
use crate::gates::Gates;
use crate::groups::Groups;
use crate::needs::{self, Detail, Needs};
use crate::pass::{self, Plan, Retry, Surroundings};
use crate::pipeline::Options;
use crate::plugin::{Assumed, Profile};
use crate::queue::{Entry, Key, Lengths, Moment, Queue};
use crate::request::Request;
use crate::table::ClusterTable;
use flight::Flight;

pub use flight::Written;

/// What operators may set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Settings {
    /// Which features are on.
    pub gates: Gates,
    /// Keeps selected clusters that got no replicas.
    pub empty_workload_propagation: bool,
}

/// The schedulers of a process, without IO.
#[derive(Default)]
pub struct Driver {
    settings: Settings,
    table: ClusterTable,
    profiles: BTreeMap<String, Profile>,
    queue: Queue,
    needs: Needs,
    groups: Groups,
    assumptions: Assumptions,
    seen: HashMap<Key, Seen>,
    flights: HashMap<Key, Flight>,
    /// What the server answered to own writes, until it is shown.
    newest: HashMap<Key, Arc<Value>>,
}

/// What is known of a binding's versions.
#[derive(Debug, Default)]
struct Seen {
    uid: String,
    /// The newest generation that was pushed or decided about.
    generation: i64,
    /// The newest version that was shown.
    version: u64,
    /// What the index was made of.
    indexed: u64,
}

/// What is to be done about a binding.
#[derive(Debug)]
pub enum Decision {
    /// Nothing: it is gone, going, suspended, or somebody else's.
    Nothing,
    /// It can't be decided; tried again as told.
    Failed(Retry),
    /// It is as it should be: only its status may have to say so ([`pass::settled_status`]).
    Settled(Arc<Value>),
    /// A pass was made: carry the plan out over this object.
    Placed(Arc<Value>, Box<Plan>, Trigger),
}

impl Driver {
    /// Without clusters, bindings and profiles.
    pub fn new(settings: Settings) -> Self {
        let queue = if settings.gates.priorities { Queue::new() } else { Queue::without_priorities() };
        Self { settings, queue, ..Self::default() }
    }

    /// The clusters.
    pub fn table(&self) -> &ClusterTable {
        &self.table
    }

    /// Which bindings wait, and where.
    pub fn queue(&self) -> &Queue {
        &self.queue
    }

    /// How many bindings wait, and where.
    pub fn lengths(&self) -> Lengths {
        self.queue.lengths()
    }

    /// The index, for diagnostics.
    pub fn needs(&self) -> &Needs {
        &self.needs
    }

    /// The names of the schedulers that run.
    pub fn schedulers(&self) -> impl Iterator<Item = &str> {
        self.profiles.keys().map(String::as_str)
    }

    /// From now on this scheduler runs, with these plugins. Every binding is to be told of by [`Driver::reconsider`] then.
    pub fn set_profile(&mut self, scheduler: &str, profile: Profile) {
        self.profiles.insert(scheduler.to_owned(), profile);
    }

    /// This scheduler runs no more; its bindings stay as they are.
    pub fn remove_profile(&mut self, scheduler: &str) {
        if self.profiles.remove(scheduler).is_some() {
            for key in self.needs.of(scheduler) {
                self.leave(&key);
            }
        }
    }

    /// A binding is there, has changed, or is gone.
    pub fn on_binding(&mut self, key: &Key, binding: Option<&Arc<Value>>, now: Moment) {
        let Some(binding) = binding else {
            self.newest.remove(key);
            return self.gone(key, now);
        };
        if let Some(newest) = self.newest.get(key) {
            if newest.uid() == binding.uid() && version(binding) < version(newest) {
                // All that it tells was known when the newer one was written.
                return;
            }
            self.newest.remove(key);
        }
        if !self.handles(binding) {
            return self.gone(key, now);
        }
        self.index(key, binding, now);
        let generation = binding.generation();
        let Some(seen) = self.seen.get_mut(key) else { return };
        seen.version = version(binding);
        if generation <= seen.generation {
            return;
        }
        if let Some(flight) = self.flights.get_mut(key)
            && flight.may_have_made(binding.uid(), generation)
        {
            return;
        }
        seen.generation = generation;
        self.queue.push(key, needs::priority(binding), now);
    }

    /// A binding is to be looked at again although nothing of it has changed.
    pub fn reconsider(&mut self, key: &Key, binding: &Arc<Value>, now: Moment) {
        self.seen.remove(key);
        self.on_binding(key, Some(binding), now);
        if self.seen.contains_key(key) {
            self.queue.push(key, needs::priority(binding), now);
        }
    }

    /// The most urgent binding; to be decided and handed back by [`Driver::finish`].
    pub fn pop(&mut self, now: Moment) -> Option<Entry> {
        self.queue.tick(now);
        let entry = self.queue.pop()?;
        self.needs.wait(&entry.key, false);
        Some(entry)
    }

    /// When [`Driver::pop`] may have something although nothing was told; nothing if only an event can bring it.
    pub fn next_tick(&self) -> Option<Moment> {
        self.queue.next_tick()
    }

    /// Decides about a binding that was popped. `shown` is the object as the caller has it.
    pub fn decide(&mut self, key: &Key, shown: Option<Arc<Value>>, now: Moment) -> Decision {
        let Some(binding) = self.newest.get(key).cloned().or(shown) else { return Decision::Nothing };
        // It may have been suspended since it was pushed.
        if !self.handles(&binding) {
            return Decision::Nothing;
        }
        if let Some(seen) = self.seen.get_mut(key) {
            seen.generation = seen.generation.max(binding.generation());
        }
        match decide::trigger(&binding, &self.table, self.settings.gates.components) {
            Trigger::Deleting => Decision::Nothing,
            Trigger::NoPlacement => Decision::Failed(Retry::Backoff),
            Trigger::Skip(_) => Decision::Settled(binding),
            trigger => {
                let request = Request::from_binding(&binding);
                let Some(plan) = self.plan(&binding, &request, false, now) else { return Decision::Nothing };
                self.depart(key, &binding, &request, &plan, now);
                Decision::Placed(binding, Box::new(plan), trigger)
            }
        }
    }

    /// What a pass about a binding would come to now, with every reason; nothing if no scheduler here handles it.
    pub fn explain(&mut self, binding: &Value, now: Moment) -> Option<Plan> {
        self.plan(binding, &Request::from_binding(binding), true, now)
    }

    fn plan(&mut self, binding: &Value, request: &Request, explain: bool, now: Moment) -> Option<Plan> {
        let gates = self.settings.gates;
        let peers = match gates.workload_affinity {
            true => self.groups.peers(request, &self.table),
            false => Peers::default(),
        };
        let assumed = match gates.overcommit_protection {
            true => self.assumptions.live(now, &self.table),
            false => Assumed::new(),
        };
        let around = Surroundings {
            table: &self.table,
            peers: &peers,
            assumed: &assumed,
            options: Options {
                empty_workload_propagation: self.settings.empty_workload_propagation,
                components: gates.components,
                models: gates.models,
                explain,
            },
        };
        let profile = self.profiles.get_mut(decide::scheduler_of(binding))?;
        Some(pass::plan(binding, &around, profile))
    }

    /// Whether one of the schedulers is to place it: its own, not suspended, of a policy, and not on its way out.
    fn handles(&self, binding: &Value) -> bool {
        let scheduler = decide::scheduler_of(binding);
        self.profiles.contains_key(scheduler)
            && decide::is_handled(binding, scheduler)
            && !binding.is_deleting()
    }

    /// Keeps in mind what a binding asks for and where it is, if that has changed.
    fn index(&mut self, key: &Key, binding: &Value, now: Moment) {
        let scheduler = decide::scheduler_of(binding);
        let indexed = fingerprint(binding);
        let seen = self.seen.entry(key.clone()).or_default();
        if seen.uid != binding.uid() {
            *seen = Seen { uid: binding.uid().to_owned(), ..Seen::default() };
        }
        if self.settings.gates.overcommit_protection {
            for item in list_at(binding, &["status", "aggregatedStatus"]) {
                if str_at(item, &["health"]) == "Healthy" {
                    self.assumptions.release(key, str_at(item, &["clusterName"]));
                }
            }
        }
        if seen.indexed == indexed && self.needs.place(key).is_some() {
            return;
        }
        seen.indexed = indexed;
        let detail = self.profiles.get(scheduler).map(detail).unwrap_or_default();
        self.needs.put(key, binding, scheduler, detail, self.settings.gates.components);
        if self.settings.gates.workload_affinity
            && self.groups.put(key, &Request::from_binding(binding), version(binding))
        {
            let peers = self.groups.sharing(key);
            self.peers_changed(peers, now);
        }
    }

    /// What a group allows has changed: those of it that found no place try again.
    fn peers_changed(&mut self, peers: Vec<Key>, now: Moment) {
        for key in peers {
            if let Some(place) = self.needs.place(&key).filter(|place| place.failed) {
                self.queue.push(&key, place.priority, now);
            }
        }
    }

    /// A binding is gone or not ours any more.
    fn gone(&mut self, key: &Key, now: Moment) {
        let peers = self.groups.remove(key);
        self.leave(key);
        self.peers_changed(peers, now);
    }

    fn leave(&mut self, key: &Key) {
        self.queue.forget(key);
        self.needs.remove(key);
        self.groups.remove(key);
        self.assumptions.forget(key);
        self.seen.remove(key);
    }
}

/// What the filters of a profile are shown beyond what every need has.
fn detail(profile: &Profile) -> Detail {
    let asked = profile.filters.iter().filter(|stage| clusters::can_be_asked(&*stage.plugin));
    let reads = asked.filter_map(|stage| stage.plugin.reads());
    let all = reads.fold(BindingFields::NONE, |all, reads| all | reads.binding);
    Detail {
        resource: all.contains(BindingFields::RESOURCE),
        replicas: all.contains(BindingFields::REPLICAS),
    }
}

/// A number for all that the index is made of.
fn fingerprint(binding: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    let field = |path: &[&str]| str_at(binding, path);
    decide::scheduler_of(binding).hash(&mut hasher);
    binding.generation().hash(&mut hasher);
    i64_at(binding, &["status", "schedulerObservedGeneration"]).hash(&mut hasher);
    field(&["status", "lastScheduledTime"]).hash(&mut hasher);
    decide::observed_affinity(binding).hash(&mut hasher);
    decide::scheduled_condition(binding).hash(&mut hasher);
    binding.annotation(windlass_api::labels::ANNOTATION_APPLIED_PLACEMENT).hash(&mut hasher);
    hasher.finish()
}

/// The version as a number; servers count them up.
fn version(object: &Value) -> u64 {
    object.resource_version().parse().unwrap_or(0)
}
