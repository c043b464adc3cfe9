//! The plugins that ship with the binary, loaded and sorted by what they do.

use crate::components::EMBEDDED;
use anyhow::{Context as _, bail};
use std::sync::Arc;
use windlass_engine::{Engine, Options, Plugins};
use windlass_interpret::Chain;
use windlass_policy::Transform;
use windlass_schedule::Profile;
use windlass_schedule::plugin::{DEFAULT_FILTERS, DEFAULT_SCORES};

/// All shipped plugins, running.
pub(crate) struct Loaded {
    /// Everything, for metrics and status.
    pub(crate) plugins: Plugins,
    /// What objects mean.
    pub(crate) interpreters: Chain,
    /// How overrides are carried out.
    pub(crate) transform: Arc<dyn Transform>,
    /// What the scheduler runs.
    pub(crate) profile: Profile,
}

/// Loads the embedded components as they run in production.
pub(crate) fn load() -> anyhow::Result<Loaded> {
    load_with(&Options::default())
}

/// Loads the embedded components, set up alike.
pub(crate) fn load_with(options: &Options) -> anyhow::Result<Loaded> {
    if EMBEDDED.is_empty() {
        bail!("this binary was built without components: build it by `cargo xtask up`");
    }
    let engine = Engine::new().context("the WebAssembly engine did not start")?;
    let mut plugins = Plugins::new();
    for embedded in EMBEDDED {
        let component = match embedded.compiled {
            Some(compiled) => engine.load_precompiled(embedded.name, embedded.wasm, compiled),
            None => engine.load(embedded.name, embedded.wasm),
        };
        let component = component.with_context(|| format!("component {}", embedded.name))?;
        plugins.add(&component, options.clone()).with_context(|| format!("plugin {}", embedded.name))?;
    }
    let profile = match plugins.profile(&DEFAULT_FILTERS, &DEFAULT_SCORES) {
        Ok(profile) => profile,
        Err(missing) => {
            bail!("these plugins of the scheduler's profile are not loaded: {}", missing.join(", "))
        }
    };
    let interpreters = Chain::new(plugins.interpreters());
    let transform = Arc::new(plugins.transformers());
    Ok(Loaded { plugins, interpreters, transform, profile })
}
