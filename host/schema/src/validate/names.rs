//! Forms of names, and which kind's objects must have which.

use windlass_object::Gvk;

const MAX_LABEL: usize = 63;
const MAX_SUBDOMAIN: usize = 253;
/// Longest name of a port (IANA).
const MAX_PORT_NAME: usize = 15;

const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const OLD_LABEL: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const NAME_PART: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const LABEL_VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const CONFIG_KEY: &str = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

/// What is wrong with the name of an object of a kind.
pub fn name(gvk: &Gvk, name: &str) -> Vec<String> {
    match (gvk.group.as_str(), gvk.kind.as_str()) {
        ("", "Namespace" | "Service") => label(name),
        ("rbac.authorization.k8s.io", _)
        | ("flowcontrol.apiserver.k8s.io", "FlowSchema" | "PriorityLevelConfiguration") => path_segment(name),
        ("networking.k8s.io", "IPAddress") => Vec::new(),
        ("batch", "CronJob") if name.len() > MAX_CRON_NAME => {
            let mut faults = subdomain(name);
            faults.push(format!("must be no more than {MAX_CRON_NAME} characters"));
            faults
        }
        _ => subdomain(name),
    }
}

/// Jobs of a CronJob append eleven characters to its name.
const MAX_CRON_NAME: usize = 52;

/// What is wrong with a prefix that the server will complete (`generateName`).
pub fn prefix(gvk: &Gvk, text: &str) -> Vec<String> {
    // What is appended ends in a letter or digit, so that a dash at the end does no harm.
    let whole = text.strip_suffix('-').map_or_else(|| text.to_owned(), |rest| format!("{rest}a"));
    name(gvk, &whole)
}

fn word(text: &str, inner: &[u8]) -> bool {
    let lower = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let bytes = text.as_bytes();
    bytes.first().is_some_and(lower)
        && bytes.last().is_some_and(lower)
        && bytes.iter().all(|b| lower(b) || inner.contains(b))
}

fn bounded(text: &str, max: usize, good: bool, detail: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if text.len() > max {
        faults.push(format!("must be no more than {max} characters"));
    }
    if !good {
        faults.push(detail.to_owned());
    }
    faults
}

/// An RFC 1123 subdomain.
pub(super) fn subdomain(text: &str) -> Vec<String> {
    bounded(text, MAX_SUBDOMAIN, text.split('.').all(|part| word(part, b"-")), SUBDOMAIN)
}

/// An RFC 1123 label.
pub(super) fn label(text: &str) -> Vec<String> {
    let dotted = text.contains('.') && text.split('.').all(|part| word(part, b"-"));
    bounded(text, MAX_LABEL, word(text, b"-"), if dotted { "must not contain dots" } else { LABEL })
}

/// A label that begins with a letter.
pub(super) fn old_label(text: &str) -> Vec<String> {
    let good = word(text, b"-") && text.starts_with(|c: char| c.is_ascii_lowercase());
    bounded(text, MAX_LABEL, good, OLD_LABEL)
}

/// What can stand in a path.
pub(super) fn path_segment(text: &str) -> Vec<String> {
    if text == "." || text == ".." {
        return vec![format!("may not be '{text}'")];
    }
    ["/", "%"].iter().filter(|c| text.contains(**c)).map(|c| format!("may not contain '{c}'")).collect()
}

fn loose(text: &str) -> bool {
    let edge = |b: Option<&u8>| b.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    edge(bytes.first())
        && edge(bytes.last())
        && bytes.iter().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(b))
}

/// A key of labels, annotations and finalizers: `[prefix/]name`.
pub(super) fn qualified(text: &str) -> Vec<String> {
    let parts: Vec<&str> = text.split('/').collect();
    let (prefix, name) = match parts.as_slice() {
        [name] => (None, *name),
        [prefix, name] => (Some(*prefix), *name),
        _ => {
            let rule = NAME_PART.trim_start_matches("name part ");
            return vec![format!(
                "a qualified name {rule} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            )];
        }
    };
    let mut faults = Vec::new();
    match prefix {
        Some("") => faults.push("prefix part must be non-empty".to_owned()),
        Some(prefix) => {
            faults.extend(subdomain(prefix).into_iter().map(|detail| format!("prefix part {detail}")))
        }
        None => {}
    }
    if name.is_empty() {
        faults.push("name part must be non-empty".to_owned());
    } else if name.len() > MAX_LABEL {
        faults.push(format!("name part must be no more than {MAX_LABEL} bytes"));
    }
    if !loose(name) {
        faults.push(NAME_PART.to_owned());
    }
    faults
}

/// A label's value.
pub(super) fn label_value(text: &str) -> Vec<String> {
    let faults = bounded(text, MAX_LABEL, text.is_empty() || loose(text), LABEL_VALUE);
    // The rule is the same, the word is another.
    let long = format!("must be no more than {MAX_LABEL} characters");
    faults
        .into_iter()
        .map(|fault| if fault == long { fault.replace("characters", "bytes") } else { fault })
        .collect()
}

/// A key of a ConfigMap or Secret.
pub(super) fn config_key(text: &str) -> Vec<String> {
    let good = !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
    let mut faults = bounded(text, MAX_SUBDOMAIN, good, CONFIG_KEY);
    match text {
        "." => faults.push("must not be '.'".into()),
        ".." => faults.push("must not be '..'".into()),
        text if text.starts_with("..") => faults.push("must not start with '..'".into()),
        _ => {}
    }
    faults
}

/// A port's name.
pub(super) fn port_name(text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if text.len() > MAX_PORT_NAME {
        faults.push(format!("must be no more than {MAX_PORT_NAME} characters"));
    }
    if !text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-') || text.is_empty() {
        faults.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)".into());
    }
    if !text.bytes().any(|b| b.is_ascii_lowercase()) {
        faults.push("must contain at least one letter (a-z)".into());
    }
    if text.contains("--") {
        faults.push("must not contain consecutive hyphens".into());
    }
    if text.starts_with('-') || text.ends_with('-') {
        faults.push("must not begin or end with a hyphen".into());
    }
    faults
}

/// An environment variable's name.
pub(super) fn variable(text: &str) -> Vec<String> {
    let good = text.bytes().all(|b| (b' '..=b'~').contains(&b) && b != b'=');
    if good {
        return Vec::new();
    }
    vec![
        "a valid environment variable name must consist only of printable ASCII characters other than '='"
            .into(),
    ]
}
