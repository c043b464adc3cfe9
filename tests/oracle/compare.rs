//! Two lists of exchanges, what differs between them, and what may.

use crate::oracle::script::folder;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// A difference that is known.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Meant {
    /// Why it is so, or what is missing.
    why: String,
    /// It is not meant: something is still to be done.
    #[serde(default)]
    open: bool,
    /// How the paths of what differs begin (`body.message`), or a part of them after `*`; all if empty.
    #[serde(default)]
    paths: Vec<String>,
    /// `script: end of the step's title`; all steps of the script without, all scripts if the list is empty.
    #[serde(default)]
    steps: Vec<String>,
}

/// The list of differences that are meant.
pub(crate) struct Differences {
    meant: Vec<Meant>,
    met: BTreeSet<usize>,
}

/// How a comparison went.
#[derive(Default)]
pub(crate) struct Outcome {
    pub(crate) exchanges: usize,
    pub(crate) equal: usize,
    pub(crate) meant: usize,
    pub(crate) open: usize,
    pub(crate) faults: Vec<String>,
}

impl Differences {
    /// Reads `differences.yaml`.
    pub(crate) fn read() -> Self {
        let text = std::fs::read_to_string(folder().join("differences.yaml")).unwrap();
        let meant = serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("differences.yaml: {error}"));
        Self { meant, met: BTreeSet::new() }
    }

    /// None is meant.
    pub(crate) fn none() -> Self {
        Self { meant: Vec::new(), met: BTreeSet::new() }
    }

    /// Compares what the reference answered with what ours did.
    pub(crate) fn compare(
        &mut self,
        script: &str,
        reference: &[Value],
        ours: &[Value],
        outcome: &mut Outcome,
    ) {
        for at in 0..reference.len().max(ours.len()) {
            let nothing = Value::Null;
            let (theirs, ours) = (reference.get(at).unwrap_or(&nothing), ours.get(at).unwrap_or(&nothing));
            outcome.exchanges += 1;
            let mut found = Vec::new();
            differ("", theirs, ours, &mut found);
            if found.is_empty() {
                outcome.equal += 1;
                continue;
            }
            let title = theirs["step"].as_str().unwrap_or_else(|| ours["step"].as_str().unwrap_or_default());
            // Of a success and a refusal, what they say is enough.
            if theirs["code"] != ours["code"] {
                found.retain(|(path, _, _)| matches!(path.as_str(), "code" | "body.message" | ""));
            }
            let mut open = false;
            found.retain(|(path, _, _)| match self.known(script, title, path) {
                Some(one) => {
                    open |= one;
                    false
                }
                None => true,
            });
            if found.is_empty() {
                if open {
                    outcome.open += 1;
                } else {
                    outcome.meant += 1;
                }
                continue;
            }
            let mut text = format!("{script} {title}");
            for (path, theirs, ours) in found {
                let _ = write!(
                    text,
                    "\n    {path}\n      kube-apiserver: {theirs}\n      windlass:       {ours}"
                );
            }
            outcome.faults.push(text);
        }
    }

    /// Whether a difference is listed; and if so, whether as one to be done away with.
    fn known(&mut self, script: &str, title: &str, path: &str) -> Option<bool> {
        let here = |step: &String| {
            let (of, part) = step.split_once(": ").unwrap_or((step, ""));
            of == script && title.ends_with(part)
        };
        let there = |start: &String| match start.strip_prefix('*') {
            Some(part) => path.contains(part),
            None => path.starts_with(start.as_str()),
        };
        let fits = |one: &Meant| {
            (one.steps.is_empty() || one.steps.iter().any(here))
                && (one.paths.is_empty() || one.paths.iter().any(there))
        };
        let at = self.meant.iter().position(fits)?;
        self.met.insert(at);
        self.meant.get(at).map(|one| one.open)
    }

    /// What is listed and was not met.
    pub(crate) fn unmet(&self) -> Vec<String> {
        let missing = self.meant.iter().enumerate().filter(|(at, _)| !self.met.contains(at));
        missing.map(|(_, one)| one.why.clone()).collect()
    }
}

/// Paths at which two values differ, with both sides.
fn differ(path: &str, theirs: &Value, ours: &Value, found: &mut Vec<(String, String, String)>) {
    match (theirs, ours) {
        (Value::Object(left), Value::Object(right)) => {
            let keys: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
            for key in keys {
                let inner = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                match (left.get(key), right.get(key)) {
                    (Some(left), Some(right)) => differ(&inner, left, right, found),
                    (left, right) => found.push((inner, shown(left), shown(right))),
                }
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (at, (left, right)) in left.iter().zip(right).enumerate() {
                differ(&format!("{path}[{at}]"), left, right, found);
            }
        }
        (left, right) if left == right => {}
        (left, right) => found.push((path.to_owned(), shown(Some(left)), shown(Some(right)))),
    }
}

/// Longer values are cut in reports.
const SHOWN: usize = 600;

fn shown(value: Option<&Value>) -> String {
    let text = value.map_or_else(|| "(absent)".to_owned(), Value::to_string);
    if text.len() <= SHOWN { text } else { text.chars().take(SHOWN).collect::<String>() + " …" }
}
