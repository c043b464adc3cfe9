//! What can go wrong with a member, switched on and off while it runs.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// How a member misbehaves towards those who call it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fault {
    /// Not at all.
    #[default]
    None,
    /// Its health endpoints answer without ok; everything else works.
    NotReady,
    /// Every answer takes this much longer.
    Slow(Duration),
    /// Every request is refused with 503.
    Refusing,
    /// Nobody answers: requests fail as a broken connection does.
    Gone,
}

/// How slow `slow` is when nobody says.
const SLOW: Duration = Duration::from_secs(2);

/// A word that is no fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no fault: use not-ready, slow, slow=<time> (as in 500ms or 3s), refusing, gone or none")]
pub struct UnknownFault(String);

impl FromStr for Fault {
    type Err = UnknownFault;

    fn from_str(text: &str) -> Result<Self, UnknownFault> {
        let unknown = || UnknownFault(text.to_owned());
        Ok(match text.trim() {
            "" | "none" => Self::None,
            "not-ready" => Self::NotReady,
            "slow" => Self::Slow(SLOW),
            "refusing" => Self::Refusing,
            "gone" => Self::Gone,
            other => {
                let time = other.strip_prefix("slow=").ok_or_else(unknown)?;
                let (digits, millis) = match (time.strip_suffix("ms"), time.strip_suffix('s')) {
                    (Some(digits), _) => (digits, 1),
                    (None, Some(digits)) => (digits, 1000),
                    (None, None) => return Err(unknown()),
                };
                let count: u64 = digits.parse().map_err(|_| unknown())?;
                Self::Slow(Duration::from_millis(count.saturating_mul(millis)))
            }
        })
    }
}

/// The switch. Clones are handles to the same one.
#[derive(Clone, Debug)]
pub struct Faults(Arc<watch::Sender<Fault>>);

impl Default for Faults {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(Fault::None)))
    }
}

impl Faults {
    /// Switches to a fault, or back to [`Fault::None`].
    pub fn set(&self, fault: Fault) {
        self.0.send_replace(fault);
    }

    /// What is switched on.
    pub fn current(&self) -> Fault {
        *self.0.borrow()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_faults() {
        for (text, expected) in [
            ("", Some(Fault::None)),
            ("none", Some(Fault::None)),
            ("not-ready", Some(Fault::NotReady)),
            ("slow", Some(Fault::Slow(SLOW))),
            ("slow=500ms", Some(Fault::Slow(Duration::from_millis(500)))),
            ("slow=3s", Some(Fault::Slow(Duration::from_secs(3)))),
            (" refusing ", Some(Fault::Refusing)),
            ("gone", Some(Fault::Gone)),
            ("slow=3", None),
            ("slow=ms", None),
            ("slow=-1s", None),
            ("broken", None),
        ] {
            assert_eq!(text.parse().ok(), expected, "{text:?}");
        }
    }
}
