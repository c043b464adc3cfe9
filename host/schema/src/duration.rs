//! Durations as people read them: Go's `1h30m0s` and kubectl's ages (`5m`, `2d3h`).

/// Go's text for a number of nanoseconds, as `metav1.Duration` writes it.
pub fn go(nanos: i64) -> String {
    if nanos == 0 {
        return "0s".into();
    }
    let sign = if nanos < 0 { "-" } else { "" };
    let nanos = nanos.unsigned_abs();
    let fraction = |whole: u64, rest: u64, digits: usize, unit: &str| {
        if rest == 0 {
            return format!("{whole}{unit}");
        }
        let text = format!("{rest:0digits$}");
        format!("{whole}.{}{unit}", text.trim_end_matches('0'))
    };
    let text = match nanos {
        n if n < 1_000 => format!("{n}ns"),
        n if n < 1_000_000 => fraction(n / 1_000, n % 1_000, 3, "µs"),
        n if n < 1_000_000_000 => fraction(n / 1_000_000, n % 1_000_000, 6, "ms"),
        n => {
            let seconds = n / 1_000_000_000;
            let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
            let rest = fraction(seconds % 60, n % 1_000_000_000, 9, "s");
            match (hours, minutes) {
                (0, 0) => rest,
                (0, m) => format!("{m}m{rest}"),
                (h, m) => format!("{h}h{m}m{rest}"),
            }
        }
    };
    format!("{sign}{text}")
}

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const YEAR: i64 = 365 * DAY;

/// An age as `kubectl get` shows it: two units while the first is small, then one.
pub fn human(seconds: i64) -> String {
    let two = |big: i64, big_unit: &str, small: i64, small_unit: &str| {
        if small == 0 { format!("{big}{big_unit}") } else { format!("{big}{big_unit}{small}{small_unit}") }
    };
    match seconds {
        // Clocks differ a little; more than that is a fault to show.
        s if s < -1 => "<invalid>".into(),
        s if s < 0 => "0s".into(),
        s if s < 2 * MINUTE => format!("{s}s"),
        s if s < 10 * MINUTE => two(s / MINUTE, "m", s % MINUTE, "s"),
        s if s < 3 * HOUR => format!("{}m", s / MINUTE),
        s if s < 8 * HOUR => two(s / HOUR, "h", s / MINUTE % 60, "m"),
        s if s < 2 * DAY => format!("{}h", s / HOUR),
        s if s < 8 * DAY => two(s / DAY, "d", s / HOUR % 24, "h"),
        s if s < 2 * YEAR => format!("{}d", s / DAY),
        s if s < 8 * YEAR => two(s / YEAR, "y", s / DAY % 365, "d"),
        s => format!("{}y", s / YEAR),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages() {
        for (seconds, expected) in [
            (-5, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (125, "2m5s"),
            (599, "9m59s"),
            (600, "10m"),
            (10_799, "179m"),
            (10_800, "3h"),
            (11_000, "3h3m"),
            (28_800, "8h"),
            (172_799, "47h"),
            (172_800, "2d"),
            (183_600, "2d3h"),
            (691_200, "8d"),
            (63_071_999, "729d"),
            (63_072_000, "2y"),
            (63_158_400, "2y1d"),
            (252_288_000, "8y"),
        ] {
            assert_eq!(human(seconds), expected, "{seconds}");
        }
    }

    #[test]
    fn go_durations() {
        for (nanos, expected) in [
            (0, "0s"),
            (1, "1ns"),
            (1_500, "1.5µs"),
            (2_000_000, "2ms"),
            (1_500_000_000, "1.5s"),
            (90_000_000_000, "1m30s"),
            (5_400_000_000_000, "1h30m0s"),
            (-60_000_000_000, "-1m0s"),
        ] {
            assert_eq!(go(nanos), expected);
        }
    }
}
