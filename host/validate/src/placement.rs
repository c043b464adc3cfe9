//! Placement: groups of clusters, overflow, spread, workload affinity, tolerations (spec 02 §5.2, rules 1–18).

use std::collections::BTreeSet;

use windlass_api::Placement;
use windlass_api::placement::{
    ClusterAffinityTerm, ReplicaDivisionPreference, ReplicaSchedulingType, SpreadConstraint, SpreadField,
    WorkloadAffinity,
};
use windlass_object::label;

use crate::affinity;
use crate::fields::Errors;

pub(crate) fn check(placement: &Placement, path: &str, errors: &mut Errors) {
    if placement.cluster_affinity.is_some() && !placement.cluster_affinities.is_empty() {
        errors.invalid(path, "clusterAffinity, clusterAffinities", "are exclusive: set one of the two");
    }
    if !overflow_allowed(placement) {
        for (i, term) in placement.cluster_affinities.iter().enumerate() {
            if term.overflow_affinities.is_some() {
                let at = format!("{path}.clusterAffinities[{i}].overflowAffinities");
                let detail = "needs replicaScheduling that divides, aggregated or by dynamic weight";
                errors.invalid(&at, &term.overflow_affinities, detail);
            }
        }
    }
    if let Some(cluster_affinity) = &placement.cluster_affinity {
        affinity::check(cluster_affinity, &format!("{path}.clusterAffinity"), errors);
    }
    check_terms(&placement.cluster_affinities, &format!("{path}.clusterAffinities"), errors);
    check_spread(&placement.spread_constraints, &format!("{path}.spreadConstraints"), errors);
    if let Some(workload) = &placement.workload_affinity {
        check_workload(workload, &format!("{path}.workloadAffinity"), errors);
    }
    for (i, toleration) in placement.cluster_tolerations.iter().enumerate() {
        if let Some(operator @ ("Lt" | "Gt")) = toleration.operator.as_deref() {
            let at = format!("{path}.clusterTolerations[{i}].operator");
            errors.unsupported(&at, operator, &["", "Exists", "Equal"]);
        }
    }
}

fn overflow_allowed(placement: &Placement) -> bool {
    let Some(strategy) = &placement.replica_scheduling else { return false };
    if strategy.replica_scheduling_type.is_some_and(|t| t != ReplicaSchedulingType::Divided) {
        return false;
    }
    match strategy.replica_division_preference {
        Some(ReplicaDivisionPreference::Aggregated) => true,
        Some(ReplicaDivisionPreference::Weighted) => {
            strategy.weight_preference.as_ref().is_some_and(|w| w.dynamic_weight.is_some())
        }
        None => false,
    }
}

fn check_terms(terms: &[ClusterAffinityTerm], path: &str, errors: &mut Errors) {
    let mut names = BTreeSet::new();
    for (i, term) in terms.iter().enumerate() {
        let at = format!("{path}[{i}]");
        errors.check(&at, &term.affinity_name, label::check_key(&term.affinity_name));
        if !names.insert(&term.affinity_name) {
            let detail = format!("affinityName {:?} is used twice; names must be unique", term.affinity_name);
            errors.invalid(path, &term.affinity_name, detail);
        }
        affinity::check(&term.affinity, &at, errors);
        check_overflow(term, &format!("{at}.overflowAffinities"), errors);
    }
}

fn check_overflow(term: &ClusterAffinityTerm, path: &str, errors: &mut Errors) {
    let Some(overflow) = &term.overflow_affinities else { return };
    if affinity::is_empty(&term.affinity) {
        errors.invalid(
            path,
            overflow,
            "needs a primary group: set labelSelector, fieldSelector, clusterNames or exclude beside it",
        );
    }
    let mut names = BTreeSet::from([&term.affinity_name]);
    for (k, group) in overflow.iter().enumerate() {
        let at = format!("{path}[{k}].affinityName");
        errors.check(&at, &group.affinity_name, label::check_key(&group.affinity_name));
        if !names.insert(&group.affinity_name) {
            errors.invalid(
                &at,
                &group.affinity_name,
                "the name is used already, by the primary group or another overflow group",
            );
        }
        affinity::check(&group.affinity, &format!("{path}[{k}]"), errors);
    }
}

fn check_spread(constraints: &[SpreadConstraint], path: &str, errors: &mut Errors) {
    let mut fields: Vec<SpreadField> = Vec::new();
    let mut repeated = BTreeSet::new();
    for (i, constraint) in constraints.iter().enumerate() {
        let at = format!("{path}[{i}]");
        if constraint.spread_by_field.is_some() && !constraint.spread_by_label.is_empty() {
            errors.invalid(
                &at,
                constraint,
                "spreadByField and spreadByLabel are exclusive: set one of the two",
            );
        }
        if constraint.min_groups < 0 {
            errors.invalid(&at, constraint, "minGroups must not be negative");
        }
        if constraint.max_groups < 0 {
            errors.invalid(&at, constraint, "maxGroups must not be negative");
        }
        if constraint.max_groups > 0 && constraint.max_groups < constraint.min_groups {
            errors.invalid(&at, constraint, "maxGroups must not be below minGroups");
        }
        if let Some(field) = constraint.spread_by_field {
            if fields.contains(&field) {
                repeated.insert(field);
            }
            fields.push(field);
        }
    }
    for field in repeated {
        errors.invalid(
            path,
            field,
            format!("spreadByField {field:?} is used more than once", field = field.as_str()),
        );
    }
    // Zones and providers are groups of their own here; the reference, which ignores them, refuses them alone, too.
    if fields.contains(&SpreadField::Region) && !fields.contains(&SpreadField::Cluster) {
        errors.invalid(
            path,
            &fields,
            "a constraint with spreadByField \"cluster\" is needed beside one by \"region\"",
        );
    }
}

fn check_workload(workload: &WorkloadAffinity, path: &str, errors: &mut Errors) {
    let key = |term: &Option<windlass_api::placement::WorkloadAffinityTerm>| {
        term.as_ref().map(|t| t.group_by_label_key.clone())
    };
    let (with, without) = (key(&workload.affinity), key(&workload.anti_affinity));
    for (name, key) in [("affinity", &with), ("antiAffinity", &without)] {
        if let Some(key) = key {
            errors.check(&format!("{path}.{name}.groupByLabelKey"), key, label::check_key(key));
        }
    }
    if let (Some(with), Some(without)) = (with, without)
        && with == without
    {
        errors.invalid(path, with, "affinity and antiAffinity must use different keys");
    }
}
