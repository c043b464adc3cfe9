//! What may stand as a label key, a label value or a DNS-like name, and why not.

/// Longest label value and longest name part of a key: a DNS label's length.
pub const MAX_LABEL: usize = 63;
/// Longest DNS subdomain, hence longest key prefix.
pub const MAX_SUBDOMAIN: usize = 253;

const QUALIFIED_HINT: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

/// Checks a label or annotation key: `[prefix/]name`.
pub fn check_key(key: &str) -> Result<(), String> {
    let name = match key.split_once('/') {
        None => key,
        Some((_, name)) if name.contains('/') => {
            return Err(
                "a qualified name has at most one '/': an optional DNS subdomain prefix and a name".into()
            );
        }
        Some(("", _)) => return Err("prefix part must be non-empty".into()),
        Some((prefix, name)) => {
            check_subdomain(prefix).map_err(|reason| format!("prefix part {reason}"))?;
            name
        }
    };
    if name.is_empty() {
        return Err("name part must be non-empty".into());
    }
    if name.len() > MAX_LABEL {
        return Err(format!("name part must be no more than {MAX_LABEL} bytes"));
    }
    if is_word(name) { Ok(()) } else { Err(format!("name part {QUALIFIED_HINT}")) }
}

/// Checks a label value; empty is allowed.
pub fn check_value(value: &str) -> Result<(), String> {
    if value.len() > MAX_LABEL {
        return Err(format!("must be no more than {MAX_LABEL} bytes"));
    }
    if value.is_empty() || is_word(value) {
        return Ok(());
    }
    Err(format!("a valid label must be an empty string or {}", QUALIFIED_HINT.trim_start_matches("must ")))
}

/// Checks an RFC 1123 subdomain, the form of most object names.
pub fn check_subdomain(name: &str) -> Result<(), String> {
    if name.len() > MAX_SUBDOMAIN {
        return Err(format!("must be no more than {MAX_SUBDOMAIN} bytes"));
    }
    if name.split('.').all(is_dns_label) {
        return Ok(());
    }
    Err("a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character".into())
}

/// Checks an RFC 1123 label, the form of namespaces and member names.
pub fn check_dns_label(name: &str) -> Result<(), String> {
    if name.len() > MAX_LABEL {
        return Err(format!("must be no more than {MAX_LABEL} bytes"));
    }
    if is_dns_label(name) {
        return Ok(());
    }
    Err("a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character".into())
}

fn is_word(text: &str) -> bool {
    let bytes = text.as_bytes();
    let ends = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    ends(bytes.first())
        && ends(bytes.last())
        && bytes.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

fn is_dns_label(text: &str) -> bool {
    let bytes = text.as_bytes();
    let alphanumeric = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    bytes.first().is_some_and(alphanumeric)
        && bytes.last().is_some_and(alphanumeric)
        && bytes.iter().all(|b| alphanumeric(b) || *b == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_values_names() {
        for good in ["a", "A.b_c-d", "example.com/x", "a/b"] {
            assert_eq!(check_key(good), Ok(()), "{good}");
        }
        for bad in ["", "/a", "a/", "a/b/c", "-a", "a-", "Ex.com/a", "a b", &"x".repeat(64)] {
            assert!(check_key(bad).is_err(), "{bad}");
        }
        assert!(
            check_value("").is_ok()
                && check_value("A_b.c").is_ok()
                && check_value("_a").is_err()
                && check_value(&"x".repeat(64)).is_err()
        );
        assert!(
            check_subdomain("a.b-c.d").is_ok()
                && check_subdomain("a..b").is_err()
                && check_subdomain("A").is_err()
        );
        assert!(
            check_dns_label("a-b").is_ok() && check_dns_label("a.b").is_err() && check_dns_label("").is_err()
        );
    }
}
