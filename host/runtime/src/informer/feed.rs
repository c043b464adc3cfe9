//! Where a watch's events come from: the lines of a response's body, or a server in this process that hands its
//! objects over as they are.

use std::sync::Arc;

use http::Response;
use kube::client::Body;
use serde::Deserialize;
use serde_json::Value;
use windlass_object::handover::{self, Handed};
use windlass_object::slim::Slim;

use super::frames::Lines;

/// The events of one watch.
pub(super) enum Feed {
    Lines(Lines),
    Handed(Box<dyn handover::Source>),
}

/// One event.
pub(super) struct Told {
    /// `ADDED` and so on.
    pub(super) kind: String,
    /// The object without its managedFields.
    pub(super) object: Value,
    /// Where it lies, if in this process.
    pub(super) handed: Option<Arc<dyn Handed>>,
}

#[derive(Deserialize)]
struct Line {
    #[serde(rename = "type")]
    kind: String,
    object: Slim,
}

impl Feed {
    /// The events that a response brings.
    pub(super) fn of(response: Response<Body>) -> Self {
        let handed = response.extensions().get::<handover::Events>().and_then(handover::Events::take);
        match handed {
            Some(events) => Self::Handed(events),
            None => Self::Lines(Lines::new(response.into_body())),
        }
    }

    /// The next event; None at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Told>, String> {
        match self {
            Self::Lines(lines) => {
                let Some(line) = lines.next().await? else { return Ok(None) };
                let line: Line = serde_json::from_slice(&line)
                    .map_err(|error| format!("a watch event can't be read: {error}"))?;
                Ok(Some(Told { kind: line.kind, object: line.object.0, handed: None }))
            }
            Self::Handed(events) => {
                let event = std::future::poll_fn(|context| events.poll_next(context)).await;
                Ok(event.map(|event| Told {
                    kind: event.kind.to_owned(),
                    object: event.object.slim(),
                    handed: Some(event.object),
                }))
            }
        }
    }
}
