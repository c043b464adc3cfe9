//! A transformer that does what its elements say.
#![allow(clippy::panic, reason = "a guest's panic is what is to be tested")]

use windlass_sdk::{Value, transformer::*};

/// The transformer.
pub struct Misbehaving;

impl Transformer for Misbehaving {
    fn describe() -> Description {
        Description {
            name: "misbehaving".into(),
            version: "0.1.0".into(),
            overriders: vec!["testOverrider".into()],
        }
    }

    fn new(_: &Value) -> Result<Self, Error> {
        Ok(Self)
    }

    fn transform(
        &self,
        object: &mut Value,
        _: &str,
        element: &Value,
        cluster: &Cluster,
    ) -> Result<(), Error> {
        match element.as_str().unwrap_or_default() {
            "trap" => panic!("asked to"),
            "invalid" => return Err("there is nothing to override".into()),
            _ => object["cluster"] = Value::String(cluster.name.clone()),
        }
        Ok(())
    }
}

windlass_sdk::export_transformer!(Misbehaving);
