//! When to tell what the Works of a binding add up to: pure.

use serde_json::Value;
use std::time::{Duration, Instant};
use windlass_api::conditions::APPLIED;
use windlass_api::names;
use windlass_object::condition;
use windlass_object::meta::Meta;
use windlass_object::path::{bool_at, i64_at, list_at, str_at};
use windlass_policy::work::expected_clusters;

/// Works are carried out at the same time: while some are still on their way, the others wait so long for them. Within
/// a second, since a user waits, too.
const SOME: Duration = Duration::from_millis(800);

/// More Works than this in front of members' doors, and those of one binding are told of far apart: then nobody has his
/// status within a second, and sums of less than all would only make it later.
const CROWD: usize = 64;

/// Then the others wait so long.
const SOME_IN_CROWD: Duration = Duration::from_secs(5);

/// While none has come back there is nothing to tell but that.
const NONE: Duration = Duration::from_secs(15);

/// While workloads start or stop their statuses change all the time: they are told about so often.
const MOVING: Duration = Duration::from_millis(400);

/// Something that has not been told yet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Untold {
    /// Since when, and whether no Work had come back then.
    since: Option<(Instant, bool)>,
}

impl Untold {
    /// How much longer it may wait. The first Work that comes back begins a new wait: for the others.
    pub(super) fn left(&mut self, patience: Duration, now: Instant) -> Duration {
        let nothing = patience == NONE;
        let begun = match self.since {
            Some((since, had_nothing)) if had_nothing == nothing || nothing => since,
            _ => now,
        };
        self.since = Some((begun, nothing && self.since.is_none_or(|(_, had_nothing)| had_nothing)));
        patience.saturating_sub(now.saturating_duration_since(begun))
    }
}

/// How long a change may wait for more to come with it.
pub(super) fn patience(binding: &Value, works: &[&Value], backlog: usize) -> Duration {
    let expected = expected_clusters(binding);
    let of_cluster = |cluster: &str| {
        works.iter().find(|work| !work.is_deleting() && names::cluster_of(work.namespace()) == Some(cluster))
    };
    let told =
        expected.iter().filter(|cluster| of_cluster(cluster).is_some_and(|work| has_told(work))).count();
    match told {
        0 if !expected.is_empty() => NONE,
        told if told < expected.len() && backlog > CROWD => SOME_IN_CROWD,
        told if told < expected.len() => SOME,
        _ if works.iter().any(|work| is_moving(work)) => MOVING,
        _ => Duration::ZERO,
    }
}

/// The Work's status is about its present spec, or will not be.
fn has_told(work: &Value) -> bool {
    bool_at(work, &["spec", "suspendDispatching"])
        || condition::find(condition::of(work), APPLIED)
            .is_some_and(|held| i64_at(held, &["observedGeneration"]) == Some(work.generation()))
}

fn is_moving(work: &Value) -> bool {
    list_at(work, &["status", "manifestStatuses"])
        .iter()
        .any(|entry| str_at(entry, &["health"]) == "Unhealthy")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn work(cluster: &str, observed: i64, health: &str) -> Value {
        json!({
            "metadata": {"namespace": format!("karmada-es-{cluster}"), "name": "w", "generation": 2},
            "status": {
                "conditions": [{"type": "Applied", "status": "True", "observedGeneration": observed}],
                "manifestStatuses": [{"health": health}],
            },
        })
    }

    #[test]
    fn a_wait_ends() {
        let (begin, ms) = (Instant::now(), Duration::from_millis);
        let mut untold = Untold::default();
        assert_eq!(untold.left(NONE, begin), NONE);
        assert_eq!(untold.left(NONE, begin + ms(3000)), NONE - ms(3000));
        assert_eq!(untold.left(SOME, begin + ms(4000)), SOME, "the first has come back");
        assert_eq!(untold.left(MOVING, begin + ms(4100)), MOVING - ms(100));
        assert_eq!(untold.left(NONE, begin + ms(4200)), NONE - ms(200), "a new spec meanwhile");
        assert_eq!(untold.left(SOME, begin + ms(4300)), SOME - ms(300), "no new wait again and again");
        assert_eq!(untold.left(SOME, begin + ms(4800)), Duration::ZERO);
    }

    #[test]
    fn what_is_waited_for() {
        let binding = json!({"spec": {"clusters": [{"name": "m1"}, {"name": "m2"}]}});
        let (first, second) = (work("m1", 2, "Healthy"), work("m2", 2, "Healthy"));
        let (stale, moving) = (work("m2", 1, "Healthy"), work("m2", 2, "Unhealthy"));
        let mut suspended = stale.clone();
        suspended["spec"]["suspendDispatching"] = json!(true);
        let mut leaving = second.clone();
        leaving["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        for (works, expected) in [
            (&[][..], NONE),
            (&[&stale][..], NONE),
            (&[&first, &stale], SOME),
            (&[&first, &leaving], SOME),
            (&[&first, &suspended], Duration::ZERO),
            (&[&first, &moving], MOVING),
            (&[&first, &second], Duration::ZERO),
        ] {
            assert_eq!(patience(&binding, works, 0), expected, "{works:?}");
        }
        assert_eq!(patience(&binding, &[&first, &stale], CROWD + 1), SOME_IN_CROWD);
        assert_eq!(patience(&json!({}), &[], 0), Duration::ZERO, "it goes nowhere");
    }
}
