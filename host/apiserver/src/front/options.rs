//! The query options of resource requests.

use crate::error::{ApiError, Cause, Target};
use crate::handler::{FieldValidation, Options};
use serde_json::{Value, json};

use super::info::{Verb, query_pairs, truthy};

/// Reads a query string. Unknown parameters are ignored, as Kubernetes does;
/// malformed values of known ones are refused.
pub fn parse(query: Option<&str>, verb: Verb) -> Result<Options, ApiError> {
    let mut options = Options::default();
    let invalid = |cause| ApiError::invalid(Target::new("meta.k8s.io", kind(verb), ""), vec![cause]);
    let unsupported =
        |field: &str, value: Value, allowed: &[&str]| invalid(Cause::not_supported(field, &value, allowed));
    for (key, value) in query_pairs(query) {
        let text = || (!value.is_empty()).then(|| value.clone().into_owned());
        match key.as_ref() {
            "dryRun" => match value.as_ref() {
                "" => {}
                "All" => options.dry_run = true,
                other => return Err(unsupported("dryRun", json!([other]), &["All"])),
            },
            "fieldManager" => {
                options.field_manager = text();
                if let Some(cause) = options.field_manager.as_deref().and_then(manager_fault) {
                    return Err(invalid(cause));
                }
            }
            "fieldValidation" => {
                options.field_validation = match value.as_ref() {
                    "" | "Warn" => FieldValidation::Warn,
                    "Ignore" => FieldValidation::Ignore,
                    "Strict" => FieldValidation::Strict,
                    other => {
                        let allowed = ["", "Ignore", "Strict", "Warn"];
                        return Err(unsupported("fieldValidation", json!(other), &allowed));
                    }
                }
            }
            "force" => options.force = truthy(&value),
            "resourceVersion" => options.resource_version = text(),
            "resourceVersionMatch" => options.resource_version_match = text(),
            "limit" => options.limit = number(&key, &value)?.unwrap_or(0),
            "continue" => options.continue_token = text(),
            "labelSelector" => options.label_selector = text(),
            "fieldSelector" => options.field_selector = text(),
            "timeoutSeconds" => options.timeout_seconds = number(&key, &value)?,
            "allowWatchBookmarks" => options.allow_watch_bookmarks = truthy(&value),
            "sendInitialEvents" => options.send_initial_events = Some(truthy(&value)),
            "propagationPolicy" => options.propagation_policy = text(),
            "gracePeriodSeconds" => options.grace_period_seconds = number(&key, &value)?,
            "orphanDependents" => options.orphan_dependents = Some(truthy(&value)),
            _ => {}
        }
    }
    Ok(options)
}

fn number<T: std::str::FromStr>(key: &str, value: &str) -> Result<Option<T>, ApiError> {
    if value.is_empty() {
        return Ok(None);
    }
    value.parse().map(Some).map_err(|_| {
        ApiError::bad_request(format!("the query parameter {key} is {value:?}, expected a whole number"))
    })
}

/// The kind of a verb's options.
fn kind(verb: Verb) -> &'static str {
    match verb {
        Verb::Create => "CreateOptions",
        Verb::Update => "UpdateOptions",
        Verb::Patch => "PatchOptions",
        Verb::Delete | Verb::DeleteCollection => "DeleteOptions",
        Verb::Get | Verb::List | Verb::Watch => "ListOptions",
    }
}

/// Longest name of a field manager; Kubernetes' own limit.
const MAX_MANAGER: usize = 128;

fn manager_fault(name: &str) -> Option<Cause> {
    if name.len() > MAX_MANAGER {
        return Some(Cause::too_long("fieldManager", MAX_MANAGER));
    }
    let (at, letter) = name.char_indices().find(|(_, letter)| letter.is_control())?;
    let detail = format!("invalid character U+{:04X} (at position {at})", u32::from(letter));
    Some(Cause::invalid("fieldManager", &json!(name), &detail))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read() {
        let options = parse(Some(
            "limit=500&labelSelector=a%3Db%2Cc&dryRun=All&fieldValidation=Strict&force&resourceVersion=&watch=true&timeoutSeconds=7&sendInitialEvents=false",
        ), Verb::Create)
        .unwrap();
        assert_eq!(options.limit, 500);
        assert_eq!(options.label_selector.as_deref(), Some("a=b,c"));
        assert!(options.dry_run && options.force);
        assert_eq!(options.field_validation, FieldValidation::Strict);
        assert_eq!((options.resource_version, options.timeout_seconds), (None, Some(7)));
        assert_eq!(options.send_initial_events, Some(false));
    }

    #[test]
    fn nonsense_is_refused() {
        for (query, code) in [
            ("limit=many", 400),
            ("dryRun=Some", 422),
            ("fieldValidation=no", 422),
            ("fieldManager=a%0Ab", 422),
        ] {
            assert_eq!(parse(Some(query), Verb::Create).unwrap_err().code, code, "{query}");
        }
    }
}
