//! Errors of fields in Kubernetes' form: `<path>: <class>: <value>: <detail>`; one is printed bare, several as a list.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::denied::Denied;

/// An object's `spec` as a Rust type; the error names the field that can't be read.
pub(crate) fn spec<T: DeserializeOwned>(object: &Value) -> Result<T, Denied> {
    let spec = object.get("spec").unwrap_or(&Value::Null);
    serde_path_to_error::deserialize(spec).map_err(|error| {
        let path = match error.path().to_string().as_str() {
            "." => "spec".to_owned(),
            path => format!("spec.{path}"),
        };
        Denied::undecodable(&path, error.inner())
    })
}

/// Errors of fields, in the order they were found.
#[derive(Default)]
pub(crate) struct Errors(Vec<String>);

impl Errors {
    pub(crate) fn invalid(&mut self, path: &str, value: impl Serialize, detail: impl AsRef<str>) {
        self.push(format!("{path}: Invalid value: {}: {}", show(value), detail.as_ref()));
    }

    pub(crate) fn required(&mut self, path: &str, detail: impl AsRef<str>) {
        match detail.as_ref() {
            "" => self.push(format!("{path}: Required value")),
            detail => self.push(format!("{path}: Required value: {detail}")),
        }
    }

    pub(crate) fn unsupported(&mut self, path: &str, value: impl Serialize, supported: &[&str]) {
        let words: Vec<String> = supported.iter().map(|w| format!("{w:?}")).collect();
        self.push(format!(
            "{path}: Unsupported value: {}: supported values: {}",
            show(value),
            words.join(", ")
        ));
    }

    pub(crate) fn duplicate(&mut self, path: &str, value: impl Serialize) {
        self.push(format!("{path}: Duplicate value: {}", show(value)));
    }

    pub(crate) fn forbidden(&mut self, path: &str, detail: &str) {
        self.push(format!("{path}: Forbidden: {detail}"));
    }

    /// Adds the error of a check, if there is one.
    pub(crate) fn check(&mut self, path: &str, value: impl Serialize, result: Result<(), String>) {
        if let Err(detail) = result {
            self.invalid(path, value, detail);
        }
    }

    pub(crate) fn into_result(self) -> Result<(), Denied> {
        match self.0.as_slice() {
            [] => Ok(()),
            [one] => Err(Denied::forbidden(one.clone())),
            several => Err(Denied::forbidden(format!("[{}]", several.join(", ")))),
        }
    }

    fn push(&mut self, error: String) {
        if !self.0.contains(&error) {
            self.0.push(error);
        }
    }
}

fn show(value: impl Serialize) -> String {
    serde_json::to_value(value).map(|v: Value| v.to_string()).unwrap_or_else(|_| "?".into())
}
