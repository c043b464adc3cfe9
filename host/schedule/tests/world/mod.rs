//! A control plane in miniature for the driver: objects with versions and generations, writes that are refused when they
//! rest on something old, and watches that may lag.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise; clippy exempts only the test functions themselves"
)]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use windlass_object::Meta;
use windlass_object::patch::{apply_json_patch, apply_merge_patch};
use windlass_object::path::{list_at, str_at};
use windlass_schedule::Profile;
use windlass_schedule::driver::{Decision, Driver, Settings, Written};
use windlass_schedule::pass::{self, Retry, Verdict};
use windlass_schedule::queue::{Key, Moment};

/// Decisions in one step after which something goes round in circles.
const MANY: usize = 500;

/// When a change is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Watch {
    /// Before the write that made it is answered.
    Quick,
    /// When there is nothing else to do.
    Late,
}

pub(crate) struct World {
    pub(crate) driver: Driver,
    settings: Settings,
    profile: Box<dyn Fn() -> Profile>,
    watch: Watch,
    pub(crate) now: Moment,
    version: u64,
    pub(crate) clusters: BTreeMap<String, Value>,
    pub(crate) bindings: BTreeMap<Key, Arc<Value>>,
    /// What the watch has told of bindings.
    shown: BTreeMap<Key, Arc<Value>>,
    untold: Vec<Key>,
    /// What somebody else does while the next result is on its way.
    pub(crate) meanwhile: Option<(Key, Value)>,
    /// What was decided, written and told, since the log was taken last.
    pub(crate) decided: Vec<String>,
    pub(crate) writes: Vec<String>,
    pub(crate) events: Vec<String>,
}

impl World {
    pub(crate) fn new(settings: Settings, watch: Watch, profile: impl Fn() -> Profile + 'static) -> Self {
        let mut world = Self {
            driver: Driver::new(settings),
            settings,
            profile: Box::new(profile),
            watch,
            now: Duration::ZERO,
            version: 0,
            clusters: BTreeMap::new(),
            bindings: BTreeMap::new(),
            shown: BTreeMap::new(),
            untold: Vec::new(),
            meanwhile: None,
            decided: Vec::new(),
            writes: Vec::new(),
            events: Vec::new(),
        };
        world.restart();
        world
    }

    /// The process ends, and another one reads everything.
    pub(crate) fn restart(&mut self) {
        self.driver = Driver::new(self.settings);
        for scheduler in ["default-scheduler", "second"] {
            self.driver.set_profile(scheduler, (self.profile)());
        }
        self.untold.clear();
        self.shown = self.bindings.clone();
        for cluster in self.clusters.values() {
            self.driver.on_cluster(cluster, self.now);
        }
        for (key, binding) in &self.shown {
            self.driver.on_binding(key, Some(binding), self.now);
        }
    }

    pub(crate) fn cluster(&mut self, name: &str, cluster: Option<Value>) {
        match cluster {
            Some(cluster) => {
                self.driver.on_cluster(&cluster, self.now);
                self.clusters.insert(name.to_owned(), cluster);
            }
            None => {
                self.driver.on_cluster_gone(name, self.now);
                self.clusters.remove(name);
            }
        }
    }

    /// Somebody writes a binding; `None` deletes it.
    pub(crate) fn binding(&mut self, key: &Key, binding: Option<Value>) {
        match binding {
            Some(binding) => self.store(key, binding),
            None => drop(self.bindings.remove(key)),
        }
        self.untold.push(key.clone());
        self.tell();
    }

    fn store(&mut self, key: &Key, mut binding: Value) {
        self.version += 1;
        let old = self.bindings.get(key);
        let generation = match old {
            None => binding.generation().max(1),
            Some(old) if old.get("spec") == binding.get("spec") => old.generation(),
            Some(old) => old.generation() + 1,
        };
        let uid = old.map_or_else(|| format!("uid-{}", self.version), |old| old.uid().to_owned());
        let metadata = binding.metadata_mut();
        metadata.insert("generation".into(), generation.into());
        metadata.insert("resourceVersion".into(), self.version.to_string().into());
        metadata.insert("uid".into(), uid.into());
        self.bindings.insert(key.clone(), Arc::new(binding));
    }

    fn tell(&mut self) {
        for key in std::mem::take(&mut self.untold) {
            let binding = self.bindings.get(&key);
            match binding {
                Some(binding) => drop(self.shown.insert(key.clone(), binding.clone())),
                None => drop(self.shown.remove(&key)),
            }
            self.driver.on_binding(&key, binding, self.now);
        }
    }

    /// Time passes, and everything that is due is done.
    pub(crate) fn settle(&mut self) {
        let mut decisions = 0;
        loop {
            while let Some(entry) = self.driver.pop(self.now) {
                self.handle(&entry.key);
                decisions += 1;
                assert!(decisions < MANY, "it goes round in circles: {:?}", &self.decided[..20]);
            }
            if self.untold.is_empty() {
                return;
            }
            self.tell();
        }
    }

