//! Texts for `kubectl explain`. They are not kept in this repository: the build script takes them from k8s-openapi's
//! source, and they are unpacked only when a document is built.

use flate2::read::DeflateDecoder;
use std::collections::HashMap;
use std::io::Read as _;

/// Descriptions of definitions and their fields.
#[derive(Debug, Default)]
pub struct Descriptions {
    text: String,
    /// Definition → field (empty for the definition itself) → range of `text`.
    index: HashMap<String, HashMap<String, std::ops::Range<usize>>>,
}

/// A blob that unpacks to more than this was not made by our build script.
const MAX_TEXT: u64 = 32 << 20;

impl Descriptions {
    /// Those of built-in types; empty if the build could not find them.
    pub fn builtin() -> Self {
        Self::unpack(include_bytes!(concat!(env!("OUT_DIR"), "/descriptions.bin")))
    }

    /// Lines of `=definition`, then `field<TAB>text` with `\n` for line ends, deflated.
    fn unpack(blob: &[u8]) -> Self {
        let mut text = String::new();
        if DeflateDecoder::new(blob).take(MAX_TEXT).read_to_string(&mut text).is_err() {
            return Self::default();
        }
        let mut index: HashMap<String, HashMap<String, std::ops::Range<usize>>> = HashMap::new();
        let (mut at, mut current) = (0, String::new());
        for line in text.split_inclusive('\n') {
            let bare = line.trim_end_matches('\n');
            if let Some(name) = bare.strip_prefix('=') {
                current = name.to_owned();
            } else if let Some((field, words)) = bare.split_once('\t') {
                let from = at + field.len() + 1;
                index.entry(current.clone()).or_default().insert(field.to_owned(), from..from + words.len());
            }
            at += line.len();
        }
        Descriptions { text, index }
    }

    /// What a field of a definition is for; the empty field is the definition itself.
    pub fn of(&self, definition: &str, field: &str) -> Option<String> {
        let range = self.index.get(definition)?.get(field)?;
        let mut words = String::new();
        let mut escaped = false;
        for c in self.text.get(range.clone())?.chars() {
            match (escaped, c) {
                (false, '\\') => escaped = true,
                (true, 'n') => (escaped, _) = (false, words.push('\n')),
                (_, c) => (escaped, _) = (false, words.push(c)),
            }
        }
        Some(words)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }
}
