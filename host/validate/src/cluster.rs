//! Cluster: defaults of its models, rules on its fields, canonical form of zones and taints (spec 02 §3).

use std::collections::BTreeSet;

use serde_json::Value;
use windlass_api::ClusterSpec;
use windlass_api::cluster::LocalSecretReference;
use windlass_object::meta::Meta;
use windlass_object::{label, path, time};

use crate::admit::{Gates, Write};
use crate::denied::{Denied, Warning};
use crate::fields::{self, Errors};
use crate::models;

/// Longest name: with the prefix of the execution namespace it makes a DNS label.
const MAX_NAME: usize = 48;
const EFFECTS: [&str; 2] = ["NoSchedule", "NoExecute"];
const PROXY_SCHEMES: [&str; 3] = ["http", "https", "socks5"];

pub(crate) fn admit(gates: Gates, write: &Write<'_>, object: &mut Value) -> Result<Vec<Warning>, Denied> {
    if gates.customized_cluster_resource_modeling {
        models::prepare(object, write.is_create());
    }
    if !write.spec_is_exempt(object) {
        let spec: ClusterSpec = fields::spec(object)?;
        let mut errors = Errors::default();
        errors.check("metadata.name", object.name(), check_name(object.name()));
        check(&spec, &mut errors);
        errors.into_result()?;
    }
    canonicalize(object);
    Ok(write.old.map(|old| warnings(old, object)).unwrap_or_default())
}

/// Whether a text can be a cluster's name; the error says why not.
pub fn check_name(name: &str) -> Result<(), String> {
    if name.is_empty() {
        return Err("a cluster needs a name".into());
    }
    if name.len() > MAX_NAME {
        return Err(format!("must be no more than {MAX_NAME} characters"));
    }
    label::check_dns_label(name)
}

fn check(spec: &ClusterSpec, errors: &mut Errors) {
    if spec.sync_mode.is_none() {
        errors.required("spec.syncMode", "Push or Pull");
    }
    if !spec.api_endpoint.is_empty() {
        errors.check("spec.apiEndpoint", &spec.api_endpoint, check_endpoint(&spec.api_endpoint));
    }
    check_secret(&spec.secret_ref, "spec.secretRef", errors);
    check_secret(&spec.impersonator_secret_ref, "spec.impersonatorSecretRef", errors);
    if !spec.proxy_url.is_empty() {
        errors.check("spec.proxyURL", &spec.proxy_url, check_proxy(&spec.proxy_url));
    }
    for (path, value) in [("spec.provider", &spec.provider), ("spec.region", &spec.region)] {
        errors.check(path, value, label::check_value(value));
    }
    if !spec.zone.is_empty() && !spec.zones.is_empty() {
        errors.invalid("spec.zone", &spec.zone, "excludes zones: set one of the two");
    } else {
        errors.check("spec.zone", &spec.zone, label::check_value(&spec.zone));
        for (i, zone) in spec.zones.iter().enumerate() {
            errors.check(&format!("spec.zones[{i}]"), zone, label::check_value(zone));
        }
    }
    let mut seen = BTreeSet::new();
    for (i, taint) in spec.taints.iter().enumerate() {
        let at = format!("spec.taints[{i}]");
        errors.check(&format!("{at}.key"), &taint.key, label::check_key(&taint.key));
        let value = taint.value.as_deref().unwrap_or_default();
        errors.check(&format!("{at}.value"), value, label::check_value(value));
        match taint.effect.as_str() {
            "" => errors.required(&format!("{at}.effect"), ""),
            effect if EFFECTS.contains(&effect) => {}
            effect => errors.unsupported(&format!("{at}.effect"), effect, &EFFECTS),
        }
        if !seen.insert((&taint.key, &taint.effect)) {
            errors.duplicate(&at, format!("{}:{}", taint.key, taint.effect));
        }
    }
    models::check(&spec.resource_models, errors);
}

fn check_secret(reference: &Option<LocalSecretReference>, path: &str, errors: &mut Errors) {
    let Some(reference) = reference else { return };
    for (field, value) in [("namespace", &reference.namespace), ("name", &reference.name)] {
        if value.is_empty() {
            errors.required(&format!("{path}.{field}"), "");
        }
    }
}

fn check_endpoint(url: &str) -> Result<(), String> {
    let (_, rest) = split_scheme(url)?;
    if rest.contains('#') || rest.contains('?') {
        return Err("must have neither query nor fragment".into());
    }
    if authority(rest).contains('@') {
        return Err("must not name a user".into());
    }
    Ok(())
}

fn check_proxy(url: &str) -> Result<(), String> {
    let (scheme, _) = split_scheme(url)?;
    match PROXY_SCHEMES.contains(&scheme.as_str()) {
        true => Ok(()),
        false => Err(format!("scheme {scheme:?} is not one of {}", PROXY_SCHEMES.join(", "))),
    }
}

/// Scheme and what follows `//`, with a host in it.
fn split_scheme(url: &str) -> Result<(String, &str), String> {
    let Some((scheme, rest)) = url.split_once("://") else {
        return Err("must be a URL with a scheme and a host, like https://10.0.0.1:6443".into());
    };
    let valid = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    if !valid || url.contains(char::is_whitespace) {
        return Err("is no URL".into());
    }
    let host = authority(rest).rsplit('@').next().unwrap_or_default();
    let (host, port) = match host.strip_prefix('[') {
        Some(v6) => v6.split_once(']').map_or((v6, ""), |(h, p)| (h, p.trim_start_matches(':'))),
        None => host.split_once(':').unwrap_or((host, "")),
    };
    if host.is_empty() {
        return Err("must have a host".into());
    }
    if !port.chars().all(|c| c.is_ascii_digit()) {
        return Err(format!("port {port:?} is no number"));
    }
    Ok((scheme.to_ascii_lowercase(), rest))
}

fn authority(rest: &str) -> &str {
    rest.split(['/', '?', '#']).next().unwrap_or_default()
}

fn canonicalize(object: &mut Value) {
    let taints = path::get_mut(object, &["spec", "taints"]).and_then(Value::as_array_mut);
    for taint in taints.into_iter().flatten() {
        if path::str_at(taint, &["effect"]) == "NoExecute" && path::str_at(taint, &["timeAdded"]).is_empty() {
            path::set(taint, &["timeAdded"], time::now().into());
        }
    }
    let zone = path::str_at(object, &["spec", "zone"]).to_owned();
    if !zone.is_empty() && path::list_at(object, &["spec", "zones"]).is_empty() {
        path::set(object, &["spec", "zones"], Value::from(vec![zone]));
        path::remove(object, &["spec", "zone"]);
    }
}

fn warnings(old: &Value, new: &Value) -> Vec<Warning> {
    let changed = |field| {
        let (before, after) = (path::str_at(old, &["spec", field]), path::str_at(new, &["spec", field]));
        (!before.is_empty() && before != after).then(|| {
            Warning(format!("spec.{field} of a joined cluster changes from {before:?} to {after:?}: what is there may be lost from sight"))
        })
    };
    ["id", "syncMode", "apiEndpoint"].into_iter().filter_map(changed).collect()
}
