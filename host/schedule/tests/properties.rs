//! What holds for every fleet and binding: replicas add up, nobody refused gets any, seats are divided fairly, little moves,
//! and neither order nor memory makes a difference.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise; clippy exempts only the test functions themselves"
)]

mod fakes;

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::{Value, json};
use windlass_schedule::{
    ClusterTable, Input, Memory, Options, Outcome, Peers, Profile, Request, Target, schedule,
};

fn cluster(number: usize) -> impl Strategy<Value = Value> {
    let place = (0..4usize, 0..4usize, any::<bool>());
    (place, 0..30u32, prop::bool::weighted(0.2), prop::bool::weighted(0.9)).prop_map(
        move |((region, tier, zoned), pods, tainted, serves)| {
            let mut cluster = json!({
                "metadata": {"name": format!("m{number}"), "labels": {}},
                "spec": {"provider": "acme"},
                "status": {"resourceSummary": {"allocatable": {"pods": pods, "cpu": pods}}},
            });
            if region < 3 {
                cluster["spec"]["region"] = format!("r{region}").into();
            }
            if zoned {
                cluster["spec"]["zones"] = json!([format!("z{region}"), format!("z{tier}")]);
            }
            if tier < 3 {
                cluster["metadata"]["labels"]["tier"] = format!("t{tier}").into();
            }
            if tainted {
                cluster["spec"]["taints"] = json!([{"key": "k", "value": "v", "effect": "NoSchedule"}]);
            }
            if serves {
                let kinds = json!([{"name": "deployments", "kind": "Deployment"}]);
                cluster["status"]["apiEnablements"] =
                    json!([{"groupVersion": "apps/v1", "resources": kinds}]);
            }
            cluster
        },
    )
}

fn fleet() -> impl Strategy<Value = Vec<Value>> {
    (1..14usize).prop_flat_map(|count| (0..count).map(cluster).collect::<Vec<_>>())
}

fn affinity() -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => Just(Value::Null),
        1 => Just(json!({"labelSelector": {"matchLabels": {"tier": "t1"}}})),
        1 => Just(json!({"exclude": ["m0", "m3"]})),
        1 => prop::collection::vec(0..14usize, 1..8)
            .prop_map(|names| json!({"clusterNames": names.iter().map(|n| format!("m{n}")).collect::<Vec<_>>()})),
    ]
}

fn strategy() -> impl Strategy<Value = Value> {
    let divided = |preference: &str, weights: Value| {
        let mut strategy =
            json!({"replicaSchedulingType": "Divided", "replicaDivisionPreference": preference});
        if !weights.is_null() {
            strategy["weightPreference"] = weights;
        }
        strategy
    };
    let rule =
        |names: &[&str], weight: i64| json!({"targetCluster": {"clusterNames": names}, "weight": weight});
    let fixed =
        json!({"staticWeightList": [rule(&["m0", "m1", "m2"], 5), rule(&["m1", "m4"], 2), rule(&[], 1)]});
    prop_oneof![
        Just(Value::Null),
        Just(json!({"replicaSchedulingType": "Duplicated"})),
        Just(divided("Aggregated", Value::Null)),
        Just(divided("Weighted", json!({"dynamicWeight": "AvailableReplicas"}))),
        Just(divided("Weighted", Value::Null)),
        Just(divided("Weighted", fixed)),
    ]
}

fn spread() -> impl Strategy<Value = Value> {
    let by =
        |field: &str, min: u32, max: u32| json!({"spreadByField": field, "minGroups": min, "maxGroups": max});
    let label = |min: u32, max: u32| json!({"spreadByLabel": "tier", "minGroups": min, "maxGroups": max});
    (1..3u32, 0..3u32, 1..4u32, 0..6u32).prop_flat_map(move |(min, more, least, most)| {
        let clusters = by("cluster", least, least + most);
        prop_oneof![
            3 => Just(json!([])),
            1 => Just(json!([clusters])),
            1 => Just(json!([clusters, by("region", min, min + more)])),
            1 => Just(json!([clusters, label(min, min + more)])),
            1 => Just(json!([label(min, min + more)])),
            1 => Just(json!([by("zone", min, min + more)])),
            1 => Just(json!([by("zone", 1, 2), by("provider", 1, 1), label(min, min + more)])),
        ]
    })
}

