//! Lines for the host's log, written under the plugin's name. Native builds (tests) print them to standard error.

use crate::Level;

/// Writes a line. The host drops lines beyond its limit per call.
pub fn log(level: Level, message: &str) {
    #[cfg(target_arch = "wasm32")]
    crate::bindings::shared::windlass::types::host::log(level, message);
    #[cfg(not(target_arch = "wasm32"))]
    eprintln!("{level:?}: {message}");
}

/// For the plugin's author.
pub fn debug(message: &str) {
    log(Level::Debug, message);
}

/// For the operator, when all is well.
pub fn info(message: &str) {
    log(Level::Info, message);
}

/// For the operator, when something should be looked at.
pub fn warn(message: &str) {
    log(Level::Warn, message);
}

/// For the operator, when something failed.
pub fn error(message: &str) {
    log(Level::Error, message);
}
