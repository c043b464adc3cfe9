//! Kinds that extend the API server. What a CRD's schemas must look like is checked where they are parsed.

use super::check::{Check, look, missing};
use super::names;
use crate::field_error::FieldError;
use serde_json::Value;
use std::collections::BTreeSet;
use windlass_object::{Meta, path};

pub(super) fn webhooks(new: &Value, check: &mut Check) {
    let mut seen = BTreeSet::new();
    for (index, hook) in path::list_at(new, &["webhooks"]).iter().enumerate() {
        let at = format!("webhooks[{index}]");
        if let Some(name) = check.text(&format!("{at}.name"), look(hook, &["name"])) {
            if !seen.insert(name) {
                check.push(FieldError::duplicate(format!("{at}.name"), name));
            }
            if name.split('.').count() < 3 {
                check.invalid(
                    format!("{at}.name"),
                    name,
                    "should be a domain with at least three segments separated by dots",
                );
            }
        }
        check.one_of(&format!("{at}.failurePolicy"), look(hook, &["failurePolicy"]), &["Fail", "Ignore"]);
        check.one_of(&format!("{at}.matchPolicy"), look(hook, &["matchPolicy"]), &["Equivalent", "Exact"]);
        if missing(look(hook, &["sideEffects"])) {
            check.required(format!("{at}.sideEffects"), "must specify one of None, NoneOnDryRun");
        }
        check.one_of(&format!("{at}.sideEffects"), look(hook, &["sideEffects"]), &["None", "NoneOnDryRun"]);
        if missing(look(hook, &["admissionReviewVersions"])) {
            check.required(format!("{at}.admissionReviewVersions"), "must specify one of v1, v1beta1");
        }
        if let Some(seconds) = look(hook, &["timeoutSeconds"]).as_i64().filter(|s| !(1..=30).contains(s)) {
            check.invalid(
                format!("{at}.timeoutSeconds"),
                seconds,
                "the timeout value must be between 1 and 30 seconds",
            );
        }
        let config = look(hook, &["clientConfig"]);
        if look(config, &["url"]).is_null() == look(config, &["service"]).is_null() {
            check.required(format!("{at}.clientConfig"), "exactly one of url or service is required");
        }
        check.selector(&format!("{at}.namespaceSelector"), look(hook, &["namespaceSelector"]));
        check.selector(&format!("{at}.objectSelector"), look(hook, &["objectSelector"]));
        for (index, rule) in path::list_at(hook, &["rules"]).iter().enumerate() {
            for field in ["operations", "apiGroups", "apiVersions", "resources"] {
                if missing(look(rule, &[field])) {
                    check.required(format!("{at}.rules[{index}].{field}"), "");
                }
            }
        }
    }
}

pub(super) fn crd(new: &Value, old: Option<&Value>, check: &mut Check) {
    let spec = look(new, &["spec"]);
    let (plural, group) = (path::str_at(spec, &["names", "plural"]), path::str_at(spec, &["group"]));
    if group.is_empty() {
        check.required("spec.group", "");
    } else if !group.contains('.') {
        check.invalid("spec.group", group, "should be a domain with at least one dot");
    } else {
        check.follows("spec.group", look(spec, &["group"]), names::subdomain);
    }
    if new.name() != format!("{plural}.{group}") {
        check.invalid("metadata.name", new.name(), "must be spec.names.plural+\".\"+spec.group");
    }
    check.needed_one_of("spec.scope", look(spec, &["scope"]), &["Cluster", "Namespaced"]);
    for field in ["plural", "singular", "kind", "listKind"] {
        if let Some(text) = check.text(&format!("spec.names.{field}"), look(spec, &["names", field])) {
            for detail in names::old_label(&text.to_lowercase()) {
                check.invalid(format!("spec.names.{field}"), text, detail);
            }
        }
    }
    if !missing(look(spec, &["names", "kind"]))
        && look(spec, &["names", "kind"]) == look(spec, &["names", "listKind"])
    {
        check.invalid(
            "spec.names.listKind",
            look(spec, &["names", "listKind"]).clone(),
            "kind and listKind may not be the same",
        );
    }
    versions(check, spec);
    super::definition::details(new, check);
    let established = old.is_some_and(|old| {
        windlass_object::condition::is_true(path::list_at(old, &["status", "conditions"]), "Established")
    });
    if established {
        check.immutable("spec.group", new, old, &["spec", "group"]);
        check.immutable("spec.scope", new, old, &["spec", "scope"]);
        check.immutable("spec.names.kind", new, old, &["spec", "names", "kind"]);
        check.immutable("spec.names.plural", new, old, &["spec", "names", "plural"]);
    }
}

fn versions(check: &mut Check, spec: &Value) {
    let versions = path::list_at(spec, &["versions"]);
    let (mut seen, mut stored) = (BTreeSet::new(), 0);
    for (index, version) in versions.iter().enumerate() {
        let at = format!("spec.versions[{index}]");
        let name = look(version, &["name"]).as_str().unwrap_or_default();
        for detail in names::old_label(name) {
            check.invalid(format!("{at}.name"), name, detail);
        }
        if !seen.insert(name) {
            check.invalid("spec.versions", name, "must contain unique version names");
        }
        stored += usize::from(look(version, &["storage"]) == true);
        if look(version, &["schema", "openAPIV3Schema"]).is_null() {
            check.required(format!("{at}.schema.openAPIV3Schema"), "schemas are required");
        }
    }
    if stored != 1 {
        check.invalid(
            "spec.versions",
            Value::Array(versions.to_vec()),
            "must have exactly one version marked as storage version",
        );
    }
}

pub(super) fn api_service(new: &Value, check: &mut Check) {
    let (group, version) = (path::str_at(new, &["spec", "group"]), path::str_at(new, &["spec", "version"]));
    let expected = format!("{version}.{group}");
    if new.name() != expected && !(group.is_empty() && new.name() == format!("{version}.")) {
        check.invalid(
            "metadata.name",
            new.name(),
            format!("must be `spec.version+\".\"+spec.group`: {expected:?}"),
        );
    }
    for (field, max) in [("groupPriorityMinimum", 20_000), ("versionPriority", 1000)] {
        let number = look(new, &["spec", field]).as_i64().unwrap_or_default();
        if !(1..=max).contains(&number) {
            check.invalid(format!("spec.{field}"), number, format!("must be positive and less than {max}"));
        }
    }
}

pub(super) fn signing_request(new: &Value, check: &mut Check) {
    check.text("spec.request", look(new, &["spec", "request"]));
    if let Some(signer) = check.text("spec.signerName", look(new, &["spec", "signerName"]))
        && !signer.contains('/')
    {
        check.invalid(
            "spec.signerName",
            signer,
            "must be a fully qualified domain and path of the form 'example.com/signer-name'",
        );
    }
    if missing(look(new, &["spec", "usages"])) {
        check.required("spec.usages", "usages cannot be empty");
    }
}
