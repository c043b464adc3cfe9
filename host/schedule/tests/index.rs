//! The index of needs against the plain rules: random bindings, clusters and changes. Whoever is pushed is concerned by the
//! plain scan, and whoever would be placed otherwise is pushed.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise; clippy exempts only the test functions themselves"
)]

mod fakes;
mod world;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use windlass_object::Meta;
use windlass_schedule::ClusterFacts;
use windlass_schedule::decide::{Trigger, concerns, trigger};
use windlass_schedule::driver::{Driver, Settings};
use windlass_schedule::queue::Key;
use world::{Watch, World};

/// A small generator of numbers; a seed makes a history.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33;
        usize::try_from(high).unwrap() % bound
    }

    fn one<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

fn cluster(dice: &mut Dice, held: &Value) -> Value {
    let mut words = held.clone();
    // Room alone, since it alone moves nothing.
    if dice.below(5) == 0 {
        words["pods"] = json!(dice.one(&[0, 2, 10, 50]));
        return words;
    }
    for _ in 0..=dice.below(2) {
        let (field, value) = match dice.below(5) {
            0 => (
                "labels",
                dice.one(&[json!({"tier": "gold"}), json!({"tier": "tin"}), json!({"x": "y"}), json!(null)])
                    .clone(),
            ),
            1 => ("region", dice.one(&[json!("eu"), json!("us"), json!(null)]).clone()),
            2 => (
                "taints",
                dice.one(&[
                    json!([]),
                    json!(["k=v:NoSchedule"]),
                    json!(["k=w:NoExecute"]),
                    json!(["k=v:PreferNoSchedule"]),
                ])
                .clone(),
            ),
            3 => (
                "kinds",
                dice.one(&[json!(["Deployment", "ConfigMap"]), json!(["ConfigMap"]), json!([])]).clone(),
            ),
            _ => ("deleting", json!(dice.below(8) == 0)),
        };
        words[field] = value;
    }
    words
}

fn affinity(dice: &mut Dice) -> Value {
    match dice.below(5) {
        0 => json!({"labelSelector": {"matchLabels": {"tier": "gold"}}}),
        1 => {
            json!({"fieldSelector": {"matchExpressions": [{"key": "region", "operator": "In", "values": ["eu"]}]}})
        }
        2 => json!({"clusterNames": ["c0", "c1"]}),
        3 => json!({"exclude": ["c2"]}),
        _ => json!({}),
    }
}

fn binding(dice: &mut Dice, name: &str) -> Value {
    let mut placement = json!({});
    match dice.below(4) {
        0 => {}
        1 => {
            let mut terms = Vec::new();
            for name in ["g1", "g2"] {
                let mut term = affinity(dice);
                term["affinityName"] = name.into();
                if dice.below(3) == 0 {
                    let mut overflow = affinity(dice);
                    overflow["affinityName"] = "o".into();
                    term["overflowAffinities"] = json!([overflow]);
                }
                terms.push(term);
            }
            placement["clusterAffinities"] = terms.into();
        }
        _ => placement["clusterAffinity"] = affinity(dice),
    }
    if dice.below(3) == 0 {
        placement["clusterTolerations"] = json!([{"key": "k", "operator": "Exists"}]);
    }
    placement["spreadConstraints"] = match dice.below(5) {
        2 => json!([{"spreadByLabel": "tier", "minGroups": 1, "maxGroups": 1}]),
        0 => {
            json!([{"spreadByField": "region", "minGroups": 1, "maxGroups": 2}, {"spreadByField": "cluster", "minGroups": 1, "maxGroups": 3}])
        }
        1 => json!([{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 2}]),
        _ => Value::Null,
    };
    placement["replicaScheduling"] = match dice.below(4) {
        0 => json!({"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"}),
        1 => {
            json!({"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted", "weightPreference":
            {"staticWeightList": [{"targetCluster": affinity(dice), "weight": 3}]}})
        }
        _ => json!({"replicaSchedulingType": "Duplicated"}),
    };
    let (kind, version, replicas) =
        *dice.one(&[("Deployment", "apps/v1", 3), ("Deployment", "apps/v1", 1), ("ConfigMap", "v1", 0)]);
    world::binding(
        name,
        &json!({"spec": {"replicas": replicas, "placement": placement,
        "resource": {"apiVersion": version, "kind": kind}}}),
    )
}

/// Clusters, groups and verdict of a pass, if one is due.
fn placed(driver: &mut Driver, binding: &Value) -> Option<Value> {
    if matches!(trigger(binding, driver.table(), false), Trigger::Skip(_) | Trigger::Deleting) {
        return None;
    }
    let plan = driver.explain(binding, Duration::ZERO)?;
    let mut targets: Vec<String> = plan.targets.iter().map(|target| target.to_value().to_string()).collect();
    targets.sort();
    Some(json!([targets, plan.affinity_name, plan.verdict.condition(0).reason]))
}

