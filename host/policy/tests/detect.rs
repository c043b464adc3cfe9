//! Matching (tests/cases/matching.json), claims, and what the detector plans.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise; clippy exempts only the test functions themselves"
)]

use serde_json::{Value, json};
use windlass_object::Meta;
use windlass_policy::change::{differs, is_own_change};
use windlass_policy::claim::{Claim, Scope, claim, release};
use windlass_policy::detect::{Claimed, heirs, on_policy_change, on_policy_deletion, preempts};
use windlass_policy::matching::{choose, selector_level};
use windlass_policy::{Catalog, Detection, detect};

fn template() -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata":
        {"name": "web", "namespace": "shop", "uid": "u1", "labels": {"app": "web"}}})
}

fn policy(name: &str) -> Value {
    json!({"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy", "metadata":
        {"name": name, "namespace": "shop", "labels": {"propagationpolicy.karmada.io/permanent-id": format!("id-{name}")}},
        "spec": {"resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment"}]}})
}

fn cluster_policy(name: &str) -> Value {
    json!({"apiVersion": "policy.karmada.io/v1alpha1", "kind": "ClusterPropagationPolicy", "metadata":
        {"name": name, "labels": {"clusterpropagationpolicy.karmada.io/permanent-id": format!("id-{name}")}},
        "spec": {"resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment"}]}})
}

fn claimed_by(policy: &Value) -> Value {
    let mut object = template();
    claim(&object, policy).unwrap().apply(&mut object).unwrap();
    object
}

