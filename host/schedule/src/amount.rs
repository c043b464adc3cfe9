//! Resource quantities as the estimators count them.

use std::collections::BTreeMap;

use serde_json::Value;
use windlass_object::Quantity;
use windlass_object::quantity::Format;

/// A list of resources, by name.
pub type Amounts = BTreeMap<String, Quantity>;

/// A map of resource names to quantities; what can't be read is left out.
pub fn amounts(value: Option<&Value>) -> Amounts {
    value
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .filter_map(|(name, value)| Some((name.clone(), Quantity::from_json(value).ok()?)))
        .collect()
}

/// Millis of a quantity in decimal notation, whole units of any other: how sets of components are counted.
pub fn by_notation(quantity: Quantity) -> i64 {
    match quantity.format() {
        Format::DecimalSi => quantity.milli_value(),
        Format::BinarySi | Format::DecimalExponent => quantity.value(),
    }
}

/// Millis of CPU, whole units of anything else: how replicas are counted.
pub fn by_resource(name: &str, quantity: Quantity) -> i64 {
    if name == "cpu" { quantity.milli_value() } else { quantity.value() }
}
