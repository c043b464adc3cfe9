//! Events are not kept for ever: an hour after their last change they go.

use crate::commit;
use crate::limits::EVENT_SECONDS;
use crate::server::Server;
use crate::system;
use std::time::Duration;
use windlass_object::time;

/// Pause between two looks. Nobody waits for an event to go; a look costs a scan of their text.
const PAUSE: Duration = Duration::from_secs(60);
/// Where all Events are kept.
const PREFIX: &str = "/core/events/";

/// Starts the loop of a server.
pub(crate) fn start(server: &Server) {
    let server = server.clone();
    tokio::spawn(async move {
        let stopping = server.stopping();
        loop {
            tokio::select! {
                () = stopping.cancelled() => return,
                () = tokio::time::sleep(PAUSE) => sweep(&server).await,
            }
        }
    });
}

async fn sweep(server: &Server) {
    let Ok(events) = system::builtin(server, "", "v1", "events") else { return };
    let Ok(before) = jiff::Timestamp::now().checked_sub(jiff::SignedDuration::from_secs(EVENT_SECONDS))
    else {
        return;
    };
    let before = time::format(before);
    let snapshot = server.store().snapshot();
    for (key, entry) in snapshot.range(PREFIX, None) {
        let text = std::str::from_utf8(entry.bytes()).unwrap_or_default();
        if latest(text) >= before.as_str() {
            continue;
        }
        // One that changed just now is young again: the next look sees.
        if let Err(error) = commit::remove(server, &events, key.to_owned(), entry.revision(), None).await {
            tracing::debug!(server = server.name(), key, %error, "an old event stays for now");
        }
    }
}

/// The latest of an event's times: RFC 3339 in UTC sorts as text.
fn latest(text: &str) -> &str {
    ["\"creationTimestamp\":\"", "\"lastTimestamp\":\"", "\"lastObservedTime\":\""]
        .iter()
        .filter_map(|field| text.split_once(field)?.1.split('"').next())
        .max()
        .unwrap_or_default()
}
