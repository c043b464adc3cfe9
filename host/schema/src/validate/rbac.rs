//! Roles and bindings.

use super::check::{Check, look, missing};
use super::names;
use crate::field_error::FieldError;
use serde_json::Value;
use windlass_object::path;

const GROUP: &str = "rbac.authorization.k8s.io";

pub(super) fn role(namespaced: bool, new: &Value, check: &mut Check) {
    for (index, rule) in path::list_at(new, &["rules"]).iter().enumerate() {
        let at = format!("rules[{index}]");
        if missing(look(rule, &["verbs"])) {
            check.required(format!("{at}.verbs"), "verbs must contain at least one value");
        }
        if !missing(look(rule, &["nonResourceURLs"])) {
            if namespaced {
                let detail = "namespaced rules cannot apply to non-resource URLs";
                check.invalid(
                    format!("{at}.nonResourceURLs"),
                    look(rule, &["nonResourceURLs"]).clone(),
                    detail,
                );
            }
            if !missing(look(rule, &["apiGroups"])) || !missing(look(rule, &["resources"])) {
                let detail = "rules cannot apply to both regular resources and non-resource URLs";
                check.invalid(
                    format!("{at}.nonResourceURLs"),
                    look(rule, &["nonResourceURLs"]).clone(),
                    detail,
                );
            }
            continue;
        }
        if missing(look(rule, &["apiGroups"])) {
            check.required(format!("{at}.apiGroups"), "resource rules must supply at least one api group");
        }
        if missing(look(rule, &["resources"])) {
            check.required(format!("{at}.resources"), "resource rules must supply at least one resource");
        }
    }
}

pub(super) fn binding(namespaced: bool, new: &Value, old: Option<&Value>, check: &mut Check) {
    let role = look(new, &["roleRef"]);
    check.one_of("roleRef.apiGroup", look(role, &["apiGroup"]), &[GROUP]);
    let kinds: &[&str] = if namespaced { &["Role", "ClusterRole"] } else { &["ClusterRole"] };
    let kind = look(role, &["kind"]).as_str().unwrap_or_default();
    if !kinds.contains(&kind) {
        check.push(FieldError::not_supported("roleRef.kind", kind, kinds));
    }
    if let Some(name) = check.text("roleRef.name", look(role, &["name"])) {
        for detail in names::path_segment(name) {
            check.invalid("roleRef.name", name, detail);
        }
    }
    for (index, subject) in path::list_at(new, &["subjects"]).iter().enumerate() {
        let at = format!("subjects[{index}]");
        check.text(&format!("{at}.name"), look(subject, &["name"]));
        let kind = look(subject, &["kind"]).as_str().unwrap_or_default();
        match kind {
            "ServiceAccount" => {
                check.follows(&format!("{at}.name"), look(subject, &["name"]), names::subdomain);
                check.one_of(&format!("{at}.apiGroup"), look(subject, &["apiGroup"]), &[""]);
                if !namespaced && missing(look(subject, &["namespace"])) {
                    check.required(format!("{at}.namespace"), "");
                }
            }
            "User" | "Group" => {
                check.one_of(&format!("{at}.apiGroup"), look(subject, &["apiGroup"]), &[GROUP])
            }
            other => check.push(FieldError::not_supported(
                format!("{at}.kind"),
                other,
                ["ServiceAccount", "User", "Group"],
            )),
        }
    }
    if let Some(old) = old
        && look(old, &["roleRef"]) != role
    {
        check.invalid("roleRef", role.clone(), "cannot change roleRef");
    }
}
