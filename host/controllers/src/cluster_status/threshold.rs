//! Keeps a member's condition from flapping: a change between ready and not counts only once it has
//! been observed for a while.

use std::time::Duration;
use tokio::time::Instant;

/// What was observed last, and since when.
#[derive(Debug, Default)]
pub(super) struct Filter {
    last: Option<(&'static str, Option<Instant>)>,
}

impl Filter {
    /// Whether `observed` counts, given the condition's status that is `held`.
    pub(super) fn settled(
        &mut self,
        observed: &'static str,
        held: Option<&str>,
        limit: Duration,
        now: Instant,
    ) -> bool {
        let Some((last, since)) = self.last else {
            self.last = Some((observed, None));
            return true;
        };
        let since = if last == observed { since } else { Some(now) };
        self.last = Some((observed, since));
        let Some(held) = held else { return true };
        let differs = (observed == "True") != (held == "True");
        let young = since.is_some_and(|since| now.saturating_duration_since(since) < limit);
        !(differs && young)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_count_after_a_while() {
        let limit = Duration::from_secs(30);
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut filter = Filter::default();
        assert!(filter.settled("False", Some("True"), limit, at(0)), "the first observation counts");
        assert!(filter.settled("True", Some("True"), limit, at(10)));
        assert!(!filter.settled("False", Some("True"), limit, at(20)));
        assert!(!filter.settled("False", Some("True"), limit, at(49)));
        assert!(filter.settled("False", Some("True"), limit, at(50)));
        assert!(filter.settled("True", None, limit, at(51)), "no condition yet");
    }
}
