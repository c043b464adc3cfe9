use serde_json::{Value, json};

use super::*;
use crate::request::Request;

fn capacity(allocatable: Value, allocated: Value) -> Capacity {
    Capacity::from_cluster(
        &json!({"status": {"resourceSummary": {"allocatable": allocatable, "allocated": allocated}}}),
    )
}

fn grades(models: Value, counts: Value) -> Capacity {
    Capacity::from_cluster(&json!({"spec": {"resourceModels": models}, "status": {"resourceSummary":
        {"allocatable": {"pods": "1000", "cpu": "1000", "memory": "1000Gi", "gpu.io/x": "1000"},
         "allocatableModelings": counts}}}))
}

fn cpu_grades(mins: &[(&str, i64)]) -> Capacity {
    let models = (0..)
        .zip(mins)
        .map(|(i, (min, _)): (i32, _)| json!({"grade": i, "ranges": [{"name": "cpu", "min": min}]}))
        .collect();
    let counts = (0..).zip(mins).map(|(i, (_, n)): (i32, _)| json!({"grade": i, "count": n})).collect();
    grades(models, counts)
}

fn components(list: &[(i32, Value)]) -> Vec<Component> {
    let list: Vec<Value> = list
        .iter()
        .map(|(n, request)| json!({"replicas": n, "replicaRequirements": {"resourceRequest": request}}))
        .collect();
    Request::from_parts(&json!({ "components": list }), &Value::Null).components
}

fn replicas(capacity: &Capacity, request: Value, assumed: &[Vec<Component>]) -> i64 {
    let spec = json!({"replicaRequirements": {"resourceRequest": request}});
    let request = Request::from_parts(&spec, &Value::Null);
    General { models: true }.replicas(capacity, request.requirements.as_ref(), assumed)
}

fn sets(capacity: &Capacity, list: &[(i32, Value)], assumed: &[Vec<Component>]) -> i64 {
    General { models: true }.sets(capacity, &components(list), assumed)
}

#[test]
fn replicas_by_summary() {
    let some = capacity(
        json!({"cpu": "4", "memory": "8Gi", "pods": "100"}),
        json!({"cpu": "1", "memory": "2Gi", "pods": "20"}),
    );
    let request = json!({"cpu": "500m", "memory": "1Gi"});
    assert_eq!(replicas(&some, request.clone(), &[]), 6);
    assert_eq!(replicas(&some, request.clone(), &[components(&[(2, request)])]), 4);
    assert_eq!(General { models: true }.replicas(&some, None, &[]), 80);
    assert_eq!(replicas(&some, json!({"gpu.io/x": "1"}), &[]), 0);
    assert_eq!(replicas(&Capacity::default(), json!({}), &[]), 0);
    let full = capacity(json!({"pods": "1"}), json!({"pods": "1"}));
    assert_eq!(replicas(&full, json!({}), &[]), 0);
}

#[test]
fn replicas_by_models() {
    let cpu = cpu_grades(&[("0", 1), ("1", 1), ("2", 1)]);
    assert_eq!(replicas(&cpu, json!({"cpu": "1500m"}), &[]), 1);
    assert_eq!(replicas(&cpu, json!({"cpu": "3"}), &[]), 0);
    assert_eq!(replicas(&cpu, json!({"cpu": "1", "memory": "1Gi"}), &[]), 0);
    let without_models = grades(json!([]), json!([{"grade": 0, "count": 1}]));
    assert_eq!(replicas(&without_models, json!({"cpu": "500"}), &[]), 2);
}

