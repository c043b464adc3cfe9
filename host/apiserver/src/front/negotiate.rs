//! What form of answer the client wants, and in what form it sends.

use crate::error::ApiError;
use crate::handler::PatchType;

/// How an answer is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// JSON.
    #[default]
    Json,
    /// YAML.
    Yaml,
}

impl Format {
    /// The Content-Type of such an answer.
    pub fn content_type(self) -> &'static str {
        match self {
            Format::Json => "application/json",
            Format::Yaml => "application/yaml",
        }
    }
}

/// What objects are turned into before they are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// They stay what they are.
    #[default]
    Whole,
    /// A `meta.k8s.io` Table of this version.
    Table(&'static str),
    /// Type and metadata only, of this version.
    Metadata(&'static str),
}

/// The form of discovery documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discovery {
    /// One document for each group-version.
    Plain,
    /// All groups in one, of this version of `apidiscovery.k8s.io`.
    Aggregated(&'static str),
}

/// The media types that answers come in, for messages.
pub const ANSWERS: [&str; 2] = ["application/json", "application/yaml"];
/// The media types that bodies may have, for messages.
pub const BODIES: [&str; 3] = ["application/json", "application/yaml", PROTOBUF];
/// The media types that patches may have, for messages.
pub const PATCHES: [&str; 4] = [
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
];
/// Kubernetes' own binary form.
pub const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
/// More clauses than any client sends; the rest is not read.
const MAX_CLAUSES: usize = 32;

/// One media range of an Accept header.
struct Clause<'a> {
    media: &'a str,
    group: &'a str,
    version: &'a str,
    kind: &'a str,
    quality: f32,
}

fn clauses(accept: &str) -> Vec<Clause<'_>> {
    let mut clauses: Vec<Clause<'_>> = accept.split(',').take(MAX_CLAUSES).filter_map(clause).collect();
    // Stable: among equals the client's order counts.
    clauses.sort_by(|a, b| b.quality.total_cmp(&a.quality));
    clauses
}

fn clause(text: &str) -> Option<Clause<'_>> {
    let mut parts = text.split(';').map(str::trim);
    let media = parts.next().filter(|media| !media.is_empty())?;
    let mut clause = Clause { media, group: "", version: "", kind: "", quality: 1.0 };
    for part in parts {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        match key {
            "as" => clause.kind = value,
            "g" => clause.group = value,
            "v" => clause.version = value,
            "q" => clause.quality = value.parse().unwrap_or(1.0),
            _ => {}
        }
    }
    (clause.quality > 0.0).then_some(clause)
}

fn format_of(media: &str) -> Option<Format> {
    match media {
        "application/json" | "application/*" | "*/*" | "*" => Some(Format::Json),
        "application/yaml" => Some(Format::Yaml),
        _ => None,
    }
}

/// The form for objects and lists. Watches come in JSON only.
pub fn objects(accept: Option<&str>, watch: bool) -> Result<(Format, Shape), ApiError> {
    let Some(accept) = accept.filter(|accept| !accept.trim().is_empty()) else {
        return Ok((Format::Json, Shape::Whole));
    };
    for clause in clauses(accept) {
        let Some(format) = format_of(clause.media) else { continue };
        if watch && format == Format::Yaml {
            continue;
        }
        let version = match clause.version {
            "v1" => Some("v1"),
            "v1beta1" => Some("v1beta1"),
            _ => None,
        };
        match (clause.kind, clause.group, version) {
            ("", _, _) => return Ok((format, Shape::Whole)),
            ("Table", "meta.k8s.io", Some(version)) => return Ok((format, Shape::Table(version))),
            ("PartialObjectMetadata" | "PartialObjectMetadataList", "meta.k8s.io", Some(version)) => {
                return Ok((format, Shape::Metadata(version)));
            }
            _ => {}
        }
    }
    Err(ApiError::not_acceptable(&ANSWERS))
}

/// The form of plain documents: JSON or YAML.
pub fn document(accept: Option<&str>) -> Result<Format, ApiError> {
    Ok(objects(accept, false)?.0)
}

/// The form for `/api` and `/apis`.
pub fn discovery(accept: Option<&str>) -> Result<Discovery, ApiError> {
    let Some(accept) = accept.filter(|accept| !accept.trim().is_empty()) else {
        return Ok(Discovery::Plain);
    };
    for clause in clauses(accept) {
        if format_of(clause.media).is_none() {
            continue;
        }
        match (clause.kind, clause.group, clause.version) {
            ("", _, _) => return Ok(Discovery::Plain),
            ("APIGroupDiscoveryList", "apidiscovery.k8s.io", "v2") => return Ok(Discovery::Aggregated("v2")),
            ("APIGroupDiscoveryList", "apidiscovery.k8s.io", "v2beta1") => {
                return Ok(Discovery::Aggregated("v2beta1"));
            }
            _ => {}
        }
    }
    Err(ApiError::not_acceptable(&ANSWERS))
}

/// In what form a body comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// JSON; also what is assumed when nothing is said.
    Json,
    /// YAML.
    Yaml,
    /// `application/vnd.kubernetes.protobuf`.
    Protobuf,
}

/// The encoding of an object in a body.
pub fn body(content_type: Option<&str>) -> Result<Encoding, ApiError> {
    match media(content_type) {
        "" | "application/json" => Ok(Encoding::Json),
        "application/yaml" => Ok(Encoding::Yaml),
        PROTOBUF => Ok(Encoding::Protobuf),
        _ => Err(ApiError::unsupported_media_type(&BODIES)),
    }
}

/// The kind of patch in a body.
pub fn patch(content_type: Option<&str>) -> Result<PatchType, ApiError> {
    match media(content_type) {
        "application/json-patch+json" => Ok(PatchType::Json),
        "application/merge-patch+json" => Ok(PatchType::Merge),
        "application/strategic-merge-patch+json" => Ok(PatchType::Strategic),
        "application/apply-patch+yaml" => Ok(PatchType::Apply),
        _ => Err(ApiError::unsupported_media_type(&PATCHES)),
    }
}

fn media(content_type: Option<&str>) -> &str {
    content_type.unwrap_or("").split(';').next().unwrap_or("").trim()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn accept_headers_are_understood() {
        let cases: Vec<Value> = serde_json::from_str(include_str!("../../tests/cases/accept.json")).unwrap();
        for case in &cases {
            let accept = case["accept"].as_str();
            let got = match case["for"].as_str().unwrap() {
                "discovery" => discovery(accept).map(|form| format!("{form:?}")),
                "watch" => objects(accept, true).map(|form| format!("{form:?}")),
                _ => objects(accept, false).map(|form| format!("{form:?}")),
            };
            let got = got.unwrap_or_else(|error| error.code.to_string());
            assert_eq!(got, case["is"].as_str().unwrap(), "{case}");
        }
    }

    #[test]
    fn content_types_are_understood() {
        assert_eq!(body(None), Ok(Encoding::Json));
        assert_eq!(body(Some("application/json; charset=utf-8")), Ok(Encoding::Json));
        assert_eq!(body(Some("application/vnd.kubernetes.protobuf")), Ok(Encoding::Protobuf));
        assert_eq!(body(Some("application/yaml")), Ok(Encoding::Yaml));
        assert_eq!(body(Some("application/xml")).unwrap_err().code, 415);
        assert_eq!(patch(Some("application/apply-patch+yaml")), Ok(PatchType::Apply));
        assert_eq!(patch(Some("application/json")).unwrap_err().code, 415);
        assert_eq!(patch(None).unwrap_err().code, 415);
    }
}
