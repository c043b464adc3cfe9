//! Lists the components that xtask left in `target/components`, so that the binary
//! carries them: each `.wasm`, and beside it what was compiled ahead for this host.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-env-changed=WINDLASS_COMPONENTS");
    let manifest = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?);
    let folder = match std::env::var_os("WINDLASS_COMPONENTS") {
        Some(folder) => PathBuf::from(folder),
        None => manifest.join("../../target/components"),
    };
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut list = String::from("&[\n");
    let mut found = 0;
    if let Ok(entries) = std::fs::read_dir(&folder) {
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for wasm in paths.iter().filter(|path| path.extension().is_some_and(|ext| ext == "wasm")) {
            entry(&mut list, wasm)?;
            found += 1;
        }
    }
    list.push(']');
    if found == 0 {
        println!("cargo:warning=no components in {}: run `cargo xtask guests`", folder.display());
    }
    std::fs::write(Path::new(&std::env::var("OUT_DIR")?).join("components.rs"), list)?;
    Ok(())
}

fn entry(list: &mut String, wasm: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let wasm = wasm.canonicalize()?;
    let name = wasm.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
    let ahead = wasm.with_extension("cwasm");
    println!("cargo:rerun-if-changed={}", wasm.display());
    println!("cargo:rerun-if-changed={}", ahead.display());
    let compiled = match ahead.exists() {
        true => format!("Some(include_bytes!({:?}))", ahead.display().to_string()),
        false => "None".to_owned(),
    };
    writeln!(
        list,
        "    Embedded {{ name: {name:?}, wasm: include_bytes!({:?}), compiled: {compiled} }},",
        wasm.display().to_string()
    )?;
    Ok(())
}
