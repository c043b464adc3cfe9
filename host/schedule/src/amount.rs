//! Resource quantities as the estimators count them: worked out once when an object is read, since each is looked at once
//! for every cluster.

use std::collections::BTreeMap;

use serde_json::Value;
use windlass_object::Quantity;
use windlass_object::quantity::Format;

/// One quantity in the units that are counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Amount {
    /// Whole units, rounded up.
    pub units: i64,
    /// Thousandths, rounded up.
    pub millis: i64,
    /// Written with a binary suffix or an exponent.
    coarse: bool,
}

/// A list of resources, by name.
pub type Amounts = BTreeMap<String, Amount>;

impl Amount {
    /// Millis of a quantity in decimal notation, whole units of any other: how sets of components are counted.
    pub fn by_notation(self) -> i64 {
        if self.coarse { self.units } else { self.millis }
    }

    /// Millis of CPU, whole units of anything else: how replicas are counted.
    pub fn by_resource(self, name: &str) -> i64 {
        if name == "cpu" { self.millis } else { self.units }
    }
}

impl From<Quantity> for Amount {
    fn from(quantity: Quantity) -> Self {
        Self {
            units: quantity.value(),
            millis: quantity.milli_value(),
            coarse: quantity.format() != Format::DecimalSi,
        }
    }
}

/// A map of resource names to amounts; what can't be read is left out.
pub fn amounts(value: Option<&Value>) -> Amounts {
    quantities(value).into_iter().map(|(name, quantity)| (name, quantity.into())).collect()
}

/// A map of resource names to exact quantities; what can't be read is left out.
pub fn quantities(value: Option<&Value>) -> BTreeMap<String, Quantity> {
    value
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .filter_map(|(name, value)| Some((name.clone(), Quantity::from_json(value).ok()?)))
        .collect()
}
