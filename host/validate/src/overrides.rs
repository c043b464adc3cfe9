//! OverridePolicy and ClusterOverridePolicy (spec 02 §6). The deprecated fields are checked like the rules.

use serde_json::Value;
use windlass_api::OverrideSpec;
use windlass_object::meta::Meta;

use crate::admit::Write;
use crate::denied::{Denied, Warning};
use crate::fields::{self, Errors};
use crate::{affinity, overriders, propagation};

pub(crate) fn admit(write: &Write<'_>, object: &mut Value, namespaced: bool) -> Result<Vec<Warning>, Denied> {
    let namespace = if namespaced { object.namespace().to_owned() } else { String::new() };
    propagation::default_namespaces(object, &namespace);
    if write.spec_is_exempt(object) {
        return Ok(Vec::new());
    }
    let spec: OverrideSpec = fields::spec(object)?;
    let mut errors = Errors::default();
    check(&spec, &namespace, &mut errors);
    errors.into_result()?;
    let mut warnings = Vec::new();
    if spec.target_cluster.is_some() || !spec.overriders.is_empty() {
        warnings.push(Warning(
            "spec.targetCluster and spec.overriders are deprecated; use spec.overrideRules".into(),
        ));
    }
    Ok(warnings)
}

fn check(spec: &OverrideSpec, namespace: &str, errors: &mut Errors) {
    if let Some(target) = &spec.target_cluster {
        affinity::check(target, "spec.targetCluster", errors);
        if spec.override_rules.is_some() {
            errors.invalid("spec.targetCluster", target, "excludes overrideRules: move it into a rule");
        }
    }
    if !spec.overriders.is_empty() {
        if spec.override_rules.is_some() {
            errors.invalid(
                "spec.overriders",
                &spec.overriders,
                "excludes overrideRules: move it into a rule",
            );
        }
        overriders::check(&spec.overriders, "spec.overriders", errors);
    }
    for (i, rule) in spec.override_rules.iter().flatten().enumerate() {
        let at = format!("spec.overrideRules[{i}]");
        overriders::check(&rule.overriders, &format!("{at}.overriders"), errors);
        if let Some(target) = &rule.target_cluster {
            affinity::check(target, &format!("{at}.targetCluster"), errors);
        }
    }
    propagation::check_namespaces(spec.resource_selectors.as_deref().unwrap_or_default(), namespace, errors);
}
