//! Reading of cases and reporting of differences.

use serde_json::Value;
use std::path::Path;
use windlass_object::Gvk;
use windlass_schema::arena::View;
use windlass_schema::builtin;

/// All cases of a folder: each file is a list. Panics on fewer than `least`.
pub(crate) fn cases(folder: &str, least: usize) -> Vec<Value> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(folder);
    let mut files: Vec<_> = std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut cases = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        // YAML 1.2: `y` and `n` are names here.
        let options = serde_saphyr::options! { strict_booleans: true };
        let list: Vec<Value> = serde_saphyr::from_str_with_options(&text, options)
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        cases.extend(list);
    }
    assert!(cases.len() >= least, "{folder}: {} cases, at least {least} expected", cases.len());
    cases
}

/// The schema of a built-in kind, written `apps/v1 Deployment`.
pub(crate) fn builtin_view(kind: &str) -> View<'static> {
    let (version, kind) = kind.split_once(' ').unwrap();
    builtin::table().schema(&Gvk::from_api_version(version, kind)).unwrap()
}

/// Collects what differs, so that one run shows all.
#[derive(Default)]
pub(crate) struct Report(pub(crate) Vec<String>);

impl Report {
    pub(crate) fn same(&mut self, name: &str, what: &str, found: &Value, wanted: &Value) {
        if found != wanted {
            let pretty = |v: &Value| serde_json::to_string_pretty(v).unwrap();
            self.0.push(format!("## {name}: {what}\nfound  {}\nwanted {}", pretty(found), pretty(wanted)));
        }
    }

    pub(crate) fn finish(self) {
        assert!(self.0.is_empty(), "{} differences\n{}", self.0.len(), self.0.join("\n"));
    }
}
