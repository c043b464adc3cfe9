//! Label and field selectors: parsed from query strings or from objects, matched through a lookup function.

use std::fmt;

use serde_json::Value;

use crate::Meta;

mod field;
mod parse;

pub use field::{FieldSelector, FieldTerm};

/// Why a selector was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct SelectorError {
    /// What is wrong, with the part that is.
    pub reason: String,
}

/// How a requirement compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operator {
    /// The value is one of the listed.
    In,
    /// The value is none of the listed; an absent label satisfies it.
    NotIn,
    /// The label is present.
    Exists,
    /// The label is absent.
    DoesNotExist,
    /// The value is an integer above the listed one.
    Gt,
    /// The value is an integer below the listed one.
    Lt,
}

/// One requirement on one label.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Requirement {
    /// The label's key.
    pub key: String,
    /// How it compares.
    pub operator: Operator,
    /// The listed values, sorted.
    pub values: Vec<String>,
}

/// A conjunction of requirements; none select everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LabelSelector {
    requirements: Vec<Requirement>,
    nothing: bool,
}

impl LabelSelector {
    /// Selects everything.
    pub fn everything() -> Self {
        Self::default()
    }

    /// Selects nothing.
    pub fn nothing() -> Self {
        Self { requirements: Vec::new(), nothing: true }
    }

    /// Reads the form of queries: `a=b,c!=d,e in (f,g),h notin (i),j,!k,l>1`.
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        Ok(Self { requirements: parse::requirements(text)?, nothing: false })
    }

    /// Reads `matchLabels` and `matchExpressions`. Null (an absent selector) selects nothing, an empty map everything.
    pub fn from_json(selector: &Value) -> Result<Self, SelectorError> {
        if selector.is_null() {
            return Ok(Self::nothing());
        }
        Ok(Self { requirements: parse::from_json(selector)?, nothing: false })
    }

    /// Selects objects that have all these labels.
    pub fn from_labels<'a>(labels: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let requirements = labels
            .into_iter()
            .map(|(key, value)| Requirement {
                key: key.to_owned(),
                operator: Operator::In,
                values: vec![value.to_owned()],
            })
            .collect();
        Self { requirements, nothing: false }
    }

    /// The requirements.
    pub fn requirements(&self) -> &[Requirement] {
        &self.requirements
    }

    /// Whether it selects everything.
    pub fn is_everything(&self) -> bool {
        !self.nothing && self.requirements.is_empty()
    }

    /// Whether a set of labels, given by a lookup, is selected.
    pub fn matches<'a>(&self, get: impl Fn(&str) -> Option<&'a str>) -> bool {
        !self.nothing
            && self.requirements.iter().all(|requirement| requirement.matches(get(&requirement.key)))
    }

    /// Whether an object's labels are selected.
    pub fn matches_object(&self, object: &Value) -> bool {
        self.matches(|key| object.label(key))
    }
}

impl Requirement {
    /// Whether a label's value, or its absence, satisfies this.
    pub fn matches(&self, value: Option<&str>) -> bool {
        let listed = |value: &str| self.values.iter().any(|listed| listed == value);
        let number = |text: &str| text.parse::<i64>().ok();
        let bound = || self.values.first().and_then(|text| number(text));
        match self.operator {
            Operator::In => value.is_some_and(listed),
            Operator::NotIn => !value.is_some_and(listed),
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
            Operator::Gt => value.and_then(number).zip(bound()).is_some_and(|(value, bound)| value > bound),
            Operator::Lt => value.and_then(number).zip(bound()).is_some_and(|(value, bound)| value < bound),
        }
    }
}

impl fmt::Display for LabelSelector {
    /// The form of queries.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, requirement) in self.requirements.iter().enumerate() {
            if index > 0 {
                f.write_str(",")?;
            }
            requirement.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, operator, values } = self;
        let first = values.first().map_or("", String::as_str);
        match operator {
            Operator::Exists => f.write_str(key),
            Operator::DoesNotExist => write!(f, "!{key}"),
            Operator::Gt => write!(f, "{key}>{first}"),
            Operator::Lt => write!(f, "{key}<{first}"),
            Operator::In if values.len() == 1 => write!(f, "{key}={first}"),
            Operator::NotIn if values.len() == 1 => write!(f, "{key}!={first}"),
            Operator::In => write!(f, "{key} in ({})", values.join(",")),
            Operator::NotIn => write!(f, "{key} notin ({})", values.join(",")),
        }
    }
}
