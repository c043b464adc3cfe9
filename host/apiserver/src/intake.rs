//! From a decoded body to an object in the one form of its kind: type checked, unknown
//! fields treated as asked, defaults filled in.

use crate::crd;
use crate::error::{ApiError, Cause, Target};
use crate::handler::{Call, FieldValidation};
use crate::registry::Resource;
use serde_json::{Map, Value, json};
use windlass_object::Gvk;
use windlass_object::meta::Meta as _;
use windlass_schema::builtin::table;
use windlass_schema::canonical::{self, Unknown};
use windlass_schema::{structural, validate};

/// Checks that a body is an object of this kind and version; fills in what it leaves out.
pub(crate) fn check_type(resource: &Resource, object: &mut Value) -> Result<(), ApiError> {
    let Some(map) = object.as_object_mut() else {
        return Err(ApiError::bad_request(format!("the body must be an object of kind {}", resource.kind)));
    };
    for (key, expected) in [("apiVersion", &resource.api_version), ("kind", &resource.kind)] {
        let given = map.get(key).and_then(Value::as_str).unwrap_or_default();
        if given.is_empty() {
            map.insert(key.into(), json!(expected));
        } else if given != expected && key == "kind" && resource.builtin {
            let version = &resource.version;
            let package = if resource.group.is_empty() {
                "core"
            } else {
                resource.group.split('.').next().unwrap_or_default()
            };
            return Err(ApiError::bad_request(format!(
                "{given} in version {version:?} cannot be handled as a {expected}: converting ({version}.{given}) to ({package}.{expected}): unknown conversion"
            )));
        } else if given != expected && key == "kind" {
            let cause = Cause::invalid("kind", &json!(given), &format!("must be {expected}"));
            let name = map.get("metadata").and_then(|m| m.get("name")).and_then(Value::as_str);
            let target = Target::new(&resource.group, given, name.unwrap_or_default());
            return Err(ApiError::invalid(target, vec![cause]));
        } else if given != expected {
            let what = if key == "kind" { "kind" } else { "API version" };
            return Err(ApiError::bad_request(format!(
                "the {what} in the data ({given}) does not match the expected {what} ({expected})"
            )));
        }
    }
    match map.get("metadata") {
        Some(Value::Object(_)) => Ok(()),
        None | Some(Value::Null) => {
            map.insert("metadata".into(), Value::Object(Map::new()));
            Ok(())
        }
        Some(_) => Err(ApiError::bad_request(format!(
            "{} in version {:?} cannot be handled as a {}: metadata must be an object",
            resource.kind, resource.version, resource.kind
        ))),
    }
}

/// Checks name and namespace of a body against the request's, and fills them in.
pub(crate) fn check_place(call: &Call, object: &mut Value) -> Result<(), ApiError> {
    let metadata = object.metadata_mut();
    let namespace = metadata.get("namespace").and_then(Value::as_str).unwrap_or_default();
    if call.resource.namespaced {
        if namespace.is_empty() {
            metadata.insert("namespace".into(), json!(call.namespace));
        } else if namespace != call.namespace {
            let text =
                "the namespace of the provided object does not match the namespace sent on the request";
            return Err(ApiError::bad_request(text));
        }
    } else {
        metadata.remove("namespace");
    }
    if !call.name.is_empty() {
        let name = metadata.get("name").and_then(Value::as_str).unwrap_or_default();
        if name.is_empty() {
            metadata.insert("name".into(), json!(call.name));
        } else if name != call.name {
            return Err(ApiError::bad_request(format!(
                "the name of the object ({name}) does not match the name on the URL ({})",
                call.name
            )));
        }
    }
    Ok(())
}

/// Brings an object to the form in which it is kept. Unknown fields are dropped, warned
/// of or refused, as the call says.
pub(crate) fn normalize(call: &Call, object: &mut Value) -> Result<(), ApiError> {
    normalize_as(&call.resource, object, call.options.field_validation, |text| call.warnings.add(text))
}

