//! Objects without `metadata.managedFields`, which is half of an object and which only writers' bookkeeping reads.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};

const METADATA: &str = "metadata";
const MANAGED_FIELDS: &str = "managedFields";

/// A copy of an object without its managedFields.
pub fn copy(object: &Value) -> Value {
    let Value::Object(map) = object else { return object.clone() };
    let part = |(key, value): (&String, &Value)| match value {
        Value::Object(metadata) if key == METADATA => {
            let kept = metadata.iter().filter(|(key, _)| *key != MANAGED_FIELDS);
            (key.clone(), Value::Object(kept.map(|(key, value)| (key.clone(), value.clone())).collect()))
        }
        value => (key.clone(), value.clone()),
    };
    Value::Object(map.iter().map(part).collect())
}

/// Reads an object from its JSON and passes over its managedFields.
pub fn parse(json: &[u8]) -> serde_json::Result<Value> {
    serde_json::from_slice::<Slim>(json).map(|slim| slim.0)
}

/// An object that is read without its managedFields.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Slim(pub Value);

impl<'de> serde::Deserialize<'de> for Slim {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Level { skipped: None, slim: Some(METADATA) }).map(Slim)
    }
}

/// A map of which one key is passed over, or read without managedFields.
#[derive(Clone, Copy)]
struct Level {
    skipped: Option<&'static str>,
    slim: Option<&'static str>,
}

impl<'de> Visitor<'de> for Level {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = access.next_key::<String>()? {
            if Some(key.as_str()) == self.skipped {
                access.next_value::<IgnoredAny>()?;
            } else if Some(key.as_str()) == self.slim {
                let below = Level { skipped: Some(MANAGED_FIELDS), slim: None };
                map.insert(key, access.next_value_seed(below)?);
            } else {
                map.insert(key, access.next_value()?);
            }
        }
        Ok(Value::Object(map))
    }
}

impl<'de> DeserializeSeed<'de> for Level {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_the_objects_own_managed_fields_go() {
        let whole = json!({
            "kind": "ConfigMap", "metadata": {"name": "a", "managedFields": [{"manager": "m"}], "labels": {"b": "c"}},
            "data": {"metadata": {"managedFields": "stays"}}, "managedFields": 1.5,
        });
        let slim = json!({
            "kind": "ConfigMap", "metadata": {"name": "a", "labels": {"b": "c"}},
            "data": {"metadata": {"managedFields": "stays"}}, "managedFields": 1.5,
        });
        assert_eq!(copy(&whole), slim);
        assert_eq!(parse(whole.to_string().as_bytes()).unwrap(), slim);
        for odd in [json!({"metadata": null}), json!({})] {
            assert_eq!(copy(&odd), odd);
            assert_eq!(parse(odd.to_string().as_bytes()).unwrap(), odd);
        }
        assert!(parse(b"[1]").is_err() && parse(b"{").is_err());
    }
}
