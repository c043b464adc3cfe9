//! A core module becomes a component: what `wasm-tools component new` does, as a library.

use anyhow::{Context, Result, bail};
use std::fs;
use std::path::Path;

/// What a shipped component may import: nothing but the host's log (and the types that go with it).
const ALLOWED_IMPORTS: &str = "windlass:types/";

/// Encodes `module` and writes it to `component`, unless that already holds the same. Tells whether it was written.
pub(crate) fn encode(module: &Path, component: &Path) -> Result<bool> {
    let core = fs::read(module).with_context(|| format!("could not read {}", module.display()))?;
    let encoded = wit_component::ComponentEncoder::default()
        .validate(true)
        .module(&core)
        .and_then(|mut encoder| encoder.encode())
        .with_context(|| format!("{} doesn't make a component", module.display()))?;
    check_imports(&encoded).with_context(|| format!("{} can't be a plugin", module.display()))?;
    if fs::read(component).is_ok_and(|present| present == encoded) {
        return Ok(false);
    }
    let unfinished = component.with_extension("new");
    fs::write(&unfinished, encoded)?;
    fs::rename(&unfinished, component)?;
    Ok(true)
}

fn check_imports(component: &[u8]) -> Result<()> {
    let decoded = wit_component::decode(component)?;
    let resolve = decoded.resolve();
    for (_, world) in &resolve.worlds {
        for key in world.imports.keys() {
            let name = resolve.name_world_key(key);
            if !name.starts_with(ALLOWED_IMPORTS) {
                bail!("it imports `{name}`; plugins get nothing but `{ALLOWED_IMPORTS}host`");
            }
        }
    }
    Ok(())
}
