//! Debian's `rustc-web` in a folder of its own: nothing is installed, the packages are only unpacked. Its standard
//! library for guests is built once from `rust-web-src`, with the dependencies that come in that package.

use super::toolchain::{TARGET, sysroot};
use crate::stage::{output, sh};
use anyhow::{Context, Result, bail};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The packages that make the compiler; apt names their dependencies.
const PACKAGES: [&str; 2] = ["rustc-web", "rust-web-src"];

/// Of the dependencies, those that the compiler loads; what every system has is left out.
const LOADED: [&str; 7] =
    ["rustc-web", "libstd-rust-web", "rust-web-src", "libllvm", "libz3", "libedit", "libxml2"];

/// Linkers that Debian's packages lack and the host's compiler has.
const LINKERS: [&str; 2] = ["rust-lld", "wasm-component-ld"];

const HOST: &str = "x86_64-unknown-linux-gnu";

/// Makes sure that the compiler is in `prefix`, and gives its path.
pub(crate) fn ensure(prefix: &Path, host_compiler: &Path) -> Result<PathBuf> {
    let compiler = prefix.join("rustc");
    let root = prefix.join("root");
    if !compiler.exists() {
        println!("  fetching Debian's Rust compiler for guests (about 140 MB, once)");
        fetch(prefix, &root)?;
        link_linkers(&root, host_compiler)?;
        wrap(&compiler, &root)?;
    }
    let library = root.join("usr/lib/rustlib").join(TARGET).join("lib");
    if !library.is_dir() {
        println!("  building the guests' standard library (half a minute, once)");
        build_library(prefix, &root, &compiler, &library)?;
    }
    Ok(compiler)
}

fn fetch(prefix: &Path, root: &Path) -> Result<()> {
    let packages = match wanted() {
        Ok(packages) if !packages.is_empty() => packages,
        _ => {
            println!("  apt-get update");
            output(Command::new("apt-get").arg("update"))?;
            wanted()?
        }
    };
    if packages.is_empty() {
        bail!("apt knows no package `{}`; it is in bookworm-security", PACKAGES[0]);
    }
    let debs = prefix.join("debs");
    let _ = fs::remove_dir_all(&debs);
    let _ = fs::remove_dir_all(root);
    fs::create_dir_all(&debs)?;
    fs::create_dir_all(root)?;
    let download = || output(Command::new("apt-get").arg("download").args(&packages).current_dir(&debs));
    if download().is_err() {
        // The list of packages may be older than the archive.
        output(Command::new("apt-get").arg("update"))?;
        download()?;
    }
    for deb in fs::read_dir(&debs)? {
        output(Command::new("dpkg").arg("-x").arg(deb?.path()).arg(root))?;
    }
    fs::remove_dir_all(&debs)?;
    Ok(())
}

/// What apt would install, less what isn't needed to run the compiler.
fn wanted() -> Result<Vec<String>> {
    let plan =
        output(Command::new("apt-get").args(["install", "-s", "--no-install-recommends"]).args(PACKAGES))?;
    let names = plan.lines().filter_map(|line| line.strip_prefix("Inst ")?.split(' ').next());
    Ok(names.filter(|name| LOADED.iter().any(|start| name.starts_with(start))).map(str::to_owned).collect())
}

fn link_linkers(root: &Path, host_compiler: &Path) -> Result<()> {
    let from = sysroot(host_compiler)?.join("lib/rustlib").join(HOST).join("bin");
    let to = root.join("usr/lib/rustlib").join(HOST).join("bin");
    fs::create_dir_all(&to)?;
    for linker in LINKERS {
        let (from, to) = (from.join(linker), to.join(linker));
        if !to.exists() && from.exists() {
            symlink(&from, &to)
                .with_context(|| format!("could not link {} to {}", to.display(), from.display()))?;
        }
    }
    Ok(())
}

/// A script that starts the compiler with its own libraries.
fn wrap(compiler: &Path, root: &Path) -> Result<()> {
    let root = root.display();
    let script = format!(
        "#!/bin/sh\nLD_LIBRARY_PATH=\"{root}/usr/lib/{lib}:{root}/usr/lib\" exec \"{root}/usr/bin/rustc\" \"$@\"\n",
        lib = "x86_64-linux-gnu"
    );
    let unfinished = compiler.with_extension("new");
    fs::write(&unfinished, script)?;
    fs::set_permissions(&unfinished, fs::Permissions::from_mode(0o755))?;
    output(Command::new(&unfinished).arg("--version")).context("Debian's compiler doesn't start here")?;
    fs::rename(&unfinished, compiler)?;
    Ok(())
}

/// Builds std and puts it where the compiler looks for it, so that guests need no nightly flags.
fn build_library(prefix: &Path, root: &Path, compiler: &Path, library: &Path) -> Result<()> {
    let source = source(root)?;
    let work = prefix.join("stdbuild");
    let _ = fs::remove_dir_all(&work);
    fs::create_dir_all(work.join("src"))?;
    fs::write(work.join("src/lib.rs"), "#![no_std]\n")?;
    fs::write(
        work.join("Cargo.toml"),
        "[package]\nname = \"stdbuild\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\
         [profile.release]\nopt-level = 3\ndebug = false\npanic = \"abort\"\n[workspace]\n",
    )?;
    let target = work.join("target");
    let vendor = source.join("vendor");
    // Bitcode, so that guests can use lto. The bootstrap variables stand for a nightly compiler.
    sh(Command::new("cargo")
        .args([
            "build",
            "--quiet",
            "--release",
            "--offline",
            "-Zbuild-std=std,panic_abort",
            "--target",
            TARGET,
        ])
        .args(["--config", "source.crates-io.replace-with='vendored'"])
        .args(["--config", &format!("source.vendored.directory='{}'", vendor.display())])
        .current_dir(&work)
        .env("RUSTC", compiler)
        .env("RUSTC_BOOTSTRAP", "1")
        .env("__CARGO_TESTS_ONLY_SRC_ROOT", &source)
        .env("RUSTFLAGS", "-Cembed-bitcode=yes")
        .env("CARGO_TARGET_DIR", &target)
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env_remove("RUSTUP_TOOLCHAIN"))?;
    let unfinished = library.with_extension("new");
    let _ = fs::remove_dir_all(&unfinished);
    fs::create_dir_all(&unfinished)?;
    for built in fs::read_dir(target.join(TARGET).join("release/deps"))? {
        let built = built?.path();
        let name = built.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.ends_with(".rlib") && !name.starts_with("libstdbuild") {
            fs::copy(&built, unfinished.join(name))?;
        }
    }
    fs::rename(&unfinished, library)?;
    fs::remove_dir_all(&work)?;
    // 435 MB that guests don't need.
    for leftover in ["usr/src", "usr/share"] {
        let _ = fs::remove_dir_all(root.join(leftover));
    }
    Ok(())
}

fn source(root: &Path) -> Result<PathBuf> {
    for entry in fs::read_dir(root.join("usr/src")).context("rust-web-src brought no /usr/src")? {
        let library = entry?.path().join("library");
        if library.join("std").is_dir() {
            return Ok(library);
        }
    }
    bail!("rust-web-src brought no library source under {}", root.join("usr/src").display())
}
