//! Resource quantities (`100m`, `1.5Gi`, `2e3`) as exact fixed-point numbers with Go's canonical text form.
//!
//! The value is kept in nanos: the reference rounds anything finer up to one, so nothing is lost. Arithmetic saturates.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::iter::Sum;
use std::ops::{Add, AddAssign, Neg, Sub, SubAssign};
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;

mod text;

/// Nanos in a unit.
const UNIT: i128 = 1_000_000_000;

/// How a quantity was written, and will be written again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Format {
    /// `1Ki`, `1Mi`: powers of 1024.
    BinarySi,
    /// `1k`, `100m`: powers of 1000.
    #[default]
    DecimalSi,
    /// `1e3`.
    DecimalExponent,
}

/// A quantity: equal and ordered by value, whatever its format.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quantity {
    nanos: i128,
    format: Format,
}

/// Why a text is no quantity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("quantity {text:?}: {reason}; expected a number with an optional suffix such as m, k, Ki, Gi or e3")]
pub struct QuantityError {
    /// The text as given.
    pub text: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

impl Quantity {
    /// Nothing.
    pub const ZERO: Self = Self { nanos: 0, format: Format::DecimalSi };

    /// Reads a quantity.
    pub fn parse(text: &str) -> Result<Self, QuantityError> {
        text::parse(text).map_err(|reason| QuantityError { text: text.to_owned(), reason })
    }

    /// Reads a JSON string or number.
    pub fn from_json(value: &Value) -> Result<Self, QuantityError> {
        match value {
            Value::String(text) => Self::parse(text.trim()),
            Value::Number(number) => Self::parse(&number.to_string()),
            other => {
                Err(QuantityError { text: other.to_string(), reason: "it is neither a string nor a number" })
            }
        }
    }

    /// A whole number in the given format.
    pub fn new(value: i64, format: Format) -> Self {
        Self { nanos: i128::from(value) * UNIT, format }
    }

    /// A number of thousandths, in decimal format.
    pub fn from_milli(milli: i64) -> Self {
        Self { nanos: i128::from(milli) * (UNIT / 1000), format: Format::DecimalSi }
    }

    /// The format that it is written in.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The same value written in another format.
    pub fn with_format(self, format: Format) -> Self {
        Self { format, ..self }
    }

    /// The whole number, rounded away from zero.
    pub fn value(&self) -> i64 {
        round_up(self.nanos, UNIT)
    }

    /// The number of thousandths, rounded away from zero.
    pub fn milli_value(&self) -> i64 {
        round_up(self.nanos, UNIT / 1000)
    }

    /// Whether it is zero.
    pub fn is_zero(&self) -> bool {
        self.nanos == 0
    }

    /// -1, 0 or 1.
    pub fn sign(&self) -> i32 {
        match self.nanos.cmp(&0) {
            Ordering::Less => -1,
            Ordering::Equal => 0,
            Ordering::Greater => 1,
        }
    }

    /// The quantity `n` times, in the same format.
    pub fn times(self, n: i64) -> Self {
        Self { nanos: self.nanos.saturating_mul(i128::from(n)), ..self }
    }

    /// How often `part` fits in this quantity; nothing if `part` is zero.
    pub fn fits(self, part: Self) -> Option<i64> {
        let times = self.nanos.checked_div(part.nanos)?;
        Some(i64::try_from(times).unwrap_or(if times < 0 { i64::MIN } else { i64::MAX }))
    }

    /// The value as a floating-point number, for ratios only.
    pub fn as_f64(&self) -> f64 {
        self.nanos as f64 / UNIT as f64
    }
}

fn round_up(nanos: i128, unit: i128) -> i64 {
    let (whole, rest) = (nanos / unit, nanos % unit);
    let rounded = whole + rest.signum();
    i64::try_from(rounded).unwrap_or(if rounded < 0 { i64::MIN } else { i64::MAX })
}

impl FromStr for Quantity {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        Self::parse(text)
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        text::write(self, f)
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.nanos == other.nanos
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        self.nanos.cmp(&other.nanos)
    }
}

impl Hash for Quantity {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.nanos.hash(state);
    }
}

/// The sum; a zero takes the other's format.
impl Add for Quantity {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let format = if self.is_zero() { other.format } else { self.format };
        Self { nanos: self.nanos.saturating_add(other.nanos), format }
    }
}

/// The difference; a zero takes the other's format.
impl Sub for Quantity {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        let format = if self.is_zero() { other.format } else { self.format };
        Self { nanos: self.nanos.saturating_sub(other.nanos), format }
    }
}

impl AddAssign for Quantity {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for Quantity {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Neg for Quantity {
    type Output = Self;

    fn neg(self) -> Self {
        Self { nanos: self.nanos.saturating_neg(), ..self }
    }
}

impl Sum for Quantity {
    fn sum<I: Iterator<Item = Self>>(items: I) -> Self {
        items.fold(Self::ZERO, Add::add)
    }
}

impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_json(&Value::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}
