//! Collects the descriptions that `kubectl explain` shows from k8s-openapi's source, which cargo has fetched anyway, into
//! one compressed file in OUT_DIR. They are texts of another project and stay out of this repository. If the source
//! can't be found, explain shows fields without texts and the build warns.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The Kubernetes version whose texts are taken.
const VERSION: &str = "v1_36";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let mut text = String::new();
    match source() {
        Some(folder) => collect(&folder, &mut text),
        None => println!(
            "cargo:warning=k8s-openapi's source was not found: kubectl explain will show no descriptions"
        ),
    }
    let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default()).join("descriptions.bin");
    if let Err(error) = write(&out, &text) {
        println!("cargo:warning=cannot write {}: {error}", out.display());
    }
}

fn write(path: &Path, text: &str) -> std::io::Result<()> {
    let mut encoder =
        flate2::write::DeflateEncoder::new(std::fs::File::create(path)?, flate2::Compression::best());
    encoder.write_all(text.as_bytes())?;
    encoder.finish()?;
    Ok(())
}

/// The folder of k8s-openapi's types, as cargo knows it.
fn source() -> Option<PathBuf> {
    let cargo = std::env::var_os("CARGO")?;
    let manifest = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR")?).join("Cargo.toml");
    // Without a platform cargo would want the packages of all platforms, which are not there.
    let target = std::env::var("TARGET").ok()?;
    let arguments =
        ["metadata", "--offline", "--format-version", "1", "--filter-platform", &target, "--manifest-path"];
    let output = Command::new(cargo).args(arguments).arg(manifest).output().ok()?;
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).ok()?;
    let packages = metadata.get("packages")?.as_array()?;
    let package = packages.iter().find(|p| p.get("name").and_then(|n| n.as_str()) == Some("k8s-openapi"))?;
    let manifest = PathBuf::from(package.get("manifest_path")?.as_str()?);
    Some(manifest.parent()?.join("src").join(VERSION)).filter(|folder| folder.is_dir())
}

fn collect(folder: &Path, text: &mut String) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, text);
        } else if let Ok(source) = std::fs::read_to_string(&path) {
            extract(&source, text);
        }
    }
}

/// Reads the `json_schema!` literals line by line; their layout is fixed, since they are generated.
fn extract(source: &str, text: &mut String) {
    let (mut inside, mut field, mut described) = (false, String::new(), false);
    let mut name_follows = false;
    for line in source.lines() {
        let indent = line.len() - line.trim_start().len();
        let words = line.trim();
        if words.starts_with("fn schema_name()") {
            name_follows = true;
            continue;
        }
        if name_follows {
            name_follows = false;
            if let Some((name, _)) = literal(words) {
                let _ = writeln!(text, "={name}");
            }
            continue;
        }
        if words.contains("json_schema!({") {
            (inside, field, described) = (true, String::new(), false);
            continue;
        }
        if !inside {
            continue;
        }
        if indent <= 8 && words.starts_with("})") {
            inside = false;
        }
        if indent == 16 && words.starts_with('"') && (words.ends_with('{') || words.ends_with("({")) {
            if let Some((name, _)) = literal(words) {
                (field, described) = (name, false);
            }
            continue;
        }
        let description = words
            .strip_prefix("\"description\": ")
            .or_else(|| words.split_once("insert(\"description\".into(), ").map(|(_, rest)| rest));
        let expected = if field.is_empty() { indent == 12 } else { indent == 20 };
        if let (Some(description), true, false) = (description, expected, described) {
            described = true;
            if let Some((words, _)) = literal(description) {
                let _ = writeln!(text, "{field}\t{}", words.replace('\\', "\\\\").replace('\n', "\\n"));
            }
        }
    }
}

/// The string literal at the start of a text, and what follows it.
fn literal(text: &str) -> Option<(String, &str)> {
    let rest = text.strip_prefix('"')?;
    let mut out = String::new();
    let mut chars = rest.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((out, rest.get(at + 1..)?)),
            '\\' => match chars.next()?.1 {
                'n' => out.push('\n'),
                't' => out.push(' '),
                'r' => {}
                other => out.push(other),
            },
            c => out.push(c),
        }
    }
    None
}
