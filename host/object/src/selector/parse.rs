//! Readers of label selectors: the query form by a small lexer, the object form field by field.

use serde_json::Value;

use super::{Operator, Requirement, SelectorError};
use crate::label;

#[derive(Debug, PartialEq)]
enum Token<'a> {
    Word(&'a str),
    Sign(&'a str),
}

/// Requirements of a query string, sorted by key.
pub(super) fn requirements(text: &str) -> Result<Vec<Requirement>, SelectorError> {
    let tokens = lex(text);
    let mut parser = Parser { tokens: &tokens, text };
    let mut found = Vec::new();
    if parser.tokens.is_empty() {
        return Ok(found);
    }
    loop {
        found.push(parser.requirement()?);
        match parser.next() {
            None => break,
            Some(Token::Sign(",")) => {}
            Some(other) => return Err(parser.unexpected(Some(other), "',' or the end")),
        }
    }
    found.sort_by(|a, b| a.key.cmp(&b.key));
    Ok(found)
}

/// Requirements of `{matchLabels, matchExpressions}`.
pub(super) fn from_json(selector: &Value) -> Result<Vec<Requirement>, SelectorError> {
    let refuse = |reason: String| SelectorError { reason };
    if !selector.is_object() {
        return Err(refuse(format!("a label selector must be a map, got {selector}")));
    }
    let mut found = Vec::new();
    for (key, value) in selector.get("matchLabels").and_then(Value::as_object).into_iter().flatten() {
        let value = value
            .as_str()
            .ok_or_else(|| refuse(format!("matchLabels[{key}] must be a string, got {value}")))?;
        found.push(requirement(key, Operator::In, vec![value.to_owned()])?);
    }
    for expression in selector.get("matchExpressions").and_then(Value::as_array).into_iter().flatten() {
        let field = |name: &str| expression.get(name).and_then(Value::as_str).unwrap_or_default();
        let operator = match field("operator") {
            "In" => Operator::In,
            "NotIn" => Operator::NotIn,
            "Exists" => Operator::Exists,
            "DoesNotExist" => Operator::DoesNotExist,
            other => return Err(refuse(format!("{other:?} is not a valid label selector operator"))),
        };
        let values = expression.get("values").and_then(Value::as_array).into_iter().flatten();
        let values = values.filter_map(Value::as_str).map(str::to_owned).collect();
        found.push(requirement(field("key"), operator, values)?);
    }
    found.sort_by(|a, b| a.key.cmp(&b.key));
    Ok(found)
}

fn requirement(key: &str, operator: Operator, mut values: Vec<String>) -> Result<Requirement, SelectorError> {
    let refuse = |reason: String| Err(SelectorError { reason });
    if let Err(reason) = label::check_key(key) {
        return refuse(format!("key: Invalid value: {key:?}: {reason}"));
    }
    match operator {
        Operator::In | Operator::NotIn if values.is_empty() => {
            return refuse(format!(
                "values: Invalid value: []: for 'in', 'notin' operators, values set of {key:?} can't be empty"
            ));
        }
        Operator::Exists | Operator::DoesNotExist if !values.is_empty() => {
            return refuse(format!(
                "values: Invalid value: {values:?}: values set of {key:?} must be empty for exists and does not exist"
            ));
        }
        Operator::Gt | Operator::Lt
            if values.len() != 1 || values.iter().any(|value| value.parse::<i64>().is_err()) =>
        {
            return refuse(format!(
                "values: Invalid value: {values:?}: for 'Gt', 'Lt' operators, {key:?} needs exactly one integer"
            ));
        }
        _ => {}
    }
    for value in &values {
        if let Err(reason) = label::check_value(value) {
            return refuse(format!("values[{key}]: Invalid value: {value:?}: {reason}"));
        }
    }
    values.sort();
    values.dedup();
    Ok(Requirement { key: key.to_owned(), operator, values })
}

fn lex(text: &str) -> Vec<Token<'_>> {
    let is_sign = |c: char| matches!(c, ',' | '(' | ')' | '!' | '=' | '<' | '>');
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(c) = rest.chars().next() {
        let end = if is_sign(c) {
            // Only these come in pairs; a closing bracket and a comma stand alone.
            if rest.starts_with("==") || rest.starts_with("!=") { 2 } else { 1 }
        } else {
            rest.find(|c: char| is_sign(c) || c.is_whitespace()).unwrap_or(rest.len())
        };
        let (token, tail) = rest.split_at(end);
        tokens.push(if is_sign(c) { Token::Sign(token) } else { Token::Word(token) });
        rest = tail.trim_start();
    }
    tokens
}

struct Parser<'a> {
    tokens: &'a [Token<'a>],
    text: &'a str,
}

impl<'a> Parser<'a> {
    fn next(&mut self) -> Option<&'a Token<'a>> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(first)
    }

    fn requirement(&mut self) -> Result<Requirement, SelectorError> {
        let (key, absent) = match self.next() {
            Some(Token::Word(key)) => (*key, false),
            Some(Token::Sign("!")) => match self.next() {
                Some(Token::Word(key)) => (*key, true),
                other => return Err(self.unexpected(other, "a key")),
            },
            other => return Err(self.unexpected(other, "'!' or a key")),
        };
        if absent {
            return requirement(key, Operator::DoesNotExist, Vec::new());
        }
        let operator = match self.tokens.first() {
            None | Some(Token::Sign(",")) => return requirement(key, Operator::Exists, Vec::new()),
            Some(Token::Word("in")) | Some(Token::Sign("=" | "==")) => Operator::In,
            Some(Token::Word("notin")) | Some(Token::Sign("!=")) => Operator::NotIn,
            Some(Token::Sign(">")) => Operator::Gt,
            Some(Token::Sign("<")) => Operator::Lt,
            other => return Err(self.unexpected(other, "'=', '!=', '==', 'in', 'notin', '>' or '<'")),
        };
        let values = match self.next() {
            Some(Token::Word(_)) => self.set()?,
            _ => vec![self.value()],
        };
        requirement(key, operator, values)
    }

    /// The value after a sign; nothing there means the empty value.
    fn value(&mut self) -> String {
        match self.tokens.first() {
            Some(Token::Word(word)) => {
                self.next();
                (*word).to_owned()
            }
            _ => String::new(),
        }
    }

    /// `(a,b,)`: between commas, nothing means the empty value.
    fn set(&mut self) -> Result<Vec<String>, SelectorError> {
        match self.next() {
            Some(Token::Sign("(")) => {}
            other => return Err(self.unexpected(other, "'('")),
        }
        let mut values = Vec::new();
        loop {
            values.push(self.value());
            match self.next() {
                Some(Token::Sign(",")) => {}
                Some(Token::Sign(")")) => return Ok(values),
                other => return Err(self.unexpected(other, "',' or ')'")),
            }
        }
    }

    fn unexpected(&self, found: Option<&Token<'_>>, wanted: &str) -> SelectorError {
        let found = match found {
            Some(Token::Word(word) | Token::Sign(word)) => *word,
            None => "",
        };
        SelectorError {
            reason: format!(
                "unable to parse requirement in {:?}: found '{found}', expected: {wanted}",
                self.text
            ),
        }
    }
}