    fn handle(&mut self, key: &Key) {
        let shown = self.shown.get(key).cloned();
        let decision = self.driver.decide(key, shown, self.now);
        if let Some((other, change)) = self.meanwhile.take() {
            let mut binding = (**self.bindings.get(&other).unwrap()).clone();
            apply_merge_patch(&mut binding, &change);
            self.store(&other, binding);
            self.untold.push(other);
            self.tell_if_quick();
        }
        let name = key.rsplit('/').next().unwrap_or(key);
        let retry = match decision {
            Decision::Nothing => {
                self.decided.push(format!("{name} left alone"));
                Retry::No
            }
            Decision::Failed(retry) => {
                self.decided.push(format!("{name} can't be decided"));
                retry
            }
            Decision::Settled(binding) => {
                self.decided.push(format!("{name} settled"));
                let generation = binding.generation();
                self.write_status(key, |object, now| pass::settled_status(object, generation, now));
                Retry::No
            }
            Decision::Placed(binding, plan, trigger) => {
                let verdict = match &plan.verdict {
                    Verdict::Success => {
                        targets(&plan.targets.iter().map(|t| t.to_value()).collect::<Vec<_>>())
                    }
                    other => other.condition(0).reason,
                };
                self.decided.push(format!("{name} {trigger:?}: {verdict}"));
                let mut generation = binding.generation();
                if let Some(patch) = &plan.result {
                    self.writes.push(format!("result {name}"));
                    let current = self.bindings.get(key).map(|current| (**current).clone());
                    let written = current.clone().filter(|_| true).and_then(|mut current| {
                        apply_json_patch(&mut current, patch).ok()?;
                        Some(current)
                    });
                    let Some(written) = written else {
                        self.writes.push(format!("refused {name}"));
                        let fresh = self.bindings.get(key).cloned();
                        self.driver.written(key, &Written::Refused(fresh), self.now);
                        self.driver.finish(key, Retry::No, self.now);
                        return;
                    };
                    self.store(key, written);
                    self.untold.push(key.clone());
                    self.tell_if_quick();
                    let answer = self.bindings.get(key).unwrap().clone();
                    generation = answer.generation();
                    self.driver.written(key, &Written::Accepted(answer), self.now);
                }
                let before = self.writes.len();
                let wrote = plan.clone();
                self.write_status(key, |object, now| wrote.status(object, &wrote.verdict, generation, now));
                if self.writes.len() > before || plan.result.is_some() {
                    self.events.extend(plan.events.iter().map(|event| {
                        let kind = if event.warning { "Warning" } else { "Normal" };
                        format!("{kind} {}: {}", event.reason, event.message)
                    }));
                }
                plan.verdict.retry()
            }
        };
        self.driver.finish(key, retry, self.now);
    }

    fn write_status(&mut self, key: &Key, plan: impl Fn(&Value, &str) -> Option<Value>) {
        let Some(current) = self.bindings.get(key) else { return };
        let seconds = self.now.as_secs();
        let now = format!("2026-06-01T{:02}:{:02}:{:02}Z", seconds / 3600, seconds / 60 % 60, seconds % 60);
        let Some(patch) = plan(current, &now) else { return };
        let mut after = (**current).clone();
        apply_merge_patch(&mut after, &patch);
        self.store(key, after);
        self.writes.push(format!("status {}", key.rsplit('/').next().unwrap_or(key)));
        self.untold.push(key.clone());
        self.tell_if_quick();
        let answer = self.bindings.get(key).unwrap().clone();
        self.driver.answered(key, &answer);
    }

    fn tell_if_quick(&mut self) {
        if self.watch == Watch::Quick {
            self.tell();
        }
    }

    /// Where a binding is: `m1:2, m2:1`.
    #[allow(dead_code, reason = "not every test that has a copy of this module looks at it")]
    pub(crate) fn placed(&self, key: &Key) -> String {
        self.bindings
            .get(key)
            .map(|binding| targets(list_at(binding, &["spec", "clusters"])))
            .unwrap_or_default()
    }
}

fn targets(clusters: &[Value]) -> String {
    let texts: Vec<String> = clusters
        .iter()
        .map(|target| {
            let name = str_at(target, &["name"]);
            let replicas = target["replicas"].as_i64();
            replicas.map_or_else(|| name.to_owned(), |replicas| format!("{name}:{replicas}"))
        })
        .collect();
    texts.join(", ")
}

/// A Cluster of few words: `pods`, `labels`, `region`, `provider`, `zones`, `taints` (`key=value:Effect`), `kinds`,
/// `deleting`.
pub(crate) fn cluster(name: &str, words: &Value) -> Value {
    let taints: Vec<Value> = list_at(words, &["taints"])
        .iter()
        .map(|taint| {
            let (pair, effect) = taint.as_str().unwrap().rsplit_once(':').unwrap();
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            json!({"key": key, "value": value, "effect": effect})
        })
        .collect();
    let everything = [json!("Deployment"), json!("ConfigMap")];
    let kinds = match words.get("kinds") {
        Some(_) => list_at(words, &["kinds"]),
        None => &everything[..],
    };
    let group = |version: &str, kind: &str| {
        let served = kinds.iter().any(|served| *served == kind);
        served.then(|| json!({"groupVersion": version, "resources": [{"kind": kind}]}))
    };
    let enabled: Vec<Value> =
        [group("apps/v1", "Deployment"), group("v1", "ConfigMap")].into_iter().flatten().collect();
    let pods = words["pods"].as_i64().unwrap_or(100);
    let mut cluster = json!({"metadata": {"name": name, "labels": words["labels"]},
        "spec": {"taints": taints, "region": words["region"], "provider": words["provider"], "zones": words["zones"]},
        "status": {"apiEnablements": enabled, "resourceSummary": {"allocatable": {"pods": pods.to_string()}}}});
    if words["deleting"] == true {
        cluster["metadata"]["deletionTimestamp"] = "2026-06-01T00:00:00Z".into();
    }
    cluster
}

/// A Deployment's binding; `change` is merged into it.
pub(crate) fn binding(name: &str, change: &Value) -> Value {
    let mut binding = json!({"apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding",
        "metadata": {"name": name, "namespace": "shop", "labels": {"propagationpolicy.karmada.io/permanent-id": "p"}},
        "spec": {"resource": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": name},
            "replicas": 1, "placement": {"replicaScheduling": {"replicaSchedulingType": "Duplicated"}}}});
    apply_merge_patch(&mut binding, change);
    binding
}
