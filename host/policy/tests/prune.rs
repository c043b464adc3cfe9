//! Pruning of manifests against its case file.

use serde::Deserialize;
use serde_json::Value;
use windlass_policy::work::prune;

#[derive(Deserialize)]
struct Case {
    name: String,
    object: Value,
    pruned: Value,
}

#[test]
fn what_must_not_reach_a_member_is_taken_out() {
    let cases: Vec<Case> = serde_saphyr::from_str(include_str!("cases/prune.yaml")).unwrap();
    for case in cases {
        let mut object = case.object;
        prune(&mut object);
        assert_eq!(object, case.pruned, "{}", case.name);
    }
}
