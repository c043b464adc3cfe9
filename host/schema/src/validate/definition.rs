//! CustomResourceDefinitions beyond names and versions: conversion, sub-resources, columns, selectable fields.

use super::check::{Check, look, missing};
use super::names;
use crate::field_error::FieldError;
use serde_json::Value;
use windlass_object::path;

/// Types that a printer column may have.
const COLUMN_TYPES: [&str; 5] = ["boolean", "date", "integer", "number", "string"];
/// Formats that a printer column may have.
const COLUMN_FORMATS: [&str; 8] =
    ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];
/// The annotation by which Kubernetes' own project approves a definition in its groups.
const APPROVED: &str = "api-approved.kubernetes.io";

pub(super) fn details(new: &Value, check: &mut Check) {
    let spec = look(new, &["spec"]);
    for field in ["shortNames", "categories"] {
        for (index, name) in path::list_at(spec, &["names", field]).iter().enumerate() {
            let name = name.as_str().unwrap_or_default();
            for detail in names::old_label(name) {
                check.invalid(format!("spec.names.{field}[{index}]"), name, detail);
            }
        }
    }
    if look(spec, &["preserveUnknownFields"]) == true {
        let detail = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
        check.invalid("spec.preserveUnknownFields", true, detail);
    }
    approval(new, check);
    conversion(look(spec, &["conversion"]), check);
    let versions = path::list_at(spec, &["versions"]);
    for (index, version) in versions.iter().enumerate() {
        let at = format!("spec.versions[{index}]");
        let warning = look(version, &["deprecationWarning"]);
        if !missing(warning) && look(version, &["deprecated"]) != true {
            let detail = "can only be set for deprecated versions";
            check.invalid(format!("{at}.deprecationWarning"), warning.clone(), detail);
        }
        // What a single version says, the definition says.
        let at = if versions.len() == 1 { "spec".to_owned() } else { at };
        scale(look(version, &["subresources", "scale"]), &format!("{at}.subresources.scale"), check);
        columns(path::list_at(version, &["additionalPrinterColumns"]), &at, check);
        selectable(version, &at, check);
    }
}

/// Groups of Kubernetes' own are not for everybody.
fn approval(new: &Value, check: &mut Check) {
    let group = path::str_at(new, &["spec", "group"]);
    let protected = ["k8s.io", "kubernetes.io"]
        .iter()
        .any(|domain| group == *domain || group.ends_with(&format!(".{domain}")));
    let field = format!("metadata.annotations[{APPROVED}]");
    let given = look(new, &["metadata", "annotations", APPROVED]).as_str().unwrap_or_default();
    if !protected || given.starts_with("unapproved") || given.starts_with("https://") {
        return;
    }
    if given.is_empty() {
        let detail = format!(
            "protected groups must have approval annotation {APPROVED:?}, see https://github.com/kubernetes/enhancements/pull/1111"
        );
        check.required(field, &detail);
    } else {
        let detail = format!(
            "protected groups must have approval annotation {APPROVED:?} with either a URL or a reason starting with \"unapproved\", see https://github.com/kubernetes/enhancements/pull/1111"
        );
        check.invalid(field, given, detail);
    }
}

fn conversion(conversion: &Value, check: &mut Check) {
    let strategy = look(conversion, &["strategy"]).as_str().unwrap_or_default();
    let (client, reviews) = (
        look(conversion, &["webhook", "clientConfig"]),
        look(conversion, &["webhook", "conversionReviewVersions"]),
    );
    match strategy {
        "Webhook" => {
            if client.is_null() {
                check.required(
                    "spec.conversion.webhookClientConfig",
                    "required when strategy is set to Webhook",
                );
            } else {
                address(client, check);
            }
            if missing(reviews) {
                check.required("spec.conversion.conversionReviewVersions", "");
            }
        }
        "None" | "" => {
            for (field, value) in [("webhookClientConfig", client), ("conversionReviewVersions", reviews)] {
                if !missing(value) {
                    let detail = "should not be set when strategy is not set to Webhook";
                    check.forbidden(format!("spec.conversion.{field}"), detail);
                }
            }
        }
        other => {
            check.push(FieldError::not_supported("spec.conversion.strategy", other, ["None", "Webhook"]))
        }
    }
}

fn address(client: &Value, check: &mut Check) {
    let at = "spec.conversion.webhookClientConfig";
    let url = look(client, &["url"]).as_str();
    if url.is_some() != look(client, &["service"]).is_null() {
        check.required(at, "exactly one of url or service is required");
    }
    if let Some(url) = url {
        let scheme = url.split_once("://").map_or(url, |(scheme, _)| scheme);
        if scheme != "https" {
            let detail = "'https' is the only allowed URL scheme; desired format: https://host[/path]";
            check.invalid(format!("{at}.url"), scheme, detail);
        }
    }
}

fn scale(scale: &Value, at: &str, check: &mut Check) {
    if scale.is_null() {
        return;
    }
    for (field, root) in [("specReplicasPath", ".spec"), ("statusReplicasPath", ".status")] {
        let field_at = format!("{at}.{field}");
        if let Some(given) = check.text(&field_at, look(scale, &[field]))
            && !given.starts_with(&format!("{root}."))
        {
            check.invalid(field_at, given, format!("should be a json path under {root}"));
        }
    }
    if let Some(given) = look(scale, &["labelSelectorPath"]).as_str()
        && !given.is_empty()
        && !given.starts_with(".spec.")
        && !given.starts_with(".status.")
    {
        let detail = "should be a json path under either .spec or .status";
        check.invalid(format!("{at}.labelSelectorPath"), given, detail);
    }
}

fn columns(columns: &[Value], at: &str, check: &mut Check) {
    for (index, column) in columns.iter().enumerate() {
        let at = format!("{at}.additionalPrinterColumns[{index}]");
        check.text(&format!("{at}.name"), look(column, &["name"]));
        if let Some(kind) = check.text(&format!("{at}.type"), look(column, &["type"]))
            && !COLUMN_TYPES.contains(&kind)
        {
            check.invalid(format!("{at}.type"), kind, format!("must be one of {}", COLUMN_TYPES.join(",")));
        }
        let format = look(column, &["format"]).as_str().unwrap_or_default();
        if !format.is_empty() && !COLUMN_FORMATS.contains(&format) {
            let detail = format!("must be one of {}", COLUMN_FORMATS.join(","));
            check.invalid(format!("{at}.format"), format, detail);
        }
        if let Some(given) = check.text(&format!("{at}.JSONPath"), look(column, &["jsonPath"]))
            && !given.starts_with('.')
        {
            check.invalid(format!("{at}.JSONPath"), given, "must be a simple json path starting with .");
        }
    }
}

/// Fields that selectors may name: declared ones with a single value.
fn selectable(version: &Value, at: &str, check: &mut Check) {
    for (index, field) in path::list_at(version, &["selectableFields"]).iter().enumerate() {
        let at = format!("{at}.selectableFields[{index}].jsonPath");
        let Some(given) = check.text(&at, look(field, &["jsonPath"])) else { continue };
        let mut schema = look(version, &["schema", "openAPIV3Schema"]);
        for step in given.trim_start_matches('.').split('.') {
            schema = look(schema, &["properties", step]);
        }
        let kind = look(schema, &["type"]).as_str().unwrap_or_default();
        if given.starts_with(".metadata") || !matches!(kind, "string" | "integer" | "boolean") {
            check.invalid(at, given, "is an invalid path: does not refer to a valid field");
        }
    }
}
