//! Why a cluster does not pass. Made for every refused cluster, put into words only when someone asks.

use std::fmt;

/// A fixed text, if need be with something that belongs behind it. Nothing is allocated.
#[derive(Clone, Copy)]
pub struct Reason<'a> {
    text: &'a str,
    detail: Option<&'a dyn fmt::Display>,
    end: &'a str,
}

impl<'a> Reason<'a> {
    /// A text.
    pub fn text(text: &'a str) -> Self {
        Self { text, detail: None, end: "" }
    }

    /// `before`, then the detail, then `after`: `Reason::with("cluster(s) had untolerated taint {", taint, "}")`.
    pub fn with(before: &'a str, detail: &'a dyn fmt::Display, after: &'a str) -> Self {
        Self { text: before, detail: Some(detail), end: after }
    }
}

impl fmt::Display for Reason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text)?;
        if let Some(detail) = self.detail {
            detail.fmt(f)?;
        }
        f.write_str(self.end)
    }
}

impl fmt::Debug for Reason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reason({self})")
    }
}

/// For tests: a reason equals its text.
impl PartialEq<&str> for Reason<'_> {
    fn eq(&self, other: &&str) -> bool {
        let text = self.to_string();
        text == *other
    }
}
