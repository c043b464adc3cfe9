//! Override transformers: how a member's copy of an object differs from its template.

use crate::bindings::transformer::exports::windlass::overrides::transformer::Guest;
pub use crate::bindings::transformer::exports::windlass::overrides::transformer::{
    Cluster, Description, Error,
};
use crate::patch;
use serde_json::Value;
use std::marker::PhantomData;

/// Carries out one or more of the overrider lists of a rule.
pub trait Transformer: Sized + 'static {
    /// Name, version, and the field names of the overriders that it carries out.
    fn describe() -> Description;

    /// Makes the transformer of its configuration, `{}` if the operator gave none.
    ///
    /// # Errors
    /// When the configuration can't be used; the operator sees the text.
    fn new(config: &Value) -> Result<Self, Error>;

    /// Carries out one element of the list called `overrider` on the object as the element before left it.
    ///
    /// # Errors
    /// When the element doesn't fit the object; the user sees the text.
    fn transform(
        &self,
        object: &mut Value,
        overrider: &str,
        element: &Value,
        cluster: &Cluster,
    ) -> Result<(), Error>;
}

impl From<&str> for Error {
    fn from(text: &str) -> Self {
        Self::Invalid(text.to_owned())
    }
}

impl From<String> for Error {
    fn from(text: String) -> Self {
        Self::Invalid(text)
    }
}

/// A cluster without anything, to be filled in by tests.
impl Default for Cluster {
    fn default() -> Self {
        Self {
            name: String::new(),
            labels: Vec::new(),
            provider: String::new(),
            region: String::new(),
            zones: Vec::new(),
        }
    }
}

/// A configured transformer behind JSON texts: what the component exports.
pub struct Instance<T>(T);

impl<T: Transformer> Instance<T> {
    /// Configures the transformer; `config` is JSON text.
    ///
    /// # Errors
    /// When the text is no JSON, or the transformer refuses it.
    pub fn new(config: &str) -> Result<Self, Error> {
        let config =
            serde_json::from_str(config).map_err(|why| format!("configuration is no JSON: {why}"))?;
        T::new(&config).map(Self)
    }

    /// Carries out all elements in order and gives one patch as JSON text.
    ///
    /// # Errors
    /// When a text is no JSON, or an element fails; all before it are lost with it.
    pub fn transform(
        &self,
        object: &str,
        overrider: &str,
        elements: &[String],
        cluster: &Cluster,
    ) -> Result<String, Error> {
        let parse = |what: &str, text: &str| -> Result<Value, Error> {
            serde_json::from_str(text).map_err(|why| Error::Invalid(format!("{what} is no JSON: {why}")))
        };
        let before = parse("object", object)?;
        let mut after = before.clone();
        for element in elements {
            self.0.transform(&mut after, overrider, &parse("element", element)?, cluster)?;
        }
        Ok(patch::diff(&before, &after).to_string())
    }
}

/// Where a component keeps its one instance; implemented by [`export_transformer!`](crate::export_transformer).
pub trait Slot: Transformer {
    /// Works with the instance; `None` before `init`.
    fn slot<R>(then: impl FnOnce(&mut Option<Instance<Self>>) -> R) -> R;
}

/// The exported functions, for a transformer that has a [`Slot`].
pub struct Exported<T>(PhantomData<T>);

impl<T: Slot> Guest for Exported<T> {
    fn describe() -> Description {
        T::describe()
    }

    fn init(config: String) -> Result<(), Error> {
        let instance = Instance::new(&config)?;
        T::slot(|slot| *slot = Some(instance));
        Ok(())
    }

    fn transform(
        object: String,
        overrider: String,
        elements: Vec<String>,
        cluster: Cluster,
    ) -> Result<String, Error> {
        T::slot(|slot| match slot {
            Some(instance) => instance.transform(&object, &overrider, &elements, &cluster),
            None => Err(Error::Internal("`init` was not called".to_owned())),
        })
    }
}

/// Exports a [`Transformer`] as the component's `windlass:overrides/transformer`. Once per crate.
#[macro_export]
macro_rules! export_transformer {
    ($transformer:ty) => {
        const _: () = {
            ::std::thread_local! {
                static INSTANCE: ::std::cell::RefCell<Option<$crate::transformer::Instance<$transformer>>> =
                    const { ::std::cell::RefCell::new(None) };
            }
            impl $crate::transformer::Slot for $transformer {
                fn slot<R>(then: impl FnOnce(&mut Option<$crate::transformer::Instance<Self>>) -> R) -> R {
                    INSTANCE.with(|slot| then(&mut slot.borrow_mut()))
                }
            }
            #[cfg(target_arch = "wasm32")]
            mod exported {
                use super::*;
                type Component = $crate::transformer::Exported<$transformer>;
                $crate::bindings::transformer::__export_transformer_world!(Component with_types_in $crate::bindings::transformer);
            }
        };
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Append;

    impl Transformer for Append {
        fn describe() -> Description {
            Description { name: "Append".into(), version: "0".into(), overriders: vec!["append".into()] }
        }
        fn new(_: &Value) -> Result<Self, Error> {
            Ok(Self)
        }
        fn transform(&self, object: &mut Value, _: &str, element: &Value, _: &Cluster) -> Result<(), Error> {
            object["list"].as_array_mut().ok_or("no list")?.push(element.clone());
            Ok(())
        }
    }

    crate::export_transformer!(Append);

    #[test]
    fn all_elements_make_one_patch() {
        Exported::<Append>::init("{}".to_owned()).unwrap();
        let run = |object: &str| {
            Exported::<Append>::transform(
                object.into(),
                "append".into(),
                vec!["1".into(), "2".into()],
                Cluster::default(),
            )
        };
        assert_eq!(
            run(r#"{"list":[]}"#).unwrap(),
            r#"[{"op":"add","path":"/list/0","value":1},{"op":"add","path":"/list/1","value":2}]"#
        );
        assert_eq!(run("{}"), Err(Error::Invalid("no list".to_owned())));
    }
}
