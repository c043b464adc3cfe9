//! The text form of quantities, after the reference's reader and canonical writer.

use std::fmt;

use super::{Format, Quantity, UNIT};

/// Decimal exponent of a nano.
const NANO: i32 = -9;
/// Digits that the reference's exact fast path takes; longer numbers are capped at the largest 64-bit integer.
const EXACT_DIGITS: usize = 18;
/// Integer digits that are looked at; more of them exceed the cap anyway.
const MAX_WHOLE_DIGITS: usize = 19;
/// Fraction digits that are looked at; the rest only decides rounding up.
const MAX_FRACTION_DIGITS: usize = 18;
/// The largest quantity of the reference's slow path: 2^63 - 1.
const CAP: i128 = i64::MAX as i128 * UNIT;

const DECIMAL: [(&str, i32); 10] =
    [("n", -9), ("u", -6), ("m", -3), ("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];
const BINARY: [(&str, u32); 6] = [("Ki", 10), ("Mi", 20), ("Gi", 30), ("Ti", 40), ("Pi", 50), ("Ei", 60)];

enum Suffix {
    Decimal(i32),
    Binary(u32),
    Exponent(i32),
}

pub(super) fn parse(text: &str) -> Result<Quantity, &'static str> {
    if text.is_empty() {
        return Err("it is empty");
    }
    let (negative, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, rest) = digits(unsigned);
    let (fraction, suffix) = match rest.strip_prefix('.') {
        Some(rest) => digits(rest),
        None => ("", rest),
    };
    if whole.is_empty() && fraction.is_empty() {
        return Err("it has no digits");
    }
    let suffix = parse_suffix(suffix).ok_or("its suffix is unknown")?;
    let whole = whole.trim_start_matches('0');
    let magnitude = match suffix {
        Suffix::Decimal(exponent) | Suffix::Exponent(exponent) => {
            let exact =
                whole.len() + fraction.len() <= EXACT_DIGITS && exponent - fraction.len() as i32 >= NANO;
            let nanos = decimal(whole, fraction, exponent);
            if exact { nanos } else { nanos.min(CAP) }
        }
        Suffix::Binary(power) => binary(whole, fraction, power).min(CAP),
    };
    let format = match suffix {
        Suffix::Decimal(_) => Format::DecimalSi,
        Suffix::Exponent(_) => Format::DecimalExponent,
        // Less than one byte cannot be written in powers of 1024.
        Suffix::Binary(_) if magnitude > 0 && magnitude < UNIT => Format::DecimalSi,
        Suffix::Binary(_) => Format::BinarySi,
    };
    Ok(Quantity { nanos: if negative { -magnitude } else { magnitude }, format })
}

fn digits(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text.split_at(end)
}

fn parse_suffix(suffix: &str) -> Option<Suffix> {
    if let Some((_, exponent)) = DECIMAL.iter().find(|(name, _)| *name == suffix) {
        return Some(Suffix::Decimal(*exponent));
    }
    if let Some((_, power)) = BINARY.iter().find(|(name, _)| *name == suffix) {
        return Some(Suffix::Binary(*power));
    }
    let exponent = suffix.strip_prefix(['e', 'E'])?;
    let (_, unsigned) = exponent.split_at(usize::from(exponent.starts_with(['+', '-'])));
    if unsigned.is_empty() || !unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // An exponent beyond any sense saturates: the result is capped or the smallest step anyway.
    let limit = if exponent.starts_with('-') { -1000 } else { 1000 };
    Some(Suffix::Exponent(exponent.parse().map_or(limit, |exponent: i32| exponent.clamp(-1000, 1000))))
}

/// `whole.fraction × 10^exponent` in nanos, rounded up, or the cap where that is too much.
fn decimal(whole: &str, fraction: &str, exponent: i32) -> i128 {
    let (fraction, more) = cut(fraction);
    let mantissa = if whole.len() > MAX_WHOLE_DIGITS { None } else { number(&[whole, fraction].concat()) };
    let Some(mantissa) = mantissa else { return CAP };
    let shift = exponent - fraction.len() as i32 - NANO;
    if mantissa == 0 {
        return i128::from(more);
    }
    match power_of_ten(shift.unsigned_abs()) {
        Some(factor) if shift >= 0 => {
            mantissa.checked_mul(factor).and_then(|nanos| nanos.checked_add(i128::from(more))).unwrap_or(CAP)
        }
        None if shift >= 0 => CAP,
        Some(divisor) => divide_up(mantissa, divisor, more),
        None => 1,
    }
}

/// `whole.fraction × 2^power` in nanos, rounded up, or the cap where that is too much.
fn binary(whole: &str, fraction: &str, power: u32) -> i128 {
    let (fraction, more) = cut(fraction);
    let whole = if whole.len() > MAX_WHOLE_DIGITS { None } else { number(whole) };
    let (Some(whole), Some(part)) = (whole, number(fraction)) else { return CAP };
    let factor = 1i128 << power;
    let shift = -(fraction.len() as i32) - NANO;
    let part = match power_of_ten(shift.unsigned_abs()) {
        Some(tens) if shift >= 0 => part * factor * tens + i128::from(more),
        Some(tens) => divide_up(part * factor, tens, more),
        None => 0,
    };
    whole
        .checked_mul(factor)
        .and_then(|units| units.checked_mul(UNIT))
        .and_then(|nanos| nanos.checked_add(part))
        .unwrap_or(CAP)
}

/// The digits that are looked at, and whether the rest has any that is not zero.
fn cut(fraction: &str) -> (&str, bool) {
    match fraction.split_at_checked(MAX_FRACTION_DIGITS) {
        Some((head, tail)) => (head, tail.bytes().any(|digit| digit != b'0')),
        None => (fraction, false),
    }
}

fn number(digits: &str) -> Option<i128> {
    if digits.is_empty() { Some(0) } else { digits.parse().ok() }
}

fn power_of_ten(exponent: u32) -> Option<i128> {
    10i128.checked_pow(exponent)
}

fn divide_up(value: i128, divisor: i128, more: bool) -> i128 {
    value / divisor + i128::from(value % divisor != 0 || more)
}

pub(super) fn write(quantity: &Quantity, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let Quantity { nanos, format } = *quantity;
    if nanos == 0 {
        return f.write_str("0");
    }
    let fits_binary = nanos % UNIT == 0 && (nanos / UNIT).unsigned_abs() >= 1024;
    if format == Format::BinarySi && fits_binary {
        let (mut number, mut suffix) = (nanos / UNIT, "");
        for (name, _) in BINARY {
            if number % 1024 != 0 {
                break;
            }
            number /= 1024;
            suffix = name;
        }
        return write!(f, "{number}{suffix}");
    }
    let (mut mantissa, mut exponent) = (nanos, NANO);
    while mantissa % 10 == 0 {
        mantissa /= 10;
        exponent += 1;
    }
    let largest = if format == Format::DecimalExponent { i32::MAX } else { 18 };
    while exponent % 3 != 0 || exponent > largest {
        mantissa *= 10;
        exponent -= 1;
    }
    if format == Format::DecimalExponent {
        return if exponent == 0 { write!(f, "{mantissa}") } else { write!(f, "{mantissa}e{exponent}") };
    }
    let suffix = DECIMAL.iter().find(|(_, power)| *power == exponent).map_or("", |(name, _)| name);
    write!(f, "{mantissa}{suffix}")
}