fn run<'a>(template: &Value, policies: &'a [&'a Value], cluster_policies: &'a [&'a Value]) -> Detection<'a> {
    detect(template, &Catalog { policies, cluster_policies, overrides: &[], cluster_overrides: &[] })
}

#[test]
fn published_matches() {
    let cases: Value = serde_json::from_str(include_str!("cases/matching.json")).unwrap();
    for case in cases["levels"].as_array().unwrap() {
        let level = format!("{:?}", selector_level(&case["selector"], &cases["object"]));
        assert_eq!(level, case["expect"].as_str().unwrap(), "{}", case["name"]);
    }
    for case in cases["choices"].as_array().unwrap() {
        let chosen = choose(case["policies"].as_array().unwrap(), &cases["object"]).map(Meta::name);
        assert_eq!(chosen, case["expect"].as_str(), "{}", case["name"]);
    }
}

#[test]
fn a_claim_is_written_once_and_taken_back() {
    let policy = policy("pp");
    let object = claimed_by(&policy);
    assert_eq!(object["metadata"]["annotations"]["propagationpolicy.karmada.io/name"], "pp");
    assert_eq!(Claim::on(&object), Some(Claim::by(&policy)));
    assert_eq!(claim(&object, &policy), None);
    assert_eq!(release(&object, Scope::Namespaced, "another id"), None);
    let mut free = object.clone();
    release(&object, Scope::Namespaced, "id-pp").unwrap().apply(&mut free).unwrap();
    assert_eq!(Claim::on(&free), None);
    assert_eq!(free["metadata"]["labels"], json!({"app": "web"}));
}

#[test]
fn a_namespaced_policy_takes_over_from_a_cluster_one() {
    let mut object = claimed_by(&cluster_policy("cpp"));
    claim(&object, &policy("pp")).unwrap().apply(&mut object).unwrap();
    assert_eq!(object["metadata"]["annotations"].as_object().unwrap().len(), 2);
    assert_eq!(Claim::on(&object).unwrap().scope, Scope::Namespaced);
}

#[test]
fn a_template_finds_its_policy() {
    let (pp, cpp) = (policy("pp"), cluster_policy("cpp"));
    let chosen = |detection: Detection<'_>| match detection {
        Detection::Apply { policy, .. } => policy.name().to_owned(),
        other => format!("{other:?}"),
    };
    assert_eq!(chosen(run(&template(), &[&pp], &[&cpp])), "pp");
    assert_eq!(chosen(run(&template(), &[], &[&cpp])), "cpp");
    assert_eq!(run(&template(), &[], &[]), Detection::NoMatch);
    let mut taken = template();
    taken.set_label("resourcetemplate.karmada.io/claimed-by", "mcs");
    assert_eq!(run(&taken, &[&pp], &[]), Detection::TakenAway);
    let mut better = policy("better");
    better["spec"]["priority"] = 9.into();
    assert_eq!(chosen(run(&claimed_by(&pp), &[&better, &pp], &[])), "pp", "the claim holds");
}

#[test]
fn a_claim_that_holds_no_more() {
    let pp = policy("pp");
    let held = claimed_by(&pp);
    assert!(matches!(run(&held, &[], &[]), Detection::StaleClaim { release: Some(_), .. }));
    let mut other = pp.clone();
    other["spec"]["resourceSelectors"][0]["name"] = "db".into();
    assert!(matches!(run(&held, &[&other], &[]), Detection::NoLongerSelected { release: Some(_), .. }));
    let mut going = pp.clone();
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
    assert!(matches!(run(&held, &[&going], &[]), Detection::PolicyDeleting(_)));
    let mut needs = pp;
    needs["spec"]["dependentOverrides"] = json!(["op"]);
    assert!(matches!(run(&held, &[&needs], &[]), Detection::MissingOverride { name, .. } if name == "op"));
}

#[test]
fn a_policy_changes_or_goes() {
    let pp = policy("pp");
    let (template, mut binding) = (claimed_by(&pp), claimed_by(&pp));
    binding["kind"] = "ResourceBinding".into();
    let waiting = self::template();
    let pair = Claimed { template: Some(&template), binding: Some(&binding) };
    let change = on_policy_change(&pp, &[pair], &[&waiting]);
    assert_eq!((change.releases.len(), change.requeue.len(), change.wake.len()), (0, 1, 1));
    let mut other = pp.clone();
    other["spec"]["resourceSelectors"][0]["kind"] = "Job".into();
    let change = on_policy_change(&other, &[pair], &[&waiting]);
    let kinds: Vec<&str> = change.releases.iter().map(|release| release.object.kind()).collect();
    assert_eq!(
        (kinds, change.requeue.len(), change.wake.len()),
        (vec!["ResourceBinding", "Deployment"], 0, 0)
    );
    assert_eq!(on_policy_deletion(&pp, &[pair]).len(), 2);
    assert_eq!(on_policy_deletion(&policy("another"), &[pair]).len(), 0);
}

#[test]
fn preemption() {
    let with = |mut policy: Value, priority: i64| {
        policy["spec"]["preemption"] = "Always".into();
        policy["spec"]["priority"] = priority.into();
        policy
    };
    let (low, cpp) = (policy("low"), cluster_policy("cpp"));
    let held = claimed_by(&low);
    assert!(preempts(&with(policy("high"), 1), &held, Some(&low)));
    assert!(!preempts(&with(policy("same"), 0), &held, Some(&low)));
    assert!(!preempts(&policy("never"), &held, Some(&low)));
    assert!(!preempts(&with(cluster_policy("c"), 9), &held, Some(&low)));
    assert!(preempts(&with(policy("pp"), -5), &claimed_by(&cpp), Some(&cpp)));
    assert!(!preempts(&with(policy("pp"), 5), &template(), None));
    let (two, five, nine) = (with(policy("two"), 2), with(policy("five"), 5), with(policy("nine"), 9));
    let names: Vec<&str> = heirs(&[&two, &five, &nine], 9, 1).into_iter().map(Meta::name).collect();
    assert_eq!(names, ["five", "two"]);
}

#[test]
fn changes_that_matter() {
    let old = template();
    let mut new = old.clone();
    new["status"] = json!({"replicas": 1});
    new["metadata"]["resourceVersion"] = "9".into();
    assert!(!differs(&old, &new));
    new.set_label("propagationpolicy.karmada.io/permanent-id", "x");
    assert!(differs(&old, &new) && is_own_change(&old, &new));
    new.set_label("karmada.io/mine", "x");
    assert!(!is_own_change(&old, &new));
    let mut skip = old.clone();
    skip.set_label("namespace.karmada.io/skip-auto-propagation", "true");
    assert!(!is_own_change(&old, &skip));
}
