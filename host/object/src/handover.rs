//! How an API server hands objects to a client in its own process: as extensions of an HTTP response, beside a body
//! that says the same in bytes and is made only if somebody reads it. Whoever knows nothing of this reads the body,
//! as everybody does who comes over a network.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use serde_json::Value;

/// An object in the server's hands.
pub trait Handed: fmt::Debug + Send + Sync {
    /// All of it, with its `resourceVersion`. May be kept parsed by the server for as long as this handle lives.
    fn whole(&self) -> Arc<Value>;

    /// A copy without `metadata.managedFields`, with its `resourceVersion`. Keeps nothing parsed.
    fn slim(&self) -> Value;

    /// Whether it lies there in bytes that the server keeps anyway, so that this handle costs next to nothing.
    fn rests(&self) -> bool;
}

/// Extension of a response whose body is one object.
#[derive(Clone, Debug)]
pub struct Object(pub Arc<dyn Handed>);

/// One event of a watch.
#[derive(Debug)]
pub struct Event {
    /// As on the wire: `ADDED` and so on.
    pub kind: &'static str,
    /// The object.
    pub object: Arc<dyn Handed>,
}

/// Events as they come; None at the end of the watch.
pub trait Source: Send {
    /// The next event, as `futures::Stream` has it.
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Event>>;
}

/// Extension of a response whose body is a watch. Events go to whoever takes them first, once: this or the body.
#[derive(Clone)]
pub struct Events(Arc<Mutex<Option<Box<dyn Source>>>>);

impl Events {
    /// Events that nobody has taken.
    pub fn new(source: impl Source + 'static) -> Self {
        Self(Arc::new(Mutex::new(Some(Box::new(source)))))
    }

    /// The events, unless somebody has them.
    pub fn take(&self) -> Option<Box<dyn Source>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events").finish_non_exhaustive()
    }
}
