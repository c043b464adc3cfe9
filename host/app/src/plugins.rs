//! The plugins that ship with the binary, loaded and sorted by what they do.

use crate::components::EMBEDDED;
use anyhow::{Context as _, bail};
use std::sync::Arc;
use windlass_engine::{Engine, Options, Plugins};
use windlass_interpret::Chain;
use windlass_policy::Transform;
use windlass_schedule::Profile;
use windlass_schedule::gates::Gates;
use windlass_schedule::profile::ProfileSpec;

/// All shipped plugins, running.
pub(crate) struct Loaded {
    /// Everything, for metrics and status.
    pub(crate) plugins: Plugins,
    /// What objects mean.
    pub(crate) interpreters: Chain,
    /// How overrides are carried out.
    pub(crate) transform: Arc<dyn Transform>,
    /// The standard plugins of a scheduler.
    pub(crate) profile: Profile,
}

impl Loaded {
    /// What makes schedulers' profiles of the loaded plugins.
    pub(crate) fn build(&self) -> impl Fn(&ProfileSpec) -> Result<Profile, String> + Send + Sync + use<> {
        let plugins = self.plugins.clone();
        move |spec| plugins.scheduler_profile(spec)
    }
}

/// Loads the embedded components as they run in production.
pub(crate) fn load() -> anyhow::Result<Loaded> {
    load_for(Gates::default())
}

/// Loads the embedded components; those that the gates call for must be among them.
pub(crate) fn load_for(gates: Gates) -> anyhow::Result<Loaded> {
    load_all(gates, &Options::default())
}

/// Loads the embedded components, set up alike.
pub(crate) fn load_with(options: &Options) -> anyhow::Result<Loaded> {
    load_all(Gates::default(), options)
}

fn load_all(gates: Gates, options: &Options) -> anyhow::Result<Loaded> {
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
    let profile = match plugins.scheduler_profile(&ProfileSpec::standard(gates)) {
        Ok(profile) => profile,
        Err(why) => bail!("the scheduler's standard profile can't be had: {why}"),
    };
    let interpreters = Chain::new(plugins.interpreters());
    let transform = Arc::new(plugins.transformers());
    Ok(Loaded { plugins, interpreters, transform, profile })
}
