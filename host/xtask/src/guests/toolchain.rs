//! Which compiler builds the guests: one that already can, else Debian's (no rustup involved), else rustup's.

use super::debian;
use crate::{paths, stage};
use anyhow::{Context, Result, bail};
use stage::output;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What guests are built for.
pub(crate) const TARGET: &str = "wasm32-unknown-unknown";

/// Makes sure that there is a compiler for guests, and gives its path.
pub(crate) fn setup() -> Result<PathBuf> {
    let host = PathBuf::from(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    if has_target(&host)? {
        return Ok(host);
    }
    let prefix = paths::cache().join("guest-rustc");
    if cfg!(all(target_os = "linux", target_arch = "x86_64")) && on_path("apt-get") && on_path("dpkg") {
        match debian::ensure(&prefix, &host) {
            Ok(compiler) => return Ok(compiler),
            Err(why) if on_path("rustup") => {
                eprintln!("  Debian's compiler can't be used ({why:#}); asking rustup")
            }
            Err(why) => {
                return Err(why.context("no compiler for the guests; `rustup target add` needs rustup"));
            }
        }
    }
    println!("  rustup target add {TARGET}");
    stage::sh(Command::new("rustup").args(["target", "add", TARGET]))
        .with_context(|| format!("no compiler for guests: install Rust's standard library for {TARGET}"))?;
    if has_target(&host)? {
        Ok(host)
    } else {
        bail!("rustup added {TARGET}, but `{}` doesn't have it", host.display())
    }
}

/// Whether a compiler comes with the standard library for guests.
pub(crate) fn has_target(compiler: &Path) -> Result<bool> {
    Ok(sysroot(compiler)?.join("lib/rustlib").join(TARGET).join("lib").is_dir())
}

/// Where a compiler keeps its libraries.
pub(crate) fn sysroot(compiler: &Path) -> Result<PathBuf> {
    Ok(PathBuf::from(output(Command::new(compiler).args(["--print", "sysroot"]))?.trim()))
}

/// Whether a program is on the search path.
fn on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}