fn binding() -> impl Strategy<Value = Value> {
    let held = prop::collection::btree_map(0..14usize, 1..9u32, 0..5);
    let evicted = prop::collection::vec(0..14usize, 0..2);
    (affinity(), strategy(), spread(), 0..40u32, held, evicted, "[a-z]{0,6}", any::<bool>()).prop_map(
        |(affinity, strategy, spread, replicas, held, evicted, uid, tolerates)| {
            let name = |number: &usize| format!("m{number}");
            let mut placement = json!({"spreadConstraints": spread});
            if !affinity.is_null() {
                placement["clusterAffinity"] = affinity;
            }
            if !strategy.is_null() {
                placement["replicaScheduling"] = strategy;
            }
            if tolerates {
                placement["clusterTolerations"] = json!([{"operator": "Exists"}]);
            }
            json!({
                "resource": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": uid},
                "replicas": replicas, "placement": placement,
                "replicaRequirements": {"resourceRequest": {"cpu": "1"}},
                "clusters": held.iter().map(|(n, count)| json!({"name": name(n), "replicas": count})).collect::<Vec<_>>(),
                "gracefulEvictionTasks": evicted.iter().map(|n| json!({"fromCluster": name(n)})).collect::<Vec<_>>(),
            })
        },
    )
}

fn table<'a>(clusters: impl IntoIterator<Item = &'a Value>) -> ClusterTable {
    let mut table = ClusterTable::new();
    for cluster in clusters {
        table.upsert(cluster);
    }
    table
}

fn run(table: &ClusterTable, spec: &Value, profile: &mut Profile, explain: bool) -> Outcome {
    let request = Request::from_parts(spec, &Value::Null);
    let input = Input {
        table,
        request: &request,
        affinity_name: "",
        peers: &Peers::default(),
        assumed: &BTreeMap::new(),
        options: Options { explain, ..Options::default() },
    };
    schedule(&input, profile)
}

fn forgetful() -> Profile {
    let mut profile = fakes::profile();
    profile.memory = Memory::off();
    profile
}

fn counts(targets: &[Target]) -> BTreeMap<&str, i64> {
    targets.iter().map(|target| (target.name.as_str(), i64::from(target.replicas))).collect()
}

fn scheduling_type(spec: &Value) -> &str {
    spec["placement"]["replicaScheduling"]["replicaSchedulingType"].as_str().unwrap_or("Duplicated")
}

