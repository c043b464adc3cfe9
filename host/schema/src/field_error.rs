//! What is wrong with one field of an object, in Kubernetes' own words, so that
//! clients and people see the messages that they know.

use serde_json::Value;
use std::fmt;

/// What kind of fault a [`FieldError`] tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// The field must be present.
    Required,
    /// The value breaks a rule.
    Invalid,
    /// The value is none of those allowed.
    NotSupported,
    /// The value was there before in the same list.
    Duplicate,
    /// The field must not be set (here, or to this).
    Forbidden,
    /// Text is longer than allowed.
    TooLong,
    /// A list or map has more entries than allowed.
    TooMany,
    /// The value is of another type.
    TypeInvalid,
    /// The value names something that isn't there.
    NotFound,
}

impl Reason {
    /// The word for machines: `reason` of a Status cause.
    pub fn cause(self) -> &'static str {
        match self {
            Reason::Required => "FieldValueRequired",
            Reason::Invalid => "FieldValueInvalid",
            Reason::NotSupported => "FieldValueNotSupported",
            Reason::Duplicate => "FieldValueDuplicate",
            Reason::Forbidden => "FieldValueForbidden",
            Reason::TooLong => "FieldValueTooLong",
            Reason::TooMany => "FieldValueTooMany",
            Reason::TypeInvalid => "FieldValueTypeInvalid",
            Reason::NotFound => "FieldValueNotFound",
        }
    }

    /// The words for people.
    pub fn words(self) -> &'static str {
        match self {
            Reason::Required => "Required value",
            Reason::Invalid | Reason::TypeInvalid => "Invalid value",
            Reason::NotSupported => "Unsupported value",
            Reason::Duplicate => "Duplicate value",
            Reason::Forbidden => "Forbidden",
            Reason::TooLong => "Too long",
            Reason::TooMany => "Too many",
            Reason::NotFound => "Not found",
        }
    }
}

/// One fault of one field.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldError {
    /// Where: `spec.template.spec.containers[0].name`.
    pub field: String,
    /// What kind of fault.
    pub reason: Reason,
    /// The offending value.
    pub value: Value,
    /// What was expected; may be empty.
    pub detail: String,
}

impl FieldError {
    /// The field must be present.
    pub fn required(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(field, Reason::Required, Value::Null, detail)
    }

    /// The value breaks a rule.
    pub fn invalid(field: impl Into<String>, value: impl Into<Value>, detail: impl Into<String>) -> Self {
        Self::new(field, Reason::Invalid, value.into(), detail)
    }

    /// The value is of another type.
    pub fn type_invalid(
        field: impl Into<String>,
        value: impl Into<Value>,
        detail: impl Into<String>,
    ) -> Self {
        Self::new(field, Reason::TypeInvalid, value.into(), detail)
    }

    /// The value is none of `supported`.
    pub fn not_supported<S: AsRef<str>>(
        field: impl Into<String>,
        value: impl Into<Value>,
        supported: impl IntoIterator<Item = S>,
    ) -> Self {
        let quoted: Vec<String> = supported.into_iter().map(|s| format!("{:?}", s.as_ref())).collect();
        let detail = if quoted.is_empty() {
            String::new()
        } else {
            format!("supported values: {}", quoted.join(", "))
        };
        Self::new(field, Reason::NotSupported, value.into(), detail)
    }

    /// The value was there before in the same list.
    pub fn duplicate(field: impl Into<String>, value: impl Into<Value>) -> Self {
        Self::new(field, Reason::Duplicate, value.into(), "")
    }

    /// The value names something that isn't there.
    pub fn not_found(field: impl Into<String>, value: impl Into<Value>) -> Self {
        Self::new(field, Reason::NotFound, value.into(), "")
    }

    /// The field must not be set (here, or to this).
    pub fn forbidden(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(field, Reason::Forbidden, Value::Null, detail)
    }

    /// Text is longer than `max`.
    pub fn too_long(field: impl Into<String>, max: u64) -> Self {
        let unit = if max == 1 { "byte" } else { "bytes" };
        Self::new(field, Reason::TooLong, Value::Null, format!("may not be more than {max} {unit}"))
    }

    /// There are `actual` entries where `max` are allowed.
    pub fn too_many(field: impl Into<String>, actual: u64, max: u64) -> Self {
        let unit = if max == 1 { "item" } else { "items" };
        Self::new(field, Reason::TooMany, actual.into(), format!("must have at most {max} {unit}"))
    }

    fn new(field: impl Into<String>, reason: Reason, value: Value, detail: impl Into<String>) -> Self {
        FieldError { field: field.into(), reason, value, detail: detail.into() }
    }

    /// The message without the field: `message` of a Status cause.
    pub fn body(&self) -> String {
        let mut text = self.reason.words().to_owned();
        if !matches!(self.reason, Reason::Required | Reason::Forbidden | Reason::TooLong) {
            text.push_str(": ");
            text.push_str(&self.value.to_string());
        }
        if !self.detail.is_empty() {
            text.push_str(": ");
            text.push_str(&self.detail);
        }
        text
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.field, self.body())
    }
}

impl std::error::Error for FieldError {}
