//! Compiles components ahead: `precompile FOLDER` writes `<name>.cwasm` beside each `<name>.wasm`, for any CPU of the
//! platform that this program was built for. It must be built with the profile and features of the host that loads them.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(folder) = std::env::args_os().nth(1) else {
        report("usage: precompile FOLDER\n  writes <name>.cwasm beside each <name>.wasm in FOLDER");
        return ExitCode::FAILURE;
    };
    match run(Path::new(&folder)) {
        Ok((written, kept)) => {
            report(&format!("  {written} components compiled ahead, {kept} unchanged"));
            ExitCode::SUCCESS
        }
        Err(why) => {
            report(&why);
            ExitCode::FAILURE
        }
    }
}

fn run(folder: &Path) -> Result<(usize, usize), String> {
    let entries = std::fs::read_dir(folder)
        .map_err(|why| format!("{}: {why}; run `cargo xtask guests`", folder.display()))?;
    let mut components: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    components.retain(|path| path.extension().is_some_and(|end| end == "wasm"));
    components.sort();
    if components.is_empty() {
        return Err(format!("{} has no components; run `cargo xtask guests`", folder.display()));
    }
    let mut written = 0;
    for component in &components {
        written += usize::from(compile(component).map_err(|why| format!("{}: {why}", component.display()))?);
    }
    Ok((written, components.len() - written))
}

/// Tells whether the file had to be written: an unchanged one keeps its time, so that nothing is built anew for it.
fn compile(component: &Path) -> Result<bool, String> {
    let name = component.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let bytes = std::fs::read(component).map_err(|why| why.to_string())?;
    let code = windlass_engine::precompile(name, &bytes).map_err(|why| why.to_string())?;
    let target = component.with_extension("cwasm");
    if std::fs::read(&target).is_ok_and(|present| present == code) {
        return Ok(false);
    }
    let unfinished = component.with_extension("cwasm.new");
    std::fs::write(&unfinished, code)
        .and_then(|()| std::fs::rename(&unfinished, &target))
        .map_err(|why| why.to_string())?;
    Ok(true)
}

#[allow(clippy::print_stderr, reason = "a command-line tool talks to its user")]
fn report(text: &str) {
    eprintln!("{text}");
}
