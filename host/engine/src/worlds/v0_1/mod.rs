//! Adapters for version 0.1.0 of the plugin interfaces: generated bindings, and their conversion to the host's types.

pub(super) mod bindings;
pub(super) mod interpreter;
pub(super) mod scheduler;
pub(super) mod transformer;

use crate::error::GuestError;
use crate::state::{HostState, Level};
use bindings::shared::windlass::types::{host, types};
use serde_json::Value;
use wasmtime::component::{HasSelf, Linker};

/// Offers the one import, `log`.
pub(super) fn add_to_linker(linker: &mut Linker<HostState>) -> wasmtime::Result<()> {
    host::add_to_linker::<HostState, HasSelf<HostState>>(linker, |state| state)
}

impl types::Host for HostState {}

impl host::Host for HostState {
    fn log(&mut self, level: types::Level, message: String) {
        let level = match level {
            types::Level::Debug => Level::Debug,
            types::Level::Info => Level::Info,
            types::Level::Warn => Level::Warn,
            types::Level::Error => Level::Error,
        };
        Self::log(self, level, message);
    }
}

/// JSON that a plugin answered.
fn parse(what: &str, text: &str) -> Result<Value, GuestError> {
    serde_json::from_str(text).map_err(|why| GuestError::Internal(format!("{what} is no JSON: {why}")))
}

/// JSON of a shape that the API knows.
fn parse_as<T: serde::de::DeserializeOwned>(
    what: &str,
    text: Option<String>,
) -> Result<Option<T>, GuestError> {
    let Some(text) = text else { return Ok(None) };
    serde_json::from_str(&text).map(Some).map_err(|why| GuestError::Internal(format!("{what}: {why}")))
}

/// Implements `Running` and `Template` for a world's struct `Instance { store, guest }`.
macro_rules! instance {
    ($pre:ty, $guest:ty, $calls:ident, $interface:ident) => {
        struct Instance {
            store: wasmtime::Store<crate::state::HostState>,
            guest: $guest,
        }

        struct Ready($pre);

        pub(in crate::worlds) fn template(
            linked: wasmtime::component::InstancePre<crate::state::HostState>,
        ) -> wasmtime::Result<std::sync::Arc<dyn crate::worlds::Template<dyn crate::worlds::$calls>>> {
            Ok(std::sync::Arc::new(Ready(<$pre>::new(linked)?)))
        }

        impl crate::worlds::Template<dyn crate::worlds::$calls> for Ready {
            fn instantiate(
                &self,
                plugin: &str,
                limits: crate::limits::Limits,
            ) -> wasmtime::Result<Box<dyn crate::worlds::$calls>> {
                let mut store = crate::state::HostState::store(self.0.engine(), plugin, limits);
                crate::state::HostState::begin(&mut store, limits);
                let guest = self.0.instantiate(&mut store)?;
                Ok(Box::new(Instance { store, guest }))
            }
        }

        impl crate::worlds::Running for Instance {
            fn store(&mut self) -> &mut wasmtime::Store<crate::state::HostState> {
                &mut self.store
            }

            fn init(&mut self, config: &str) -> crate::worlds::Outcome<()> {
                Ok(self.guest.$interface().call_init(&mut self.store, config)?.map_err(Into::into))
            }
        }
    };
}
use instance;
