//! Label and field selectors of lists, watches and collection deletes.

use crate::error::ApiError;
use crate::handler::Options;
use crate::registry::Resource;
use serde_json::Value;
use std::borrow::Cow;
use windlass_object::meta::Meta as _;
use windlass_object::{FieldSelector, LabelSelector};

/// What a request selects.
#[derive(Clone, Debug)]
pub(crate) struct Selection {
    labels: LabelSelector,
    fields: Vec<Term>,
    /// `metadata.name=x`: at most one object in a namespace.
    pub(crate) name: Option<String>,
    /// `metadata.namespace=x`.
    pub(crate) namespace: Option<String>,
}

#[derive(Clone, Debug)]
struct Term {
    path: Vec<String>,
    value: String,
    equal: bool,
}

impl Selection {
    /// Reads the selectors of a request; fields that the resource does not offer are refused.
    pub(crate) fn parse(resource: &Resource, options: &Options) -> Result<Self, ApiError> {
        let labels = match options.label_selector.as_deref() {
            None | Some("") => LabelSelector::everything(),
            Some(text) => LabelSelector::parse(text)
                .map_err(|error| ApiError::bad_request(format!("unable to parse requirement: {error}")))?,
        };
        let mut selection = Self { labels, fields: Vec::new(), name: None, namespace: None };
        let Some(text) = options.field_selector.as_deref().filter(|text| !text.is_empty()) else {
            return Ok(selection);
        };
        let parsed = FieldSelector::parse(text).map_err(|error| ApiError::bad_request(error.to_string()))?;
        selection.name = parsed.exact("metadata.name").map(str::to_owned);
        selection.namespace = parsed.exact("metadata.namespace").map(str::to_owned);
        for term in parsed.terms() {
            let path = match term.field.as_str() {
                "metadata.name" | "metadata.namespace" => term.field.split('.').map(str::to_owned).collect(),
                other => resource
                    .selectable
                    .iter()
                    .find(|(name, _)| name == other)
                    .map(|(_, path)| path.clone())
                    .ok_or_else(|| ApiError::bad_request(unknown(resource, other)))?,
            };
            selection.fields.push(Term { path, value: term.value.clone(), equal: term.equal });
        }
        Ok(selection)
    }

    /// Whether everything is selected.
    pub(crate) fn is_everything(&self) -> bool {
        self.labels.is_everything() && self.fields.is_empty()
    }

    /// Whether an object is selected.
    pub(crate) fn matches(&self, object: &Value) -> bool {
        self.labels.matches(|key| object.label(key))
            && self.fields.iter().all(|term| (text_at(object, &term.path) == term.value) == term.equal)
    }
}

/// Kubernetes has words of its own for kinds without further fields.
fn unknown(resource: &Resource, field: &str) -> String {
    if resource.builtin && resource.selectable.is_empty() {
        return format!(
            "{field:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
        );
    }
    format!("field label not supported: {field}")
}

/// The text of a field as Kubernetes compares it: absent booleans are `false`, absent numbers `0`.
fn text_at<'a>(object: &'a Value, path: &[String]) -> Cow<'a, str> {
    // An Event names its source in one of two fields, by the version it was written in.
    if let [source, component] = path
        && (source.as_str(), component.as_str()) == ("source", "component")
    {
        let old = object.get("source").and_then(|source| source.get("component")).and_then(Value::as_str);
        let new = object.get("reportingComponent").and_then(Value::as_str);
        return Cow::Borrowed(old.filter(|text| !text.is_empty()).or(new).unwrap_or_default());
    }
    match path.iter().try_fold(object, |at, key| at.get(key)) {
        Some(Value::String(text)) => Cow::Borrowed(text),
        Some(Value::Null) | None => match path.last().map(String::as_str) {
            Some("unschedulable" | "hostNetwork") => Cow::Borrowed("false"),
            Some("replicas" | "succeeded") => Cow::Borrowed("0"),
            _ => Cow::Borrowed(""),
        },
        Some(other) => Cow::Owned(other.to_string()),
    }
}