#[test]
fn sets_by_summary() {
    let free = |pods: &str, cpu: &str, memory: &str| {
        capacity(json!({"pods": pods, "cpu": cpu, "memory": memory, "gpu.io/x": "8"}), json!({}))
    };
    let two = [(1, json!({"cpu": "1"})), (2, json!({"cpu": "1500m"}))];
    assert_eq!(sets(&free("80", "10", "6Gi"), &two, &[]), 2);
    let with_memory = [(1, json!({"cpu": "1", "memory": "2Gi"})), (2, json!({"cpu": "2", "memory": "2Gi"}))];
    assert_eq!(sets(&free("80", "10", "6Gi"), &with_memory, &[]), 1);
    assert_eq!(sets(&free("3", "100", "1Ti"), &[(3, json!({"cpu": "10m", "memory": "1Mi"}))], &[]), 1);
    let gpu = [(2, json!({"cpu": "4", "memory": "8Gi", "gpu.io/x": "1"}))];
    assert_eq!(sets(&free("20", "40", "64Gi"), &gpu, &[]), 4);
    assert_eq!(sets(&free("10", "1", "1Gi"), &[], &[]), 10);
    assert_eq!(sets(&free("100", "10", "1Gi"), &two, &[components(&two)]), 1);
    assert_eq!(sets(&free("3", "100", "1Gi"), &two, &[components(&[(3, json!({}))])]), 0);
    let all_taken = [components(&[(4, json!({"cpu": "2"}))])];
    assert_eq!(sets(&free("100", "8", "1Gi"), &two, &all_taken), 0);
    assert_eq!(sets(&free("100", "12", "1Gi"), &two, &[components(&two[..1]), components(&two[1..])]), 2);
}

#[test]
fn sets_by_models() {
    let cpu = cpu_grades(&[("500m", 5), ("1", 0), ("2", 10)]);
    assert_eq!(sets(&cpu, &[(1, json!({"cpu": "1500m"}))], &[]), 10);
    assert_eq!(sets(&cpu_grades(&[("1", 10), ("2", 10)]), &[(1, json!({"cpu": "3"}))], &[]), 0);
    let node =
        |cpu: &str, memory: &str| json!([{"name": "cpu", "min": cpu}, {"name": "memory", "min": memory}]);
    let three = grades(
        json!([{"grade": 0, "ranges": node("1", "2Gi")}, {"grade": 1, "ranges": node("3", "10Gi")},
               {"grade": 2, "ranges": node("4", "12Gi")}]),
        json!([{"grade": 0, "count": 2}, {"grade": 1, "count": 6}, {"grade": 2, "count": 3}]),
    );
    let set = [(1, json!({"cpu": "1", "memory": "2Gi"})), (3, json!({"cpu": "3", "memory": "10Gi"}))];
    assert_eq!(sets(&three, &set, &[]), 3);
    let many = |nodes: &[(&str, &str, &str, i64)]| {
        let models = (0..).zip(nodes).map(|(grade, (cpu, memory, gpu, _)): (i32, _)| {
            let min = |name: &str, min: &str| json!({"name": name, "min": min});
            json!({"grade": grade, "ranges": [min("cpu", cpu), min("memory", memory), min("gpu.io/x", gpu)]})
        });
        let counts = (0..).zip(nodes).map(|(i, (.., n)): (i32, _)| json!({"grade": i, "count": n}));
        grades(models.collect(), counts.collect())
    };
    let gpus = many(&[("1", "2Gi", "0", 4), ("2", "4Gi", "1", 3), ("4", "8Gi", "2", 2)]);
    assert_eq!(sets(&gpus, &[(2, json!({"cpu": "2", "memory": "4Gi", "gpu.io/x": "1"}))], &[]), 3);
    let mixed =
        many(&[("1", "2Gi", "0", 2), ("2", "4Gi", "0", 3), ("3", "6Gi", "0", 2), ("8", "12Gi", "0", 6)]);
    let three_parts = [
        (1, json!({"cpu": "1", "memory": "2Gi"})),
        (3, json!({"cpu": "3", "memory": "10Gi"})),
        (1, json!({"cpu": "500m", "memory": "1Gi"})),
    ];
    assert_eq!(sets(&mixed, &three_parts, &[]), 2);
    // First fit, as published: nodes of 4, 8, 2 and 1 CPU.
    let nodes = |cpu: &str, count| cpu_grades(&[(cpu, count)]);
    let web = (2, json!({"cpu": "1"}));
    assert_eq!(sets(&nodes("4", 1), std::slice::from_ref(&web), &[]), 2);
    assert_eq!(sets(&nodes("8", 1), &[web, (1, json!({"cpu": "2"}))], &[]), 2);
    assert_eq!(sets(&nodes("2", 2), &[(3, json!({"cpu": "1"}))], &[]), 1);
    assert_eq!(sets(&nodes("1", 4), &[(1, json!({"cpu": "2"}))], &[]), 0);
}