pub(crate) fn normalize_as(
    resource: &Resource,
    object: &mut Value,
    validation: FieldValidation,
    mut warn: impl FnMut(String),
) -> Result<(), ApiError> {
    let unknown = match validation {
        FieldValidation::Ignore => Unknown::Drop,
        FieldValidation::Warn => Unknown::Warn,
        FieldValidation::Strict => Unknown::Error,
    };
    let gvk = Gvk::new(&resource.group, &resource.version, &resource.kind);
    let refuse = |error: canonical::CanonicalError| ApiError::bad_request(error.message(&gvk));
    if resource.builtin {
        canonical::canonicalize(resource.schema.view(), object, unknown)
            .map_err(refuse)?
            .into_iter()
            .for_each(warn);
        return Ok(());
    }
    let mut texts = Vec::new();
    if let Some(view) = table().named("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta")
        && let Some(metadata) = object.get_mut("metadata")
    {
        let lenient = if unknown == Unknown::Error { Unknown::Warn } else { unknown };
        let found = canonical::canonicalize(view, metadata, lenient).map_err(refuse)?;
        texts.extend(found.iter().map(|text| text.replacen("field \"", "field \"metadata.", 1)));
        // Go leaves a time that was never set as null; here it is absent until it is set.
        if let Some(map) = metadata.as_object_mut() {
            map.retain(|_, value| !value.is_null());
        }
    }
    let dropped = structural::prune(resource.schema.view(), object);
    texts.extend(dropped.iter().map(|path| structural::unknown_field(path)));
    match validation {
        FieldValidation::Strict if !texts.is_empty() => {
            let (version, kind) = (&resource.version, &resource.kind);
            return Err(ApiError::bad_request(format!(
                "{kind} in version {version:?} cannot be handled as a {kind}: strict decoding error: {}",
                texts.join(", ")
            )));
        }
        FieldValidation::Warn => texts.into_iter().for_each(&mut warn),
        FieldValidation::Ignore | FieldValidation::Strict => {}
    }
    structural::default(resource.schema.view(), object);
    Ok(())
}

/// Everything wrong with an object as it is about to be stored. Parts of a custom resource
/// that are equal to `old` are not looked at again; through a subresource only its own part changes.
pub(crate) fn validate(call: &Call, object: &Value, old: Option<&Value>) -> Result<(), ApiError> {
    let resource = &call.resource;
    let gvk = Gvk::new(&resource.group, &resource.version, &resource.kind);
    let mut causes: Vec<Cause> = Vec::new();
    if resource.builtin {
        // A binding or a status is no change of the spec, which may predate a rule.
        if call.subresource.is_empty() || call.subresource == "scale" {
            causes.extend(validate::builtin(&gvk, object, old).iter().map(Cause::field));
        }
        if crd::is_crd(resource) {
            crd::check(object, &mut causes);
        }
    } else {
        // Only built-in kinds insist on a finalizer's domain.
        let errors = validate::builtin(&gvk, object, old);
        let (short, errors): (Vec<_>, Vec<_>) =
            errors.into_iter().partition(|error| error.detail.starts_with(SHORT_FINALIZER));
        for error in short {
            call.warnings.add(format!("metadata.finalizers: {}: {PREFER_DOMAIN}", error.value));
        }
        causes.extend(errors.iter().map(Cause::field));
        let errors = structural::validate(resource.schema.view(), object, old);
        causes.extend(errors.iter().map(Cause::field));
    }
    if causes.is_empty() {
        Ok(())
    } else {
        Err(ApiError::invalid(resource.kind_target(object.name()), causes))
    }
}

/// What is said of such a finalizer of a custom resource.
const PREFER_DOMAIN: &str =
    "prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers";

/// How the complaint about a finalizer without domain begins.
const SHORT_FINALIZER: &str = "name is neither a standard finalizer";
