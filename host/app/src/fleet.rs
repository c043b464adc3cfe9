//! What the simulated members of `windlass up` are like.

use serde_json::{Value, json};

/// Where a member is and who runs it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shape {
    /// `member1`
    pub(crate) name: String,
    pub(crate) provider: &'static str,
    pub(crate) region: &'static str,
    pub(crate) zone: String,
    /// Taints of its Cluster object.
    pub(crate) taints: Vec<Value>,
}

/// Providers and regions, one after the other.
const PLACES: [(&str, &str); 3] = [("acme", "eu-west"), ("globex", "us-east"), ("initech", "ap-south")];

/// The member of this number, counted from 1. Every third is kept for batch work by a taint.
pub(crate) fn shape(number: usize) -> Shape {
    let (provider, region) = PLACES.get((number.max(1) - 1) % PLACES.len()).copied().unwrap_or_default();
    let taints = match number % 3 {
        0 => vec![json!({"key": "dedicated", "value": "batch", "effect": "NoSchedule"})],
        _ => Vec::new(),
    };
    let zone = format!("{region}-{}", if number.is_multiple_of(2) { 'b' } else { 'a' });
    Shape { name: format!("member{number}"), provider, region, zone, taints }
}
