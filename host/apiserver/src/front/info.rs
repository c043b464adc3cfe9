//! What a request is about, read from its path and query once, by
//! kube-apiserver's rules: `/api/v1/…` and `/apis/<group>/<version>/…` address
//! resources, everything else is a document of its own.

use std::borrow::Cow;

/// The verbs that permissions speak of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verb {
    /// Read one object.
    Get,
    /// Read many.
    List,
    /// Follow changes.
    Watch,
    /// Make one.
    Create,
    /// Replace one.
    Update,
    /// Change parts of one.
    Patch,
    /// Remove one.
    Delete,
    /// Remove many.
    DeleteCollection,
}

impl Verb {
    /// As permissions and discovery documents spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Verb::Get => "get",
            Verb::List => "list",
            Verb::Watch => "watch",
            Verb::Create => "create",
            Verb::Update => "update",
            Verb::Patch => "patch",
            Verb::Delete => "delete",
            Verb::DeleteCollection => "deletecollection",
        }
    }
}

/// The address of a resource request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Address {
    /// The API group, empty for the core group.
    pub group: String,
    /// The version within the group.
    pub version: String,
    /// The namespace, empty for cluster-wide requests.
    pub namespace: String,
    /// The plural resource name.
    pub resource: String,
    /// The part below the object, such as `status`; empty for the object itself.
    pub subresource: String,
    /// The object's name; empty for collections.
    pub name: String,
}

/// What a path says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A resource, a collection or a subresource.
    Resource(Address),
    /// Anything else: discovery, OpenAPI, health, version.
    Document,
}

/// A request, parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestInfo {
    /// What it is to do; for documents the one that belongs to the method.
    pub verb: Verb,
    /// What it is about.
    pub target: Target,
}

/// Sub-resources that belong to namespaces themselves and not to a resource within.
const NAMESPACE_SUBRESOURCES: [&str; 2] = ["status", "finalize"];

/// Parses a request line. `None`: a method that the API does not know.
pub fn parse(method: &http::Method, path: &str, query: Option<&str>) -> Option<RequestInfo> {
    let mut verb = match method.as_str() {
        "GET" | "HEAD" => Verb::Get,
        "POST" => Verb::Create,
        "PUT" => Verb::Update,
        "PATCH" => Verb::Patch,
        "DELETE" => Verb::Delete,
        _ => return None,
    };
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let (mut address, mut rest) = match parts.as_slice() {
        ["api", version, rest @ ..] if !rest.is_empty() => {
            (Address { version: decode(version), ..Address::default() }, rest)
        }
        ["apis", group, version, rest @ ..] if !rest.is_empty() => {
            (Address { group: decode(group), version: decode(version), ..Address::default() }, rest)
        }
        _ => return Some(RequestInfo { verb, target: Target::Document }),
    };
    let mut legacy_watch = false;
    if let ["watch", below @ ..] = rest
        && !below.is_empty()
        && verb == Verb::Get
    {
        legacy_watch = true;
        rest = below;
    }
    if let ["namespaces", namespace, below @ ..] = rest {
        address.namespace = decode(namespace);
        if let [first, ..] = below
            && !NAMESPACE_SUBRESOURCES.contains(first)
        {
            rest = below;
        }
    }
    let mut rest = rest.iter();
    address.resource = rest.next().map(|part| decode(part)).unwrap_or_default();
    address.name = rest.next().map(|part| decode(part)).unwrap_or_default();
    // What follows the subresource (as in `proxy/…`) belongs to it.
    address.subresource = rest.map(|part| decode(part)).collect::<Vec<_>>().join("/");
    // A namespace is not inside itself.
    if address.resource == "namespaces" && address.group.is_empty() {
        address.namespace.clear();
    }
    if legacy_watch {
        verb = Verb::Watch;
    } else if address.name.is_empty() {
        verb = match verb {
            Verb::Get if wants_watch(query) => Verb::Watch,
            Verb::Get => Verb::List,
            Verb::Delete => Verb::DeleteCollection,
            other => other,
        };
    }
    Some(RequestInfo { verb, target: Target::Resource(address) })
}

/// Go's reading of a boolean query parameter: present and neither `0` nor `false`.
pub fn truthy(value: &str) -> bool {
    !matches!(value, "0" | "false" | "False" | "FALSE")
}

/// The decoded pairs of a query string, in order.
pub fn query_pairs(query: Option<&str>) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
    query.unwrap_or("").split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        (percent(key, true), percent(value, true))
    })
}

fn wants_watch(query: Option<&str>) -> bool {
    query_pairs(query).any(|(key, value)| key == "watch" && truthy(&value))
}

fn decode(part: &str) -> String {
    percent(part, false).into_owned()
}

/// Undoes percent encoding; `plus` as well turns `+` into a space, as in queries.
/// Malformed escapes stay as they are.
pub fn percent(text: &str, plus: bool) -> Cow<'_, str> {
    if !text.contains('%') && (!plus || !text.contains('+')) {
        return Cow::Borrowed(text);
    }
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'+' if plus => out.push(b' '),
            b'%' => {
                let mut ahead = bytes.clone();
                match (ahead.next().and_then(hex), ahead.next().and_then(hex)) {
                    (Some(high), Some(low)) => {
                        out.push(high * 16 + low);
                        bytes = ahead;
                    }
                    _ => out.push(byte),
                }
            }
            _ => out.push(byte),
        }
    }
    Cow::Owned(String::from_utf8_lossy(&out).into_owned())
}

fn hex(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// method, path?query, verb, group/version, namespace, resource, name, subresource
    const CASES: &str = include_str!("../../tests/cases/request-info.txt");

    #[test]
    fn paths_are_read_as_kubernetes_does() {
        let mut seen = 0;
        for line in CASES.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let columns: Vec<&str> = line.split_whitespace().collect();
            let (path, query) = match columns[1].split_once('?') {
                Some((path, query)) => (path, Some(query)),
                None => (columns[1], None),
            };
            let method: http::Method = columns[0].parse().unwrap();
            let info = parse(&method, path, query).unwrap();
            let got = match &info.target {
                Target::Document => format!("{} document", info.verb.as_str()),
                Target::Resource(a) => {
                    let or = |text: &str| if text.is_empty() { "-".to_owned() } else { text.to_owned() };
                    format!(
                        "{} {}/{} {} {} {} {}",
                        info.verb.as_str(),
                        a.group,
                        a.version,
                        or(&a.namespace),
                        or(&a.resource),
                        or(&a.name),
                        or(&a.subresource)
                    )
                }
            };
            assert_eq!(got, columns[2..].join(" "), "{line}");
            seen += 1;
        }
        assert!(seen > 20);
    }

    #[test]
    fn unknown_methods_are_refused() {
        assert_eq!(parse(&http::Method::TRACE, "/api/v1/pods", None), None);
    }

    #[test]
    fn queries_are_decoded() {
        let got: Vec<_> =
            query_pairs(Some("a=b%20c&d=e+f&g&h=%zz")).map(|(k, v)| format!("{k}={v}")).collect();
        assert_eq!(got, ["a=b c", "d=e f", "g=", "h=%zz"]);
    }
}
