//! Resource interpreters: what a Kubernetes object means.
//!
//! Objects arrive parsed. Operations that change an object get it to change; the patch is made here.

use crate::bindings::interpreter::exports::windlass::interpreter::interpreter::Guest;
pub use crate::bindings::interpreter::exports::windlass::interpreter::interpreter::{
    Component, Dependency, Description, Error, Health, Operations, ReplicaResult, Rule, StatusItem,
};
use crate::patch;
pub use crate::{LabelSelector, ObjectReference, Requirement};
use serde_json::Value;
use std::marker::PhantomData;

/// An interpreter of one or more kinds. Implement the operations that [`Interpreter::describe`] lists.
///
/// A fresh instance answers each call: nothing is carried from one object to another.
pub trait Interpreter: Sized + 'static {
    /// Name, version, kinds and the operations that are known of each.
    fn describe() -> Description;

    /// Makes the interpreter of its configuration, `{}` if the operator gave none.
    ///
    /// # Errors
    /// When the configuration can't be used; the operator sees the text.
    fn new(config: &Value) -> Result<Self, Error>;

    /// How many replicas the object asks for, and what one needs.
    ///
    /// # Errors
    /// When the object can't be understood. The same holds for all operations.
    fn interpret_replica(&self, object: &Value) -> Result<ReplicaResult, Error> {
        unsupported(object)
    }

    /// The object's components, each with replicas of its own.
    #[allow(clippy::missing_errors_doc, reason = "as for interpret_replica")]
    fn interpret_component(&self, object: &Value) -> Result<Vec<Component>, Error> {
        unsupported(object)
    }

    /// Gives the object a number of replicas.
    #[allow(clippy::missing_errors_doc, reason = "as for interpret_replica")]
    fn revise_replica(&self, object: &mut Value, replicas: i64) -> Result<(), Error> {
        let _ = replicas;
        unsupported(object)
    }

    /// Takes over into `desired` what the member owns in `observed`.
    #[allow(clippy::missing_errors_doc, reason = "as for interpret_replica")]
    fn retain(&self, desired: &mut Value, observed: &Value) -> Result<(), Error> {
        let _ = desired;
        unsupported(observed)
    }

    /// Brings the object's status up to what the clusters say.
    #[allow(clippy::missing_errors_doc, reason = "as for interpret_replica")]
    fn aggregate_status(&self, object: &mut Value, items: &[StatusItem]) -> Result<(), Error> {
        let _ = items;
        unsupported(object)
    }

    /// The part of the status that is worth carrying to the control plane.
    #[allow(clippy::missing_errors_doc, reason = "as for interpret_replica")]
    fn interpret_status(&self, object: &Value) -> Result<Option<Value>, Error> {
        unsupported(object)
    }

    /// Whether the object is healthy.
    #[allow(clippy::missing_errors_doc, reason = "as for interpret_replica")]
    fn interpret_health(&self, object: &Value) -> Result<Health, Error> {
        unsupported(object)
    }

    /// Objects that must go where this one goes.
    #[allow(clippy::missing_errors_doc, reason = "as for interpret_replica")]
    fn interpret_dependency(&self, object: &Value) -> Result<Vec<Dependency>, Error> {
        unsupported(object)
    }
}

