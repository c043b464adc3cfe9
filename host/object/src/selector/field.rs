//! Field selectors: `metadata.name=a,status.phase!=Running`. Which fields a kind offers is the caller's business.

use std::fmt;

use super::SelectorError;

/// One comparison of one field.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldTerm {
    /// The field's path with dots.
    pub field: String,
    /// The value compared with.
    pub value: String,
    /// Whether it must be equal, or must differ.
    pub equal: bool,
}

/// A conjunction of comparisons; none select everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldSelector {
    terms: Vec<FieldTerm>,
}

impl FieldSelector {
    /// Selects everything.
    pub fn everything() -> Self {
        Self::default()
    }

    /// Reads the form of queries; `\` escapes a comma, an equals sign or itself.
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        let mut terms = Vec::new();
        for part in split(text, ',')? {
            if !part.is_empty() {
                terms.push(term(&part)?);
            }
        }
        Ok(Self { terms })
    }

    /// The comparisons.
    pub fn terms(&self) -> &[FieldTerm] {
        &self.terms
    }

    /// Whether it selects everything.
    pub fn is_everything(&self) -> bool {
        self.terms.is_empty()
    }

    /// The only value of a field that can match, if the selector demands one.
    pub fn exact(&self, field: &str) -> Option<&str> {
        self.terms.iter().find(|term| term.equal && term.field == field).map(|term| term.value.as_str())
    }

    /// Whether fields, given by a lookup, are selected; an absent field is empty.
    pub fn matches<'a>(&self, get: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.terms.iter().all(|term| (get(&term.field).unwrap_or_default() == term.value) == term.equal)
    }
}

fn term(part: &str) -> Result<FieldTerm, SelectorError> {
    let refuse = || SelectorError {
        reason: format!("invalid field selector {part:?}: expected field=value or field!=value"),
    };
    let at = part.find('=').ok_or_else(refuse)?;
    let (field, rest) = part.split_at(at);
    let (field, equal) = match field.strip_suffix('!') {
        Some(field) => (field, false),
        None => (field, true),
    };
    let rest = rest.strip_prefix("==").or_else(|| rest.strip_prefix('=')).unwrap_or(rest);
    if field.is_empty() {
        return Err(refuse());
    }
    Ok(FieldTerm { field: field.to_owned(), value: unescape(rest)?, equal })
}

/// Splits at unescaped marks; escapes stay.
fn split(text: &str, mark: char) -> Result<Vec<String>, SelectorError> {
    let mut parts = vec![String::new()];
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == mark {
            parts.push(String::new());
            continue;
        }
        let Some(part) = parts.last_mut() else { continue };
        part.push(c);
        if c == '\\' {
            part.push(chars.next().ok_or_else(|| dangling(text))?);
        }
    }
    Ok(parts)
}

fn unescape(text: &str) -> Result<String, SelectorError> {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(c @ ('\\' | ',' | '=')) => out.push(c),
                _ => return Err(dangling(text)),
            },
            ',' | '=' => {
                return Err(SelectorError {
                    reason: format!("invalid field selector value {text:?}: unescaped {c:?}"),
                });
            }
            c => out.push(c),
        }
    }
    Ok(out)
}

fn dangling(text: &str) -> SelectorError {
    SelectorError {
        reason: format!("invalid field selector {text:?}: a backslash must escape ',', '=' or '\\'"),
    }
}

impl fmt::Display for FieldSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, term) in self.terms.iter().enumerate() {
            let value = term.value.replace('\\', "\\\\").replace(',', "\\,").replace('=', "\\=");
            write!(
                f,
                "{}{}{}{value}",
                if index > 0 { "," } else { "" },
                term.field,
                if term.equal { "=" } else { "!=" }
            )?;
        }
        Ok(())
    }
}
