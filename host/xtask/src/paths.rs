//! Where things lie: the checkout, the caches outside it.

use std::path::PathBuf;

/// The checkout that `cargo xtask` was called in. What is built in says less: checkouts share their build output, and cargo
/// may take the xtask of another one for up to date.
pub(crate) fn root() -> PathBuf {
    let package = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    // host/xtask → host → checkout
    PathBuf::from(package).ancestors().nth(2).map(PathBuf::from).unwrap_or_default()
}

/// `$XDG_CACHE_HOME/windlass`, else `~/.cache/windlass`: toolchains and build output that clones share.
pub(crate) fn cache() -> PathBuf {
    let base = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")));
    base.unwrap_or_else(std::env::temp_dir).join("windlass")
}

/// Where the host is built: `CARGO_TARGET_DIR` if set, else a folder that all clones share.
pub(crate) fn host_target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from).unwrap_or_else(|| cache().join("target"))
}

/// Components and what was compiled ahead of them, for this checkout.
pub(crate) fn components() -> PathBuf {
    root().join("target/components")
}