fn unsupported<T>(_: &Value) -> Result<T, Error> {
    Err(Error::Unsupported)
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

/// A configured interpreter behind JSON texts: what the component exports.
pub struct Instance<I>(I);

impl<I: Interpreter> Instance<I> {
    /// Configures the interpreter; `config` is JSON text.
    ///
    /// # Errors
    /// When the text is no JSON, or the interpreter refuses it.
    pub fn new(config: &str) -> Result<Self, Error> {
        let config =
            serde_json::from_str(config).map_err(|why| format!("configuration is no JSON: {why}"))?;
        I::new(&config).map(Self)
    }

    /// The interpreter itself.
    pub fn interpreter(&self) -> &I {
        &self.0
    }

    /// Runs an operation that changes an object, and gives the patch as JSON text.
    ///
    /// # Errors
    /// When the text is no JSON, or the operation fails.
    pub fn change(
        &self,
        object: &str,
        change: impl FnOnce(&I, &mut Value) -> Result<(), Error>,
    ) -> Result<String, Error> {
        let before = parse(object)?;
        let mut after = before.clone();
        change(&self.0, &mut after)?;
        Ok(patch::diff(&before, &after).to_string())
    }
}

fn parse(object: &str) -> Result<Value, Error> {
    serde_json::from_str(object).map_err(|why| Error::Invalid(format!("object is no JSON: {why}")))
}

/// Where a component keeps its one instance; implemented by [`export_interpreter!`](crate::export_interpreter).
pub trait Slot: Interpreter {
    /// Works with the instance; `None` before `init`.
    fn slot<R>(then: impl FnOnce(&mut Option<Instance<Self>>) -> R) -> R;
}

/// The exported functions, for an interpreter that has a [`Slot`].
pub struct Exported<I>(PhantomData<I>);

impl<I: Slot> Exported<I> {
    fn with<R>(then: impl FnOnce(&Instance<I>) -> Result<R, Error>) -> Result<R, Error> {
        I::slot(|slot| match slot {
            Some(instance) => then(instance),
            None => Err(Error::Internal("`init` was not called".to_owned())),
        })
    }
}

impl<I: Slot> Guest for Exported<I> {
    fn describe() -> Description {
        I::describe()
    }

    fn init(config: String) -> Result<(), Error> {
        let instance = Instance::new(&config)?;
        I::slot(|slot| *slot = Some(instance));
        Ok(())
    }

    fn interpret_replica(object: String) -> Result<ReplicaResult, Error> {
        Self::with(|instance| instance.0.interpret_replica(&parse(&object)?))
    }

    fn interpret_component(object: String) -> Result<Vec<Component>, Error> {
        Self::with(|instance| instance.0.interpret_component(&parse(&object)?))
    }

    fn revise_replica(object: String, replicas: i64) -> Result<String, Error> {
        Self::with(|instance| {
            instance.change(&object, |inner, object| inner.revise_replica(object, replicas))
        })
    }

    fn retain(desired: String, observed: String) -> Result<String, Error> {
        let observed = parse(&observed)?;
        Self::with(|instance| instance.change(&desired, |inner, desired| inner.retain(desired, &observed)))
    }

    fn aggregate_status(object: String, items: Vec<StatusItem>) -> Result<String, Error> {
        Self::with(|instance| {
            instance.change(&object, |inner, object| inner.aggregate_status(object, &items))
        })
    }

    fn interpret_status(object: String) -> Result<Option<String>, Error> {
        Self::with(|instance| {
            Ok(instance.0.interpret_status(&parse(&object)?)?.map(|status| status.to_string()))
        })
    }

    fn interpret_health(object: String) -> Result<Health, Error> {
        Self::with(|instance| instance.0.interpret_health(&parse(&object)?))
    }

    fn interpret_dependency(object: String) -> Result<Vec<Dependency>, Error> {
        Self::with(|instance| instance.0.interpret_dependency(&parse(&object)?))
    }
}

/// Exports an [`Interpreter`] as the component's `windlass:interpreter/interpreter`. Once per crate.
#[macro_export]
macro_rules! export_interpreter {
    ($interpreter:ty) => {
        const _: () = {
            ::std::thread_local! {
                static INSTANCE: ::std::cell::RefCell<Option<$crate::interpreter::Instance<$interpreter>>> =
                    const { ::std::cell::RefCell::new(None) };
            }
            impl $crate::interpreter::Slot for $interpreter {
                fn slot<R>(then: impl FnOnce(&mut Option<$crate::interpreter::Instance<Self>>) -> R) -> R {
                    INSTANCE.with(|slot| then(&mut slot.borrow_mut()))
                }
            }
            #[cfg(target_arch = "wasm32")]
            mod exported {
                use super::*;
                type Component = $crate::interpreter::Exported<$interpreter>;
                $crate::bindings::interpreter::__export_interpreter_world!(Component with_types_in $crate::bindings::interpreter);
            }
        };
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    struct Sample;

    impl Interpreter for Sample {
        fn describe() -> Description {
            Description { name: "Sample".into(), version: "0".into(), rules: vec![] }
        }
        fn new(_: &Value) -> Result<Self, Error> {
            Ok(Self)
        }
        fn revise_replica(&self, object: &mut Value, replicas: i64) -> Result<(), Error> {
            object["spec"]["replicas"] = json!(replicas);
            Ok(())
        }
    }

    crate::export_interpreter!(Sample);

    #[test]
    fn changes_become_patches_and_the_rest_is_unsupported() {
        Exported::<Sample>::init("{}".to_owned()).unwrap();
        let patch = Exported::<Sample>::revise_replica(r#"{"spec":{"replicas":1}}"#.to_owned(), 3).unwrap();
        assert_eq!(patch, r#"[{"op":"replace","path":"/spec/replicas","value":3}]"#);
        assert_eq!(Exported::<Sample>::interpret_health("{}".to_owned()), Err(Error::Unsupported));
        assert!(matches!(Exported::<Sample>::interpret_health("{".to_owned()), Err(Error::Invalid(_))));
    }
}
