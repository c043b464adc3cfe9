//! Translates Kubernetes' JSONPath dialect to RFC 9535: every name becomes a quoted bracket, so that no name needs the standard's narrow shorthand.

use std::iter::Peekable;
use std::str::Chars;

type Input<'a> = Peekable<Chars<'a>>;

/// The standard form of a path.
pub(super) fn translate(path: &str) -> Result<String, String> {
    let mut text = path.trim();
    if let Some(inner) = text.strip_prefix('{') {
        text = inner.strip_suffix('}').ok_or("the opening brace is never closed")?.trim();
    }
    let mut input = text.chars().peekable();
    if matches!(input.peek(), Some('$' | '@')) {
        input.next();
    }
    let mut out = String::from("$");
    steps(&mut input, &mut out, true)?;
    match input.next() {
        None => Ok(out),
        Some(other) => Err(format!("unexpected {other:?} after {out}")),
    }
}

/// Steps up to something that is not a step. A leading name may lack its dot where `bare` allows.
fn steps(input: &mut Input<'_>, out: &mut String, bare: bool) -> Result<(), String> {
    let mut bare = bare;
    loop {
        match input.peek() {
            Some('.') => {
                input.next();
                match input.peek() {
                    Some('.') => {
                        input.next();
                        out.push_str("..");
                        if input.peek() != Some(&'[') {
                            name(input, out)?;
                        }
                    }
                    // A lone dot is the object itself, and `.[0]` is `[0]`.
                    None | Some('[' | ' ' | ')') => {}
                    Some(_) => name(input, out)?,
                }
            }
            Some('[') => {
                input.next();
                bracket(input, out)?;
            }
            Some(c) if bare && is_name(*c) => name(input, out)?,
            _ => return Ok(()),
        }
        bare = false;
    }
}

fn name(input: &mut Input<'_>, out: &mut String) -> Result<(), String> {
    let mut name = String::new();
    let mut escaped = false;
    while let Some(c) = input.peek().copied() {
        if c == '\\' {
            input.next();
            escaped = true;
            name.push(input.next().ok_or("a backslash ends the path")?);
        } else if is_name(c) {
            input.next();
            name.push(c);
        } else {
            break;
        }
    }
    match name.as_str() {
        "" => Err(format!("a name is missing after {out}")),
        "*" if !escaped => {
            out.push_str("[*]");
            Ok(())
        }
        name => {
            out.push('[');
            quote(name, out);
            out.push(']');
            Ok(())
        }
    }
}

/// What stands in brackets: quoted names, indices, slices, `*`, unions of these, or a filter.
fn bracket(input: &mut Input<'_>, out: &mut String) -> Result<(), String> {
    out.push('[');
    loop {
        spaces(input);
        match input.peek().copied() {
            Some(']') => {
                input.next();
                out.push(']');
                return Ok(());
            }
            Some(quote_mark @ ('\'' | '"')) => {
                input.next();
                quote(&quoted(input, quote_mark)?, out);
            }
            Some('?') => {
                input.next();
                filter(input, out)?;
            }
            Some(c) if c.is_ascii_digit() || matches!(c, '-' | ':' | '*' | ',') => {
                input.next();
                out.push(c);
            }
            Some(c) => return Err(format!("unexpected {c:?} in brackets after {out}")),
            None => return Err("a bracket is never closed".into()),
        }
    }
}

/// A filter `(…)`: paths from `@` or `$`, literals and operators.
fn filter(input: &mut Input<'_>, out: &mut String) -> Result<(), String> {
    out.push('?');
    let mut depth = 0usize;
    loop {
        match input.peek().copied() {
            None => return Err("a filter is never closed".into()),
            Some(']') if depth == 0 => return Ok(()),
            Some(root @ ('@' | '$')) => {
                input.next();
                out.push(root);
                steps(input, out, false)?;
            }
            Some(quote_mark @ ('\'' | '"')) => {
                input.next();
                quote(&quoted(input, quote_mark)?, out);
            }
            Some(c) => {
                input.next();
                match c {
                    '(' => depth += 1,
                    ')' => depth = depth.checked_sub(1).ok_or("a parenthesis too many in a filter")?,
                    _ => {}
                }
                out.push(c);
            }
        }
    }
}

/// The rest of a quoted text; a backslash takes the next character as it is.
fn quoted(input: &mut Input<'_>, mark: char) -> Result<String, String> {
    let mut text = String::new();
    loop {
        match input.next() {
            None => return Err("a quotation is never closed".into()),
            Some('\\') => text.push(input.next().ok_or("a backslash ends the path")?),
            Some(c) if c == mark => return Ok(text),
            Some(c) => text.push(c),
        }
    }
}

fn quote(text: &str, out: &mut String) {
    out.push('\'');
    for c in text.chars() {
        if matches!(c, '\'' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('\'');
}

fn spaces(input: &mut Input<'_>) {
    while input.peek().is_some_and(|c| c.is_whitespace()) {
        input.next();
    }
}

fn is_name(c: char) -> bool {
    !matches!(
        c,
        '.' | '[' | ']' | '{' | '}' | '(' | ')' | '=' | '!' | '<' | '>' | '&' | '|' | '\'' | '"' | ','
    ) && !c.is_whitespace()
}
