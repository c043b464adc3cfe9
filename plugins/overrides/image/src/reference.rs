//! Image references, `[domain/]repository[:tag][@digest]`, in the grammar of the OCI distribution
//! project, with the reference's view of their parts.

use std::fmt;

/// Repository names are at most this long, as registries have it.
const MAX_NAME: usize = 255;

/// An image's parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    hostname: String,
    repository: String,
    tag: String,
    digest: String,
}

impl Reference {
    /// Takes an image apart. If it has a tag and a digest, only the tag is kept, as the reference does.
    pub(crate) fn parse(image: &str) -> Result<Self, &'static str> {
        let (rest, digest) = match image.split_once('@') {
            Some((rest, digest)) => (rest, digest),
            None => (image, ""),
        };
        if image.contains('@') && !is_digest(digest) {
            return Err("not a digest after '@'");
        }
        let name_end = rest.rfind('/').unwrap_or(0);
        let (name, tag) = match rest.get(name_end..).and_then(|last| last.find(':')) {
            Some(colon) => {
                let (name, tag) = rest.split_at(name_end + colon);
                (name, tag.trim_start_matches(':'))
            }
            None => (rest, ""),
        };
        if name.len() < rest.len() && !(is_tag(tag) && rest.len() == name.len() + 1 + tag.len()) {
            return Err("not a tag after ':'");
        }
        check_name(name)?;
        let (hostname, repository) = match name.split_once('/') {
            Some((first, path)) if first.contains(['.', ':']) || first == "localhost" => (first, path),
            _ => ("", name),
        };
        Ok(Self {
            hostname: hostname.into(),
            repository: repository.into(),
            tag: tag.into(),
            digest: if tag.is_empty() { digest.into() } else { String::new() },
        })
    }

    /// Changes one part. Unknown components and operators change nothing.
    pub(crate) fn change(&mut self, component: &str, operator: &str, value: &str) {
        match component {
            "Registry" => edit(&mut self.hostname, operator, value),
            "Repository" => edit(&mut self.repository, operator, value),
            "Tag" => match operator {
                "add" => self.set_version(&format!("{}{}{value}", self.tag, self.digest)),
                "replace" => self.set_version(value),
                "remove" if !self.tag.is_empty() => self.tag.clear(),
                "remove" => self.digest.clear(),
                _ => {}
            },
            _ => {}
        }
    }

    /// A text that is neither tag nor digest is ignored.
    fn set_version(&mut self, version: &str) {
        if is_tag(version) {
            self.tag = version.into();
            self.digest.clear();
        } else if is_digest(version) {
            self.digest = version.into();
            self.tag.clear();
        }
    }
}

fn edit(part: &mut String, operator: &str, value: &str) {
    match operator {
        "add" => part.push_str(value),
        "replace" => *part = value.into(),
        "remove" => part.clear(),
        _ => {}
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.hostname.is_empty() {
            write!(f, "{}/", self.hostname)?;
        }
        f.write_str(&self.repository)?;
        if !self.tag.is_empty() {
            write!(f, ":{}", self.tag)
        } else if !self.digest.is_empty() {
            write!(f, "@{}", self.digest)
        } else {
            Ok(())
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn is_tag(text: &str) -> bool {
    text.len() <= 128 && text.starts_with(is_word) && text.chars().all(|c| is_word(c) || c == '.' || c == '-')
}

/// `algorithm:hex`, the algorithm being words joined by one of `-_+.`, with at least 32 digits.
fn is_digest(text: &str) -> bool {
    let Some((algorithm, hex)) = text.split_once(':') else { return false };
    let words = algorithm.split(['-', '_', '+', '.']).all(|word| {
        word.starts_with(|c: char| c.is_ascii_alphabetic()) && word.chars().all(|c| c.is_ascii_alphanumeric())
    });
    words && hex.len() >= 32 && hex.chars().all(|c| c.is_ascii_hexdigit())
}

fn check_name(name: &str) -> Result<(), &'static str> {
    if name.is_empty() {
        return Err("no repository");
    }
    let path = match name.split_once('/') {
        Some((domain, path)) if is_domain(domain) => path,
        _ => name,
    };
    if path.len() > MAX_NAME {
        return Err("the repository's name is too long");
    }
    if path.split('/').all(is_path_component) {
        return Ok(());
    }
    if path.split('/').all(|part| is_path_component(&part.to_ascii_lowercase())) {
        return Err("repository names are lower case");
    }
    Err("not an image reference")
}

fn is_domain(text: &str) -> bool {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (text, None),
    };
    if port.is_some_and(|port| port.is_empty() || !port.chars().all(|c| c.is_ascii_digit())) {
        return false;
    }
    if let Some(address) = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return !address.is_empty() && address.chars().all(|c| c.is_ascii_hexdigit() || c == ':');
    }
    host.split('.').all(|label| {
        let edge = |c: char| c.is_ascii_alphanumeric();
        label.starts_with(edge) && label.ends_with(edge) && label.chars().all(|c| edge(c) || c == '-')
    })
}

/// Lower-case words joined by `.`, `_`, `__` or any number of `-`.
fn is_path_component(text: &str) -> bool {
    let edge = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    if !(text.starts_with(edge) && text.ends_with(edge)) {
        return false;
    }
    text.split(edge)
        .filter(|joint| !joint.is_empty())
        .all(|joint| matches!(joint, "." | "_" | "__") || joint.chars().all(|c| c == '-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_change() {
        let hex = "0123456789abcdef".repeat(4);
        let digest = format!("sha256:{hex}");
        for (image, component, operator, value, expected) in [
            ("reg.example/app:v1", "Registry", "add", ".test", "reg.example.test/app:v1"),
            ("app:v1", "Registry", "add", "r.io", "r.io/app:v1"),
            ("reg.example/app:v1", "Registry", "remove", "", "app:v1"),
            ("reg.example/app:v1", "Repository", "add", "/x", "reg.example/app/x:v1"),
            ("reg.example/app:v1", "Repository", "remove", "", "reg.example/:v1"),
            ("reg.example/app:v1", "Tag", "replace", &digest, &format!("reg.example/app@{digest}")),
            // Tag and digest run together to something that the grammar takes for a digest.
            ("reg.example/app:v1", "Tag", "add", &digest, &format!("reg.example/app@v1{digest}")),
            ("reg.example/app:v1", "Tag", "remove", "", "reg.example/app"),
            (&format!("a/b@{digest}"), "Tag", "remove", "", "a/b"),
            (&format!("a/b:t@{digest}"), "Tag", "add", "x", "a/b:tx"),
            ("localhost:5000/a", "Repository", "replace", "b", "localhost:5000/b"),
            ("a", "Tag", "replace", "not a tag", "a"),
            ("a", "Tag", "sideways", "b", "a"),
        ] {
            let mut reference = Reference::parse(image).unwrap();
            reference.change(component, operator, value);
            assert_eq!(reference.to_string(), expected, "{image} {component} {operator} {value}");
        }
    }

    #[test]
    fn what_is_no_image() {
        for bad in ["", "App:v1", "a:", "a@b", "a//b", "-a", "a:b c", "r.io/", "a__b___c", "a:x:y"] {
            assert!(Reference::parse(bad).is_err(), "{bad}");
        }
        for good in ["a", "Reg.io/a", "[::1]:5000/a/b", "a.b_c__d--e/f", "10.0.0.1/app"] {
            assert!(Reference::parse(good).is_ok(), "{good}");
        }
    }
}
