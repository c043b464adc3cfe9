//! Times as the API writes them: RFC 3339 in UTC, to the second or to the microsecond.

use jiff::Timestamp;

/// The present, to the second: `2026-11-30T12:34:56Z`.
pub fn now() -> String {
    format(Timestamp::now())
}

/// The present, to the microsecond, for `MicroTime` fields: `2026-11-30T12:34:56.123456Z`.
pub fn now_micro() -> String {
    format_micro(Timestamp::now())
}

/// A time to the second; fractions are cut off.
pub fn format(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// A time to the microsecond, always with six digits.
pub fn format_micro(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string()
}

/// Reads an RFC 3339 time with any offset.
pub fn parse(text: &str) -> Result<Timestamp, jiff::Error> {
    text.parse()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_and_offsets() {
        let time = parse("2026-11-30T14:34:56.1234567+02:00").unwrap();
        assert_eq!(format(time), "2026-11-30T12:34:56Z");
        assert_eq!(format_micro(time), "2026-11-30T12:34:56.123456Z");
        assert_eq!(format_micro(parse("2026-11-30T12:34:56Z").unwrap()), "2026-11-30T12:34:56.000000Z");
        assert!(parse("yesterday").is_err());
        assert_eq!(now().len(), 20);
        assert_eq!(now_micro().len(), 27);
    }
}
