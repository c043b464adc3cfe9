//! The engine: one per process. Compiles components, each once, and keeps the clock that ends calls.

use crate::component::Component;
use crate::error::{EngineError, LoadError};
use crate::state::HostState;
use crate::{config, limits, precompiled, version, worlds};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use wasmtime::component::{Component as Compiled, Linker};

/// Compiles and runs components. Cheap to clone.
#[derive(Clone)]
pub struct Engine(Arc<Inner>);

struct Inner {
    wasmtime: wasmtime::Engine,
    linker: Linker<HostState>,
    /// By digest. A component that was loaded once is kept: the shipped ones are a dozen, and replacing one by one that
    /// was there before must be free.
    compiled: Mutex<HashMap<String, Compiled>>,
    stopped: Arc<AtomicBool>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Relaxed);
    }
}

impl Engine {
    /// Starts the engine, and the thread that keeps its clock.
    ///
    /// # Errors
    /// When the platform isn't one that wasmtime runs on, or no thread can be started.
    pub fn new() -> Result<Self, EngineError> {
        let wasmtime = match wasmtime::Engine::new(&config::running()) {
            Ok(engine) => engine,
            Err(why) => {
                tracing::warn!(%why, "no address space for a pool of plugin instances; they are mapped one by one");
                wasmtime::Engine::new(&config::running_without_pool())
                    .map_err(|why| EngineError(format!("{why:#}")))?
            }
        };
        let linker = worlds::linker(&wasmtime).map_err(|why| EngineError(format!("{why:#}")))?;
        let stopped = Arc::new(AtomicBool::new(false));
        start_clock(wasmtime.clone(), Arc::clone(&stopped)).map_err(|why| EngineError(why.to_string()))?;
        Ok(Self(Arc::new(Inner { wasmtime, linker, compiled: Mutex::default(), stopped })))
    }

    /// Loads a component; the same bytes are compiled only once. `name` is for messages.
    ///
    /// # Errors
    /// When it isn't a component, or not one that this host can run.
    pub fn load(&self, name: &str, bytes: &[u8]) -> Result<Component, LoadError> {
        self.load_with(name, bytes, |_| None)
    }

    /// Loads a component that was compiled ahead by this project's `precompile`. Should that not fit this engine, the
    /// component is compiled in place.
    ///
    /// The caller vouches for `compiled`: it is machine code, and runs as it is. Only bytes that were built into the
    /// binary, or files that this host wrote, may be given.
    ///
    /// # Errors
    /// When it isn't a component, or not one that this host can run.
    pub fn load_precompiled(
        &self,
        name: &str,
        bytes: &[u8],
        compiled: &[u8],
    ) -> Result<Component, LoadError> {
        self.load_with(name, bytes, |digest| precompiled::load(&self.0.wasmtime, name, digest, compiled))
    }

    fn load_with(
        &self,
        name: &str,
        bytes: &[u8],
        ahead: impl FnOnce(&str) -> Option<Compiled>,
    ) -> Result<Component, LoadError> {
        if bytes.len() > limits::COMPONENT {
            return Err(LoadError::TooLarge { name: name.to_owned(), size: bytes.len() });
        }
        let (world, version) = version::read(name, bytes)?;
        let digest = digest(bytes);
        let known = self.0.compiled.lock().unwrap_or_else(PoisonError::into_inner).get(&digest).cloned();
        // Compiling happens outside the lock: a slow component must not hold up the others.
        let compiled = match known.or_else(|| ahead(&digest)) {
            Some(compiled) => compiled,
            None => Compiled::new(&self.0.wasmtime, bytes)
                .map_err(|why| LoadError::Compile { name: name.to_owned(), why: format!("{why:#}") })?,
        };
        self.0
            .compiled
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(digest.clone(), compiled.clone());
        Ok(Component { engine: self.clone(), name: name.to_owned(), digest, world, version, compiled })
    }

    pub(crate) fn linker(&self) -> &Linker<HostState> {
        &self.0.linker
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").finish_non_exhaustive()
    }
}

/// A component's digest: `sha256:` and 64 hexadecimal digits.
pub fn digest(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut text = String::from("sha256:");
    for byte in Sha256::digest(bytes) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Compiles a component ahead, for any CPU of the platform that this crate was built for.
///
/// # Errors
/// When it isn't a component, or not one that this host can run.
pub fn precompile(name: &str, bytes: &[u8]) -> Result<Vec<u8>, LoadError> {
    version::read(name, bytes)?;
    let refuse = |why: wasmtime::Error| LoadError::Compile { name: name.to_owned(), why: format!("{why:#}") };
    let engine = wasmtime::Engine::new(&config::ahead().map_err(refuse)?).map_err(refuse)?;
    let code = engine.precompile_component(bytes).map_err(refuse)?;
    Ok(precompiled::pack(&digest(bytes), code))
}

/// Counts time for all calls. Ends soon after the engine is dropped.
fn start_clock(engine: wasmtime::Engine, stopped: Arc<AtomicBool>) -> std::io::Result<()> {
    #[allow(
        clippy::disallowed_methods,
        reason = "a thread of its own, which does nothing but sleep and count"
    )]
    let tick = move || {
        while !stopped.load(Ordering::Relaxed) {
            std::thread::sleep(limits::TICK);
            engine.increment_epoch();
        }
    };
    std::thread::Builder::new().name("plugin-clock".to_owned()).spawn(tick).map(drop)
}
