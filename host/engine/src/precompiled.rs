//! Components that were compiled ahead: machine code, with the digest of the component that it was made of in front.
//! The only unsafe code of this crate is here.

use wasmtime::Engine;
use wasmtime::component::Component;

/// Puts the digest in front of the code, so that code is never used for another component.
pub(crate) fn pack(digest: &str, code: Vec<u8>) -> Vec<u8> {
    let mut packed = Vec::with_capacity(digest.len() + 1 + code.len());
    packed.extend_from_slice(digest.as_bytes());
    packed.push(b'\n');
    packed.extend(code);
    packed
}

/// Loads code; `None` (and a line in the log) if it is of another component, or of another engine, CPU or settings.
pub(crate) fn load(engine: &Engine, name: &str, digest: &str, packed: &[u8]) -> Option<Component> {
    let code = packed.strip_prefix(digest.as_bytes()).and_then(|rest| rest.strip_prefix(b"\n"));
    let Some(code) = code else {
        tracing::warn!(component = name, "compiled ahead from another component; compiling in place");
        return None;
    };
    match deserialize(engine, code) {
        Ok(component) => Some(component),
        Err(why) => {
            tracing::warn!(component = name, why = %format!("{why:#}"), "compiled ahead for another engine; compiling in place");
            None
        }
    }
}

#[allow(
    unsafe_code,
    reason = "loading machine code can't be checked; callers give only what this project compiled"
)]
fn deserialize(engine: &Engine, code: &[u8]) -> wasmtime::Result<Component> {
    // SAFETY: `Engine::load_precompiled` hands on the caller's word that `code` was written by `precompile`;
    // wasmtime itself checks version, settings and CPU features.
    unsafe { Component::deserialize(engine, code) }
}