#[test]
fn neither_too_few_nor_strangers() {
    let (mut pushed, mut scanned, mut moved) = (0, 0, 0);
    for seed in 1..=24 {
        let mut dice = Dice(0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(seed));
        let mut world = World::new(Settings::default(), Watch::Quick, fakes::profile);
        let mut words: BTreeMap<String, Value> = BTreeMap::new();
        for number in 0..4 {
            let name = format!("c{number}");
            let word = cluster(&mut dice, &json!({}));
            world.cluster(&name, Some(world::cluster(&name, &word)));
            words.insert(name, word);
        }
        for number in 0..25 {
            let name = format!("b{number}");
            let made = binding(&mut dice, &name);
            world.binding(&format!("shop/{name}").into(), Some(made));
        }
        world.settle();
        for step in 0..40 {
            // Waits are not at issue here.
            world.now += Duration::from_millis(1);
            let bindings: Vec<(Key, Arc<Value>)> = world.bindings.clone().into_iter().collect();
            let before: Vec<_> =
                bindings.iter().map(|(_, binding)| placed(&mut world.driver, binding)).collect();
            let name = format!("c{}", dice.below(5));
            let old = world.clusters.get(&name).cloned();
            let fresh =
                (dice.below(10) > 0).then(|| cluster(&mut dice, words.get(&name).unwrap_or(&json!({}))));
            let new = fresh.as_ref().map(|words| world::cluster(&name, words));
            match fresh {
                Some(fresh) => drop(words.insert(name.clone(), fresh)),
                None => drop(words.remove(&name)),
            }
            world.cluster(&name, new.clone());
            let facts: Vec<ClusterFacts> =
                [&old, &new].into_iter().flatten().map(ClusterFacts::from_value).collect();
            let versions: Vec<&ClusterFacts> = facts.iter().collect();
            for ((key, binding), before) in bindings.iter().zip(before) {
                let active = world.driver.queue().place(key) == Some("active");
                let after = placed(&mut world.driver, binding);
                let on = binding["spec"]["clusters"]
                    .as_array()
                    .is_some_and(|all| all.iter().any(|one| one["name"] == name.as_str()));
                let told = || format!("seed {seed}, step {step}: {name} {old:?} -> {new:?}: {binding:#}");
                let scan = concerns(binding, &versions) || on;
                scanned += usize::from(scan);
                pushed += usize::from(active);
                if active {
                    assert!(scan, "a stranger is pushed: {}", told());
                }
                // What waits for room is woken by room alone; a result that was not taken up yet is in the queue anyway.
                let waits = world.driver.queue().place(key) == Some("unschedulable");
                if before != after && !waits {
                    moved += 1;
                    assert!(
                        active
                            || capacity_only(&old, &new)
                            || world.driver.queue().place(key) == Some("backoff"),
                        "not pushed although {before:?} became {after:?}: {}",
                        told()
                    );
                }
            }
            world.settle();
        }
    }
    assert!(moved > 200, "only {moved} changes mattered");
    assert!(pushed * 2 < scanned, "{pushed} of {scanned} that a scan finds were pushed");
}

/// Room moves nothing that has its place.
fn capacity_only(old: &Option<Value>, new: &Option<Value>) -> bool {
    let rest = |cluster: &Option<Value>| {
        let mut cluster = cluster.clone()?;
        cluster["status"]["resourceSummary"] = Value::Null;
        Some(cluster)
    };
    rest(old) == rest(new)
}

/// A new process that reads what the last one left decides nothing else, and writes nothing.
#[test]
fn a_restart_changes_nothing() {
    let mut seen = 0;
    for seed in 1..=24 {
        let mut dice = Dice(0xD134_2543_DE82_EF95_u64.wrapping_mul(seed));
        let watch = *dice.one(&[Watch::Quick, Watch::Late]);
        let mut world = World::new(Settings::default(), watch, fakes::profile);
        let mut words: BTreeMap<String, Value> = BTreeMap::new();
        for _ in 0..60 {
            world.now += Duration::from_secs(dice.below(7) as u64);
            let name = format!("c{}", dice.below(4));
            match dice.below(5) {
                0 | 1 => {
                    let fresh = cluster(&mut dice, words.get(&name).unwrap_or(&json!({})));
                    world.cluster(&name, Some(world::cluster(&name, &fresh)));
                    words.insert(name, fresh);
                }
                2 => {
                    let key: Key = format!("shop/b{}", dice.below(8)).into();
                    world.binding(&key, None);
                }
                _ => {
                    let name = format!("b{}", dice.below(8));
                    let key: Key = format!("shop/{name}").into();
                    let mut made = binding(&mut dice, &name);
                    if let Some(held) = world.bindings.get(&key) {
                        let clusters = held["spec"]["clusters"].clone();
                        made["metadata"] = held["metadata"].clone();
                        made["status"] = held["status"].clone();
                        made["spec"]["clusters"] = clusters;
                    }
                    world.binding(&key, Some(made));
                }
            }
            world.settle();
        }
        // Whoever waits out a pause is decided now, as a new process does.
        world.now += Duration::from_secs(400);
        world.settle();
        world.writes.clear();
        let before = world.bindings.clone();
        world.restart();
        world.settle();
        for (key, binding) in &before {
            seen += 1;
            let now = world.bindings.get(key).unwrap();
            assert_eq!(lasting(now), lasting(binding), "seed {seed}: {key} was {binding:#}");
        }
        assert!(
            !world.writes.iter().any(|write| write.starts_with("result")),
            "seed {seed}: {:?}",
            world.writes
        );
    }
    assert!(seen > 60, "only {seen} bindings were left");
}

/// All but the version, and the words about clusters that a binding can't use anyway: others may have come since.
fn lasting(binding: &Value) -> Value {
    let mut lasting = binding.clone();
    lasting.metadata_mut().remove("resourceVersion");
    for condition in lasting["status"]["conditions"].as_array_mut().into_iter().flatten() {
        condition["message"] = Value::Null;
    }
    lasting
}
