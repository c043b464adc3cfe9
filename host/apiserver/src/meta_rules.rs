//! Rules of `metadata` that hold for every kind: what the server fills in, what a client
//! may write, what may change, in Kubernetes' words.

use crate::error::Cause;
use crate::limits::{MAX_ANNOTATIONS, MAX_GENERATE_BASE};
use crate::registry::Resource;
use crate::strategy::NameRule;
use serde_json::{Value, json};
use uuid::Uuid;
use windlass_object::label;
use windlass_object::meta::Meta as _;
use windlass_object::time;

const SUBDOMAIN_EXAMPLE: &str = "(e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL_EXAMPLE: &str =
    "(e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const LABEL_1035: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const QUALIFIED_EXAMPLE: &str = "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const VALUE_EXAMPLE: &str = "(e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
/// Letters of generated names: no vowels, so that no words arise, and none that look alike.
const SUFFIX_LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

/// Fills in what the server decides about a new object.
pub(crate) fn begin(resource: &Resource, object: &mut Value) {
    let generation = resource.facts.generation;
    let metadata = object.metadata_mut();
    for field in ["selfLink", "deletionTimestamp", "deletionGracePeriodSeconds", "generation", "resourceVersion"] {
        metadata.remove(field);
    }
    metadata.insert("uid".into(), json!(Uuid::new_v4().to_string()));
    metadata.insert("creationTimestamp".into(), json!(time::now()));
    if generation {
        metadata.insert("generation".into(), json!(1));
    }
}

/// A name made of `generateName` and five letters.
pub(crate) fn generate(base: &str) -> String {
    let mut end = base.len().min(MAX_GENERATE_BASE);
    while !base.is_char_boundary(end) {
        end -= 1;
    }
    let mut name = base.get(..end).unwrap_or_default().to_owned();
    let random = Uuid::new_v4();
    for byte in random.as_bytes().iter().take(5) {
        let letter = SUFFIX_LETTERS.get(usize::from(*byte) % SUFFIX_LETTERS.len()).copied().unwrap_or(b'b');
        name.push(char::from(letter));
    }
    name
}

/// What is wrong with a name; empty if nothing.
pub(crate) fn check_name(rule: NameRule, name: &str) -> Option<String> {
    match rule {
        NameRule::Subdomain => label::check_subdomain(name).err().map(|text| with(text, SUBDOMAIN_EXAMPLE)),
        NameRule::Label => label::check_dns_label(name).err().map(|text| with(text, LABEL_EXAMPLE)),
        NameRule::Label1035 => {
            let fits = label::check_dns_label(name).is_ok()
                && name.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase());
            if fits {
                None
            } else if name.len() > label::MAX_LABEL {
                Some(format!("must be no more than {} bytes", label::MAX_LABEL))
            } else {
                Some(LABEL_1035.to_owned())
            }
        }
        NameRule::Segment => {
            if name == "." || name == ".." {
                return Some(format!("may not be '{name}'"));
            }
            ["/", "%"].iter().find(|bad| name.contains(**bad)).map(|bad| format!("may not contain '{bad}'"))
        }
    }
}

fn with(text: String, example: &str) -> String {
    if text.starts_with("must be no more") { text } else { format!("{text} {example}") }
}

/// What is wrong with the metadata of an object, new or changed.
pub(crate) fn check(resource: &Resource, object: &Value, causes: &mut Vec<Cause>) {
    let name = object.name();
    if name.is_empty() {
        causes.push(Cause::required("metadata.name", "name or generateName is required"));
    } else if let Some(detail) = check_name(resource.facts.name, name) {
        causes.push(Cause::invalid("metadata.name", &json!(name), &detail));
    }
    for (key, value) in object.labels() {
        if let Err(detail) = label::check_key(key) {
            causes.push(Cause::invalid("metadata.labels", &json!(key), &qualified(detail)));
        }
        if let Err(detail) = label::check_value(value) {
            causes.push(Cause::invalid("metadata.labels", &json!(value), &with(detail, VALUE_EXAMPLE)));
        }
    }
    let mut size = 0;
    for (key, value) in object.annotations() {
        size += key.len() + value.len();
        if let Err(detail) = label::check_key(&key.to_lowercase()) {
            causes.push(Cause::invalid("metadata.annotations", &json!(key), &qualified(detail)));
        }
    }
    if size > MAX_ANNOTATIONS {
        causes.push(Cause::too_long("metadata.annotations", MAX_ANNOTATIONS));
    }
    for finalizer in object.finalizers() {
        check_finalizer(finalizer, causes);
    }
    check_owners(object, causes);
}

fn qualified(detail: String) -> String {
    let (prefix, name) = ("prefix part ", "name part ");
    if detail.starts_with(prefix) && !detail.contains("non-empty") {
        with(detail, SUBDOMAIN_EXAMPLE)
    } else if detail.starts_with(name) && !detail.contains("no more than") && !detail.contains("non-empty") {
        with(detail, QUALIFIED_EXAMPLE)
    } else {
        detail
    }
}

