//! Addresses of load balancers, each once, in one order.

use super::{Item, known};
use crate::json::{Result, int, list, text};
use std::collections::BTreeMap;
use windlass_sdk::{Map, Value, json};

/// Named hosts come before bare addresses; an unset mode comes last.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    nameless: bool,
    hostname: String,
    ip: String,
    modeless: bool,
    mode: String,
}

type Ports = BTreeMap<(i64, String, bool, String), Value>;

/// `{loadBalancer: {ingress: [...]}}`; `modes` says whether entries differ by ipMode.
pub(super) fn aggregate(items: &[Item], modes: bool) -> Result<Value> {
    let mut entries: BTreeMap<Key, Ports> = BTreeMap::new();
    for (_, status) in known(items) {
        for entry in list(status, &["loadBalancer", "ingress"])? {
            let hostname = text(entry, &["hostname"])?.to_owned();
            let mode = if modes { text(entry, &["ipMode"])?.to_owned() } else { String::new() };
            let key = Key {
                nameless: hostname.is_empty(),
                hostname,
                ip: text(entry, &["ip"])?.to_owned(),
                modeless: mode.is_empty(),
                mode,
            };
            let ports = entries.entry(key).or_default();
            for port in list(entry, &["ports"])? {
                let error = text(port, &["error"])?.to_owned();
                let number = int(port, &["port"])?.unwrap_or(0);
                let protocol = text(port, &["protocol"])?.to_owned();
                ports.insert((number, protocol, !error.is_empty(), error), port.clone());
            }
        }
    }
    if entries.is_empty() {
        return Ok(json!({ "loadBalancer": {} }));
    }
    let ingress: Vec<Value> = entries.into_iter().map(|(key, ports)| written(key, ports)).collect();
    Ok(json!({ "loadBalancer": { "ingress": ingress } }))
}

fn written(key: Key, ports: Ports) -> Value {
    let mut entry = Map::new();
    for (field, value) in [("hostname", key.hostname), ("ip", key.ip), ("ipMode", key.mode)] {
        if !value.is_empty() {
            entry.insert(field.into(), Value::String(value));
        }
    }
    if !ports.is_empty() {
        entry.insert("ports".into(), Value::Array(ports.into_values().collect()));
    }
    Value::Object(entry)
}
