//! Regular expressions of schemas, each compiled once per process.

use regex::Regex;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, RwLock};

/// How large a compiled pattern may become. Patterns come from whoever may write CRDs.
const COMPILED_SIZE: usize = 1 << 20;

/// How many compiled patterns are kept before the cache starts over: a few large
/// operators' CRDs hold some hundred in all.
const CACHED: usize = 4096;

static CACHE: LazyLock<RwLock<HashMap<String, Option<Arc<Regex>>>>> = LazyLock::new(Default::default);

/// Compiles a pattern, or says why it can't be.
pub(super) fn compile(pattern: &str) -> Result<Regex, regex::Error> {
    regex::RegexBuilder::new(pattern).size_limit(COMPILED_SIZE).build()
}

/// Whether the text matches. A pattern that can't be compiled was refused with its
/// CRD, and matches everything here.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    match cached(pattern) {
        Some(regex) => regex.is_match(text),
        None => true,
    }
}

fn cached(pattern: &str) -> Option<Arc<Regex>> {
    if let Ok(cache) = CACHE.read()
        && let Some(found) = cache.get(pattern)
    {
        return found.clone();
    }
    let compiled = compile(pattern).ok().map(Arc::new);
    if let Ok(mut cache) = CACHE.write() {
        if cache.len() >= CACHED {
            cache.clear();
        }
        cache.insert(pattern.to_owned(), compiled.clone());
    }
    compiled
}
