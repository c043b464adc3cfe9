//! What can go wrong with a member, switched on and off while it runs.

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