/// Distinct values of what a constraint is about, over the clusters that were chosen.
fn groups(clusters: &[Value], chosen: &BTreeSet<&str>, spread: &Value) -> BTreeSet<String> {
    let of = |cluster: &Value| match spread["spreadByField"].as_str() {
        Some("cluster") => vec![cluster["metadata"]["name"].clone()],
        Some("zone") => cluster["spec"]["zones"].as_array().cloned().unwrap_or_default(),
        Some(field) => vec![cluster["spec"][field].clone()],
        None => vec![cluster["metadata"]["labels"][spread["spreadByLabel"].as_str().unwrap()].clone()],
    };
    let chosen =
        clusters.iter().filter(|cluster| chosen.contains(cluster["metadata"]["name"].as_str().unwrap()));
    chosen.flat_map(of).filter(|value| !value.is_null()).map(|value| value.to_string()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn replicas_add_up_on_clusters_that_may_have_them(clusters in fleet(), spec in binding()) {
        let table = table(&clusters);
        let outcome = run(&table, &spec, &mut fakes::profile(), true);
        let Ok(targets) = &outcome.result else { return Ok(()) };
        let replicas = spec["replicas"].as_i64().unwrap();
        let names: BTreeSet<&str> = targets.iter().map(|target| target.name.as_str()).collect();
        prop_assert_eq!(names.len(), targets.len(), "a cluster is named twice");
        for target in targets {
            let id = table.id(&target.name).unwrap();
            prop_assert!(!outcome.trace.refused.contains_key(&id), "{} was refused", target.name);
            prop_assert!(outcome.trace.selected.contains(&id), "{} was not selected", target.name);
            if scheduling_type(&spec) == "Duplicated" {
                prop_assert_eq!(i64::from(target.replicas), replicas);
            }
        }
        if scheduling_type(&spec) == "Divided" && replicas > 0 {
            prop_assert_eq!(counts(targets).values().sum::<i64>(), replicas);
        }
    }

    /// The divisor method: nobody's last seat was won with a smaller quotient than another would have had for it.
    #[test]
    fn no_seat_could_better_be_anothers(clusters in fleet(), spec in binding()) {
        let outcome = run(&table(&clusters), &spec, &mut fakes::profile(), true);
        for division in outcome.trace.divisions.iter().filter(|division| division.strategy != "Duplicated") {
            for winner in &division.shares {
                for other in &division.shares {
                    let won = winner.won_at().unwrap_or(f64::INFINITY);
                    prop_assert!(won >= other.next_at(), "{:?} {:?} of {:?}", winner, other, division);
                }
            }
            let given: i64 = division.shares.iter().map(|share| share.seats).sum();
            prop_assert!(division.mode == "unchanged" || division.shares.is_empty() || given == division.replicas);
        }
    }

    #[test]
    fn one_replica_more_or_less_moves_one(clusters in fleet(), spec in binding(), up in any::<bool>()) {
        let table = table(&clusters);
        let before = run(&table, &spec, &mut fakes::profile(), true);
        let replicas = spec["replicas"].as_i64().unwrap();
        let (Ok(placed), "Divided", 2..) = (&before.result, scheduling_type(&spec), replicas) else { return Ok(()) };
        let mut changed = spec.clone();
        changed["clusters"] = placed.iter().map(Target::to_value).collect();
        changed["replicas"] = (if up { replicas + 1 } else { replicas - 1 }).into();
        let after = run(&table, &changed, &mut fakes::profile(), true);
        let set = |outcome: &Outcome| outcome.trace.selected.iter().copied().collect::<BTreeSet<_>>();
        let Ok(moved) = &after.result else { return Ok(()) };
        if set(&before) != set(&after) {
            return Ok(());
        }
        let (old, new) = (counts(placed), counts(moved));
        let names: BTreeSet<&str> = old.keys().chain(new.keys()).copied().collect();
        let difference = |name: &str| (old.get(name).unwrap_or(&0) - new.get(name).unwrap_or(&0)).abs();
        prop_assert_eq!(names.into_iter().map(difference).sum::<i64>(), 1, "{:?} to {:?}", placed, moved);
    }

    #[test]
    fn spread_constraints_are_kept(clusters in fleet(), spec in binding()) {
        let table = table(&clusters);
        let outcome = run(&table, &spec, &mut fakes::profile(), true);
        let weighted = &spec["placement"]["replicaScheduling"];
        let by_room = weighted["weightPreference"]["dynamicWeight"].is_string();
        let exempt = weighted["replicaDivisionPreference"] == "Weighted" && !by_room;
        if outcome.result.is_err() || exempt {
            return Ok(());
        }
        let chosen: BTreeSet<&str> = outcome.trace.selected.iter().map(|id| table.name(*id)).collect();
        let constraints = spec["placement"]["spreadConstraints"].as_array().unwrap();
        let grouped = constraints.iter().any(|one| one["spreadByField"] != "cluster");
        for one in constraints {
            let found = groups(&clusters, &chosen, one).len() as u64;
            let (min, max) = (one["minGroups"].as_u64().unwrap(), one["maxGroups"].as_u64().unwrap());
            prop_assert!(found >= min, "{} in {:?}", one, chosen);
            // A cluster has several zones; and at least one cluster of each chosen group is taken.
            let exact = one["spreadByField"] != "zone" && (one["spreadByField"] != "cluster" || !grouped);
            prop_assert!(!exact || found <= max, "{} in {:?}", one, chosen);
        }
    }

    #[test]
    fn order_makes_no_difference(
        clusters in fleet(),
        specs in prop::collection::vec(binding(), 1..5),
        seed in any::<prop::sample::Index>(),
    ) {
        let given = table(&clusters);
        let mut turned = clusters.clone();
        turned.rotate_left(seed.index(clusters.len()));
        turned.reverse();
        let turned = table(&turned);
        let alone: Vec<_> = specs.iter().map(|spec| run(&given, spec, &mut forgetful(), false).result).collect();
        let mut together = fakes::profile();
        for (spec, alone) in specs.iter().zip(&alone).rev() {
            prop_assert_eq!(&run(&turned, spec, &mut together, false).result, alone);
        }
        for (spec, alone) in specs.iter().zip(&alone) {
            prop_assert_eq!(&run(&turned, spec, &mut together, true).result, alone);
        }
    }

    /// Clusters come, change and go between bindings; what is remembered never shows.
    #[test]
    fn memory_makes_no_difference(
        clusters in fleet(),
        specs in prop::collection::vec(binding(), 1..4),
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0..4u8, (0..14usize).prop_flat_map(cluster)), 1..12),
    ) {
        let mut table = table(&clusters);
        let mut remembering = fakes::profile();
        for (index, kind, new) in changes {
            for spec in &specs {
                let remembered = run(&table, spec, &mut remembering, kind == 3);
                let asked = run(&table, spec, &mut forgetful(), kind == 3);
                prop_assert_eq!(&remembered, &asked);
            }
            let one = &clusters[index.index(clusters.len())];
            if kind == 0 {
                table.remove(one["metadata"]["name"].as_str().unwrap());
            } else {
                table.upsert(if kind == 1 { one } else { &new });
            }
        }
        let recall = remembering.memory.recall();
        prop_assert!(recall.asked > 0);
    }
}
