//! Values that end the walk: scalars, and types with a form of their own.

use super::ProtoError;
use super::wire::{Fields, Wire};
use crate::arena::{Kind, View};
use crate::builtin::Leaf;
use crate::duration;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use serde_json::{Number, Value};

/// Text; protobuf demands UTF-8.
pub(super) fn text(wire: Wire<'_>, field: &str) -> Result<String, ProtoError> {
    String::from_utf8(wire.bytes(field)?.to_vec()).map_err(|_| ProtoError::Malformed(field.into()))
}

/// Embedded JSON.
pub(super) fn json(bytes: &[u8], field: &str) -> Result<Value, ProtoError> {
    serde_json::from_slice(bytes).map_err(|e| ProtoError::Json { field: field.into(), reason: e.to_string() })
}

/// Field 1 of `RawExtension`, `FieldsV1` and `JSON`.
pub(super) fn raw<'a>(bytes: &'a [u8], field: &str) -> Result<&'a [u8], ProtoError> {
    let mut raw = &[][..];
    for entry in Fields::new(bytes) {
        if let (1, wire) = entry? {
            raw = wire.bytes(field)?;
        }
    }
    Ok(raw)
}

/// Text, numbers and booleans.
pub(super) fn scalar(view: View<'_>, wire: Wire<'_>, field: &str) -> Result<Value, ProtoError> {
    let malformed = || ProtoError::Malformed(field.into());
    let node = view.node();
    Ok(match node.kind {
        Kind::Boolean => Value::Bool(wire.varint(field)? != 0),
        Kind::Integer => {
            // Negative numbers of 32 bits travel as 64.
            let number = wire.varint(field)? as i64;
            let short = node.rules.as_ref().is_some_and(|r| r.format.as_deref() == Some("int32"));
            if short { Value::from(number as i32) } else { Value::from(number) }
        }
        Kind::Number => {
            let number = match wire {
                Wire::Fixed64(bits) => f64::from_bits(bits),
                Wire::Fixed32(bits) => f64::from(f32::from_bits(bits)),
                _ => return Err(malformed()),
            };
            Value::Number(Number::from_f64(number).ok_or_else(malformed)?)
        }
        Kind::String => Value::String(text(wire, field)?),
        _ => return Err(malformed()),
    })
}

/// Types with a form of their own.
pub(super) fn special(leaf: Leaf, wire: Wire<'_>, field: &str) -> Result<Value, ProtoError> {
    let bytes = wire.bytes(field)?;
    if leaf == Leaf::Bytes {
        return Ok(Value::String(STANDARD.encode(bytes)));
    }
    let (mut first, mut second, mut third) = (None, None, None);
    for entry in Fields::new(bytes) {
        match entry? {
            (1, wire) => first = Some(wire),
            (2, wire) => second = Some(wire),
            (3, wire) => third = Some(wire),
            _ => {}
        }
    }
    let number = |wire: Option<Wire<'_>>| wire.map_or(Ok(0), |w| w.varint(field)).map(|n| n as i64);
    let words = |wire: Option<Wire<'_>>| wire.map_or(Ok(String::new()), |w| text(w, field));
    Ok(match leaf {
        Leaf::Quantity => {
            let text = words(first)?;
            Value::String(if text.is_empty() { "0".into() } else { text })
        }
        Leaf::IntOrString if number(first)? == 0 => Value::from(number(second)? as i32),
        Leaf::IntOrString => Value::String(words(third)?),
        Leaf::Duration => Value::String(duration::go(number(first)?)),
        // An empty message is Go's zero time, which JSON shows as null.
        Leaf::Time | Leaf::MicroTime if bytes.is_empty() => Value::Null,
        Leaf::Time | Leaf::MicroTime => {
            let (seconds, nanos) = (number(first)?, number(second)? as i32);
            let time = Timestamp::new(seconds, nanos).map_err(|_| ProtoError::Malformed(field.into()))?;
            let micro = leaf == Leaf::MicroTime;
            Value::String(if micro {
                windlass_object::time::format_micro(time)
            } else {
                windlass_object::time::format(time)
            })
        }
        _ => Value::Null,
    })
}
