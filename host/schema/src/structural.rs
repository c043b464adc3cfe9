//! Structural schemas: what a CustomResourceDefinition says of its objects, read
//! into the one schema form, and what is done by it: validation, pruning of unknown
//! fields, defaulting. CEL rules are kept in the schema and not evaluated here.

mod check;
mod combine;
mod default;
mod formats;
mod lists;
mod parse;
mod patterns;
mod prune;
mod rules;

pub use check::validate;
pub use default::default;
pub use parse::{parse, parse_at};
pub use prune::prune;

/// How deep schemas and values may nest. Protects the stack; JSON readers stop at 128,
/// and no published CRD nests deeper than 40.
pub const MAX_DEPTH: usize = 128;

/// The words with which Kubernetes warns of (or refuses) a pruned field.
pub fn unknown_field(path: &str) -> String {
    format!("unknown field {path:?}")
}

/// The fields that every resource has, whatever its schema says.
fn is_type_or_object_meta(key: &str) -> bool {
    matches!(key, "apiVersion" | "kind" | "metadata")
}

/// Appends `.key` (or `key` at the root) to a path; truncating to the returned length undoes it.
fn push_key(path: &mut String, key: &str) -> usize {
    let before = path.len();
    if before > 0 {
        path.push('.');
    }
    path.push_str(key);
    before
}

/// Appends `[index]` to a path; truncating to the returned length undoes it.
fn push_index(path: &mut String, index: usize) -> usize {
    let before = path.len();
    path.push('[');
    path.push_str(&index.to_string());
    path.push(']');
    before
}
