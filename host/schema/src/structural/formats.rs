//! The text formats that schemas may name. Unknown ones are accepted, as Kubernetes does.

use std::net::{Ipv4Addr, Ipv6Addr};

/// Whether the text has the format.
pub(super) fn valid(format: &str, text: &str) -> bool {
    match format {
        "date-time" | "datetime" => windlass_object::time::parse(text).is_ok(),
        "date" => date(text),
        "byte" => base64(text),
        "ipv4" => text.parse::<Ipv4Addr>().is_ok(),
        "ipv6" => text.contains(':') && text.parse::<Ipv6Addr>().is_ok(),
        "cidr" => cidr(text),
        "mac" => mac(text),
        "uuid" => uuid(text, None),
        "uuid3" => uuid(text, Some('3')),
        "uuid4" => uuid(text, Some('4')),
        "uuid5" => uuid(text, Some('5')),
        "hostname" => text.len() <= 255 && text.split('.').all(|part| label(part, true)),
        "email" => email(text),
        "uri" => text.starts_with('/') || scheme(text),
        "duration" => duration(text),
        "hexcolor" => hexcolor(text),
        "k8s-short-name" => text.len() <= 63 && label(text, false),
        "k8s-long-name" => text.len() <= 253 && text.split('.').all(|part| label(part, false)),
        _ => true,
    }
}

/// `2006-01-02`.
fn date(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == 10
        && bytes
            .iter()
            .enumerate()
            .all(|(i, b)| if i == 4 || i == 7 { *b == b'-' } else { b.is_ascii_digit() })
        && windlass_object::time::parse(&format!("{text}T00:00:00Z")).is_ok()
}

fn base64(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    text.len().is_multiple_of(4)
        && text.len() - body.len() <= 2
        && body.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'+' || b == b'/')
}

fn cidr(text: &str) -> bool {
    let Some((address, bits)) = text.split_once('/') else { return false };
    let Ok(bits) = bits.parse::<u8>() else { return false };
    if address.parse::<Ipv4Addr>().is_ok() {
        return bits <= 32;
    }
    address.parse::<Ipv6Addr>().is_ok() && bits <= 128
}

/// Six or eight pairs, apart by colons or hyphens, or groups of four apart by dots.
fn mac(text: &str) -> bool {
    let groups = |mark: char, digits: usize, counts: &[usize]| {
        let parts: Vec<&str> = text.split(mark).collect();
        counts.contains(&parts.len())
            && parts.iter().all(|p| p.len() == digits && p.bytes().all(|b| b.is_ascii_hexdigit()))
    };
    groups(':', 2, &[6, 8, 20]) || groups('-', 2, &[6, 8, 20]) || groups('.', 4, &[3, 4, 10])
}

/// Hexadecimal, 8-4-4-4-12, hyphens optional.
fn uuid(text: &str, version: Option<char>) -> bool {
    let digits: Vec<char> = text.chars().filter(|c| *c != '-').collect();
    let hyphens_ok = text
        .char_indices()
        .filter(|(_, c)| *c == '-')
        .enumerate()
        .all(|(seen, (at, _))| matches!(at - seen, 8 | 12 | 16 | 20));
    digits.len() == 32
        && hyphens_ok
        && digits.iter().all(char::is_ascii_hexdigit)
        && version.is_none_or(|v| {
            digits.get(12) == Some(&v)
                && (v == '3'
                    || digits
                        .get(16)
                        .is_some_and(|c| matches!(c.to_ascii_lowercase(), '8' | '9' | 'a' | 'b')))
        })
}

fn label(part: &str, upper: bool) -> bool {
    let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || (upper && b.is_ascii_uppercase());
    !part.is_empty()
        && part.len() <= 63
        && part.bytes().all(|b| inner(b) || b == b'-')
        && !part.starts_with('-')
        && !part.ends_with('-')
}

fn email(text: &str) -> bool {
    let address = match (text.rfind('<'), text.ends_with('>')) {
        (Some(at), true) => text.get(at + 1..text.len() - 1).unwrap_or_default(),
        _ => text,
    };
    let Some((local, domain)) = address.rsplit_once('@') else { return false };
    !local.is_empty() && !domain.is_empty() && !address.contains(char::is_whitespace)
}

fn scheme(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    !rest.is_empty()
        && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
        && !text.contains(char::is_whitespace)
}

/// `1h30m`, `-1.5s`, `0`, and the spelled form with a blank: `22 ns`, `3 days`.
fn duration(text: &str) -> bool {
    const UNITS: &[&str] = &["ns", "us", "µs", "μs", "ms", "s", "m", "h"];
    const WORDS: &[&str] = &[
        "d",
        "w",
        "day",
        "days",
        "week",
        "weeks",
        "hour",
        "hours",
        "hr",
        "hrs",
        "minute",
        "minutes",
        "min",
        "mins",
        "second",
        "seconds",
        "sec",
        "secs",
        "milli",
        "millis",
        "milliseconds",
        "micro",
        "micros",
        "microseconds",
        "nano",
        "nanos",
        "nanoseconds",
    ];
    let number = |s: &str| {
        s.bytes().any(|b| b.is_ascii_digit())
            && s.bytes().all(|b| b.is_ascii_digit() || b == b'.')
            && s.matches('.').count() <= 1
    };
    let signed = text.strip_prefix(['-', '+']).unwrap_or(text);
    if signed == "0" {
        return true;
    }
    if let Some(at) = signed.find(|c: char| !c.is_ascii_digit() && c != '.') {
        let (count, unit) = signed.split_at(at);
        let unit = unit.trim();
        if number(count) && (WORDS.contains(&unit) || UNITS.contains(&unit)) {
            return true;
        }
    }
    let mut rest = signed;
    while !rest.is_empty() {
        let Some(at) = rest.find(|c: char| !c.is_ascii_digit() && c != '.') else { return false };
        let (count, tail) = rest.split_at(at);
        let end = tail.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(tail.len());
        let (unit, next) = tail.split_at(end);
        if !number(count) || !UNITS.contains(&unit) {
            return false;
        }
        rest = next;
    }
    !signed.is_empty()
}

fn hexcolor(text: &str) -> bool {
    let digits = text.strip_prefix('#').unwrap_or(text);
    matches!(digits.len(), 3 | 6) && digits.bytes().all(|b| b.is_ascii_hexdigit())
}
