//! Just enough arithmetic on resource quantities for adding up a pod's requests:
//! exact, in billionths.

use crate::json::Result;
use windlass_sdk::Value;

const NANO: i128 = 1_000_000_000;

/// An amount in billionths of its base unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Amount(i128);

impl Amount {
    /// Reads a quantity as Kubernetes writes it: `100m`, `1.5Gi`, `2e3`, or a number.
    pub(crate) fn read(value: &Value) -> Result<Amount> {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            _ => return Err(format!("quantities must be text or numbers, found {value}")),
        };
        parse(&text).map(Amount).ok_or_else(|| {
            format!("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$', found {text:?}")
        })
    }

    /// The sum.
    pub(crate) fn plus(self, other: Amount) -> Amount {
        Amount(self.0.saturating_add(other.0))
    }

    /// Rounded up to thousandths.
    pub(crate) fn up_to_milli(self) -> Amount {
        Amount(ceil(self.0, 1_000_000) * 1_000_000)
    }

    /// Rounded up to whole units.
    pub(crate) fn up_to_unit(self) -> Amount {
        Amount(ceil(self.0, NANO) * NANO)
    }

    /// More than nothing.
    pub(crate) fn is_positive(self) -> bool {
        self.0 > 0
    }

    /// Written with decimal suffixes: `1300m`, `2`, `5k`.
    pub(crate) fn decimal(self) -> String {
        let (mut number, mut exponent) = (self.0, -9i32);
        while number != 0 && number % 1000 == 0 && exponent < 18 {
            number /= 1000;
            exponent += 3;
        }
        let suffix = match exponent {
            -9 => "n",
            -6 => "u",
            -3 => "m",
            0 => "",
            3 => "k",
            6 => "M",
            9 => "G",
            12 => "T",
            15 => "P",
            _ => "E",
        };
        if number == 0 { "0".into() } else { format!("{number}{suffix}") }
    }

    /// Whole units written with binary suffixes: `128Mi`, `100000000`.
    pub(crate) fn binary(self) -> String {
        let mut number = ceil(self.0, NANO);
        let mut steps = 0;
        while number != 0 && number % 1024 == 0 && steps < 6 {
            number /= 1024;
            steps += 1;
        }
        let suffix = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"].get(steps).copied().unwrap_or_default();
        format!("{number}{suffix}")
    }
}

fn ceil(value: i128, unit: i128) -> i128 {
    let whole = value.div_euclid(unit);
    if value.rem_euclid(unit) > 0 { whole + 1 } else { whole }
}

fn parse(text: &str) -> Option<i128> {
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    let (digits, suffix) = rest.split_at(end);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
        return None;
    }
    let (numerator, exponent) = scale(suffix)?;
    // digits × numerator × 10^(exponent + 9 − fraction length), rounded up.
    let number: i128 = format!("{whole}{fraction}").parse().ok()?;
    let scaled = number.checked_mul(numerator)?;
    let power = exponent + 9 - i32::try_from(fraction.len()).ok()?;
    let value = if power >= 0 {
        scaled.checked_mul(10i128.checked_pow(power.unsigned_abs())?)?
    } else {
        ceil(scaled, 10i128.checked_pow(power.unsigned_abs())?)
    };
    Some(if negative { -value } else { value })
}

/// What a suffix multiplies by: a whole number and a power of ten.
fn scale(suffix: &str) -> Option<(i128, i32)> {
    let binary = |steps: u32| Some((1024i128.pow(steps), 0));
    match suffix {
        "" => Some((1, 0)),
        "n" => Some((1, -9)),
        "u" => Some((1, -6)),
        "m" => Some((1, -3)),
        "k" => Some((1, 3)),
        "M" => Some((1, 6)),
        "G" => Some((1, 9)),
        "T" => Some((1, 12)),
        "P" => Some((1, 15)),
        "E" => Some((1, 18)),
        "Ki" => binary(1),
        "Mi" => binary(2),
        "Gi" => binary(3),
        "Ti" => binary(4),
        "Pi" => binary(5),
        "Ei" => binary(6),
        _ => {
            let exponent = suffix.strip_prefix(['e', 'E'])?;
            exponent.parse().ok().filter(|power: &i32| power.abs() <= 18).map(|power| (1, power))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_sdk::json;

    #[test]
    fn amounts_read_and_write() {
        for (input, decimal, binary) in [
            (json!("100m"), "100m", "1"),
            (json!("1.5Gi"), "1610612736", "1536Mi"),
            (json!("2e3"), "2k", "2000"),
            (json!(".5"), "500m", "1"),
            (json!(3), "3", "3"),
            (json!("0"), "0", "0"),
            (json!("128974848"), "128974848", "123Mi"),
        ] {
            let amount = Amount::read(&input).unwrap();
            assert_eq!((amount.decimal().as_str(), amount.binary().as_str()), (decimal, binary), "{input}");
        }
        for bad in [json!("abc"), json!("1.2.3"), json!(""), json!("1Qi"), json!(true)] {
            assert!(Amount::read(&bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn rounds_up() {
        assert_eq!(Amount::read(&json!("1n")).unwrap().up_to_milli().decimal(), "1m");
        assert_eq!(Amount::read(&json!("1100m")).unwrap().up_to_unit().decimal(), "2");
    }
}
