//! Which interface a component was built for, read from its bytes before anything of it is compiled or run.
//! A new version of an interface: a line in [`KNOWN`], and an adapter module in `worlds/`.

use crate::error::LoadError;
use std::fmt;
use wasmparser::{Parser, Payload};

/// The kinds of plugins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum World {
    /// Filters and scores.
    Scheduler,
    /// What resources mean.
    Interpreter,
    /// How a member's copy of an object differs.
    Transformer,
}

impl fmt::Display for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Scheduler => "a scheduler plugin",
            Self::Interpreter => "a resource interpreter",
            Self::Transformer => "an override transformer",
        })
    }
}

/// Versions of the plugin interfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// 0.1.0: not released; may change until plugins for everyone are done.
    V0_1,
}

/// What the host has adapters for: interface, its version, and which adapter that is.
const KNOWN: [(&str, &str, World, Version); 3] = [
    ("windlass:scheduler/plugin", "0.1.0", World::Scheduler, Version::V0_1),
    ("windlass:interpreter/interpreter", "0.1.0", World::Interpreter, Version::V0_1),
    ("windlass:overrides/transformer", "0.1.0", World::Transformer, Version::V0_1),
];

/// What a component may import.
const OFFERED: [&str; 2] = ["windlass:types/host@0.1.0", "windlass:types/types@0.1.0"];

/// Reads which interface the component exports, and whether it asks for more than there is.
pub(crate) fn read(name: &str, component: &[u8]) -> Result<(World, Version), LoadError> {
    let names = Names::of(component)
        .map_err(|why| LoadError::NotAComponent { name: name.to_owned(), why: why.to_owned() })?;
    if let Some(import) = names.imports.iter().find(|import| !OFFERED.contains(&import.as_str())) {
        return Err(match import.split_once('@') {
            Some((interface, _))
                if OFFERED.iter().any(|offered| offered.split('@').next() == Some(interface)) =>
            {
                LoadError::UnsupportedVersion {
                    name: name.to_owned(),
                    found: import.clone(),
                    known: OFFERED.join(", "),
                }
            }
            _ => LoadError::ForeignImport {
                name: name.to_owned(),
                import: import.clone(),
                allowed: OFFERED.join(", "),
            },
        });
    }
    let mut other_version = None;
    for export in &names.exports {
        let (interface, version) = export.split_once('@').unwrap_or((export, ""));
        for (known, known_version, world, adapter) in KNOWN {
            if interface == known && version == known_version {
                return Ok((world, adapter));
            }
            if interface == known {
                other_version = Some((export, known));
            }
        }
    }
    let versions = |interface: Option<&str>| {
        let wanted = KNOWN.iter().filter(|(known, ..)| interface.is_none_or(|interface| interface == *known));
        wanted.map(|(known, version, ..)| format!("{known}@{version}")).collect::<Vec<_>>().join(", ")
    };
    Err(match other_version {
        Some((found, interface)) => LoadError::UnsupportedVersion {
            name: name.to_owned(),
            found: found.clone(),
            known: versions(Some(interface)),
        },
        None => LoadError::NoInterface {
            name: name.to_owned(),
            known: versions(None),
            found: if names.exports.is_empty() { "nothing".to_owned() } else { names.exports.join(", ") },
        },
    })
}

/// Imports and exports of the outermost component.
#[derive(Default)]
struct Names {
    imports: Vec<String>,
    exports: Vec<String>,
}

impl Names {
    fn of(component: &[u8]) -> Result<Self, String> {
        if !Parser::is_component(component) {
            return Err(match Parser::is_core_wasm(component) {
                true => "it is a core module".to_owned(),
                false => "it isn't WebAssembly".to_owned(),
            });
        }
        let mut names = Self::default();
        let mut depth = 0u32;
        for payload in Parser::new(0).parse_all(component) {
            match payload.map_err(|why| why.to_string())? {
                Payload::Version { .. } => depth += 1,
                Payload::End(_) => depth = depth.saturating_sub(1),
                Payload::ComponentImportSection(section) if depth == 1 => {
                    for import in section {
                        names.imports.push(import.map_err(|why| why.to_string())?.name.name.to_owned());
                    }
                }
                Payload::ComponentExportSection(section) if depth == 1 => {
                    for export in section {
                        names.exports.push(export.map_err(|why| why.to_string())?.name.name.to_owned());
                    }
                }
                _ => {}
            }
        }
        Ok(names)
    }
}
