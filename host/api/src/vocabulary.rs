//! The error of a text that is none of a fixed set of words.

use std::fmt;

/// A text that is none of a fixed set of words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordError {
    /// What was given.
    pub given: String,
    /// What is allowed.
    pub allowed: &'static [&'static str],
}

impl fmt::Display for WordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is not one of {}", self.given, self.allowed.join(", "))
    }
}

impl std::error::Error for WordError {}