fn check_finalizer(finalizer: &str, causes: &mut Vec<Cause>) {
    if let Err(detail) = label::check_key(finalizer) {
        causes.push(Cause::invalid("metadata.finalizers", &json!(finalizer), &qualified(detail)));
    }
}

fn check_owners(object: &Value, causes: &mut Vec<Cause>) {
    let mut controllers: Vec<&str> = Vec::new();
    for owner in object.owner_references() {
        let text = |key: &str| owner.get(key).and_then(Value::as_str).unwrap_or_default();
        for (key, detail) in [
            ("apiVersion", "must not be empty"),
            ("kind", "must not be empty"),
            ("name", "must not be empty"),
            ("uid", "must not be empty"),
        ] {
            if text(key).is_empty() {
                causes.push(Cause::invalid(&format!("metadata.ownerReferences.{key}"), &json!(text(key)), detail));
            }
        }
        if (text("apiVersion"), text("kind")) == ("v1", "Event") {
            let detail = format!("{}, Kind={} is disallowed from being an owner", text("apiVersion"), text("kind"));
            causes.push(Cause::invalid("metadata.ownerReferences", owner, &detail));
        }
        if owner.get("controller").and_then(Value::as_bool) == Some(true) {
            controllers.push(text("kind"));
        }
    }
    if let [first, second, ..] = controllers.as_slice() {
        let detail = format!(
            "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {second}"
        );
        causes.push(Cause::invalid("metadata.ownerReferences", &json!(object.owner_references()), &detail));
    }
}

/// Carries over what an update cannot change without saying so.
pub(crate) fn carry(old: &Value, new: &mut Value) {
    let empty = serde_json::Map::new();
    let old = old.get("metadata").and_then(Value::as_object).unwrap_or(&empty);
    let metadata = new.metadata_mut();
    metadata.remove("selfLink");
    for field in ["generation", "deletionTimestamp", "deletionGracePeriodSeconds"] {
        match old.get(field) {
            Some(value) => metadata.insert(field.into(), value.clone()),
            None => metadata.remove(field),
        };
    }
    for field in ["uid", "creationTimestamp", "name", "namespace"] {
        let given = metadata.get(field).and_then(Value::as_str).unwrap_or_default();
        if given.is_empty() {
            match old.get(field) {
                Some(value) => metadata.insert(field.into(), value.clone()),
                None => metadata.remove(field),
            };
        }
    }
    if !metadata.contains_key("generateName")
        && let Some(value) = old.get("generateName")
    {
        metadata.insert("generateName".into(), value.clone());
    }
}

/// What of the metadata may not change but did.
pub(crate) fn check_change(old: &Value, new: &Value, causes: &mut Vec<Cause>) {
    let field = |object: &Value, name: &str| object.get("metadata").and_then(|m| m.get(name)).cloned();
    for name in ["name", "namespace", "uid", "creationTimestamp"] {
        let (before, after) = (field(old, name), field(new, name));
        if before != after {
            let value = after.unwrap_or_default();
            causes.push(Cause::invalid(&format!("metadata.{name}"), &value, "field is immutable"));
        }
    }
    if old.is_deleting() {
        let before = old.finalizers();
        let added: Vec<&str> = new.finalizers().into_iter().filter(|f| !before.contains(f)).collect();
        if !added.is_empty() {
            let list: Vec<String> = added.iter().map(|f| format!("{f:?}")).collect();
            let detail = format!(
                "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
                list.join(", ")
            );
            causes.push(Cause::forbidden("metadata.finalizers", &detail));
        }
    }
}

/// Whether two objects are equal but for resourceVersion and the times in managedFields.
pub(crate) fn same(a: &Value, b: &Value) -> bool {
    let (Some(a), Some(b)) = (a.as_object(), b.as_object()) else { return a == b };
    a.len() == b.len()
        && a.iter().all(|(key, left)| {
            b.get(key).is_some_and(|right| if key == "metadata" { same_meta(left, right) } else { left == right })
        })
}

fn same_meta(a: &Value, b: &Value) -> bool {
    let (Some(a), Some(b)) = (a.as_object(), b.as_object()) else { return a == b };
    let counted = |key: &str| !matches!(key, "resourceVersion" | "managedFields");
    let entries = |map: &serde_json::Map<String, Value>| map.keys().filter(|key| counted(key)).count();
    entries(a) == entries(b)
        && a.iter().filter(|(key, _)| counted(key)).all(|(key, value)| b.get(key) == Some(value))
        && same_managers(a.get("managedFields"), b.get("managedFields"))
}

fn same_managers(a: Option<&Value>, b: Option<&Value>) -> bool {
    let list = |value: Option<&Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
    if a == b {
        return true;
    }
    let (mut a, mut b) = (list(a), list(b));
    for entry in a.iter_mut().chain(b.iter_mut()) {
        if let Some(map) = entry.as_object_mut() {
            map.remove("time");
        }
    }
    a == b
}
