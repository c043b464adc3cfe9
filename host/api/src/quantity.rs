//! Amounts as the API writes them. Arithmetic is `windlass_object::quantity`'s.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// Amounts by name of the resource.
pub type ResourceList = BTreeMap<String, Quantity>;

/// Syntax of an amount.
pub const PATTERN: &str = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$";

/// An amount as text, as it was written; numbers are read too.
#[derive(Serialize, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Quantity(pub String);

impl Quantity {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for Quantity {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl From<String> for Quantity {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            Text(String),
            Number(serde_json::Number),
        }
        Ok(Self(match Form::deserialize(deserializer)? {
            Form::Text(text) => text,
            Form::Number(number) => number.to_string(),
        }))
    }
}

impl JsonSchema for Quantity {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Quantity".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({
            "anyOf": [{ "type": "integer" }, { "type": "string" }],
            "pattern": PATTERN,
            "x-kubernetes-int-or-string": true,
        })
    }
}
