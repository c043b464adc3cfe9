//! MultiClusterService (spec 02 §13): permanent id, types, ports, clusters.

use std::collections::BTreeSet;

use serde_json::Value;
use windlass_api::labels::LABEL_MULTI_CLUSTER_SERVICE_ID;
use windlass_object::{label, path};

use crate::admit::Write;
use crate::cluster::check_name;
use crate::denied::{Denied, Warning};
use crate::fields::Errors;
use crate::permanent_id;

const TYPES: [&str; 2] = ["CrossCluster", "LoadBalancer"];

pub(crate) fn admit(write: &Write<'_>, object: &mut Value) -> Result<Vec<Warning>, Denied> {
    permanent_id::ensure(object, LABEL_MULTI_CLUSTER_SERVICE_ID);
    if write.spec_is_exempt(object) {
        return Ok(Vec::new());
    }
    let mut errors = Errors::default();
    let types = path::list_at(object, &["spec", "types"]);
    if let Some(old) = write.old
        && path::list_at(old, &["spec", "types"]) != types
    {
        errors.invalid("spec.types", types, "can't be changed; make a new MultiClusterService instead");
    }
    for (i, type_) in types.iter().enumerate() {
        if !type_.as_str().is_some_and(|t| TYPES.contains(&t)) {
            errors.unsupported(&format!("spec.types[{i}]"), type_, &TYPES);
        }
    }
    if types.iter().any(|t| Some(t) != types.first()) {
        errors.invalid("spec.types", types, "more than one type: name one");
    }
    check_ports(path::list_at(object, &["spec", "ports"]), &mut errors);
    for field in ["providerClusters", "consumerClusters"] {
        for (i, cluster) in path::list_at(object, &["spec", field]).iter().enumerate() {
            let name = path::str_at(cluster, &["name"]);
            errors.check(&format!("spec.{field}[{i}].name"), name, check_name(name));
        }
    }
    errors.into_result().map(|()| Vec::new())
}

fn check_ports(ports: &[Value], errors: &mut Errors) {
    let mut names = BTreeSet::new();
    for (i, port) in ports.iter().enumerate() {
        let at = format!("spec.ports[{i}]");
        let name = path::str_at(port, &["name"]);
        if !name.is_empty() {
            errors.check(&format!("{at}.name"), name, label::check_dns_label(name));
            if !names.insert(name) {
                errors.duplicate(&format!("{at}.name"), name);
            }
        }
        let number = path::i64_at(port, &["port"]).unwrap_or_default();
        if !(1..=65535).contains(&number) {
            errors.invalid(&format!("{at}.port"), number, "must be between 1 and 65535");
        }
    }
}
