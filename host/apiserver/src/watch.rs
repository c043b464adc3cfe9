//! The verb `watch`: what is there (if asked), then what happens, without a gap.

use crate::error::{ApiError, Cause};
use crate::handler::{Call, EventType, Options, Outcome, WatchEvent};
use crate::item::Item;
use crate::limits::{BOOKMARK_SECONDS, WATCH_SECONDS};
use crate::list::{refuse, revision};
use crate::present;
use crate::registry::Resource;
use crate::selection::Selection;
use crate::server::Server;
use futures::stream;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, Interval, MissedTickBehavior};
use windlass_object::hash::fnv1a32;
use windlass_store::{Compacted, Entry, Event, Watch};

const NOT_OLDER: &str = "NotOlderThan";
const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

pub(crate) async fn watch(server: &Server, call: Call) -> Result<Outcome, ApiError> {
    check(&call.options)?;
    let selection = Selection::parse(&call.resource, &call.options)?;
    let state = match begin(server, &call, selection)? {
        Begun::Running(state) => *state,
        Begun::Gone(error) => {
            let event = WatchEvent::new(EventType::Error, Item::value_of(error.status()));
            return Ok(Outcome::Watch(Box::pin(stream::iter([event]))));
        }
    };
    let events = stream::unfold(state, |mut state| async move {
        let event = state.next().await?;
        Some((event, state))
    });
    Ok(Outcome::Watch(Box::pin(events)))
}

fn check(options: &Options) -> Result<(), ApiError> {
    let mut causes = Vec::new();
    let field = "resourceVersionMatch";
    let matching = options.resource_version_match.as_deref();
    if options.send_initial_events.is_some() && matching != Some(NOT_OLDER) {
        let detail = format!("sendInitialEvents requires setting resourceVersionMatch to {NOT_OLDER}");
        causes.push(Cause::forbidden(field, &detail));
    }
    if let Some(matching) = matching {
        if options.send_initial_events.is_none() {
            let detail = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
            causes.push(Cause::forbidden(field, detail));
        }
        if matching != NOT_OLDER {
            causes.push(Cause::not_supported(field, &json!(matching), &[NOT_OLDER]));
        }
        if options.continue_token.is_some() {
            causes
                .push(Cause::forbidden(field, "resourceVersionMatch is forbidden when continue is provided"));
        }
    }
    refuse(causes)
}

enum Begun {
    Running(Box<State>),
    Gone(ApiError),
}

struct State {
    resource: Arc<Resource>,
    selection: Selection,
    /// The one object that is watched, as a key.
    only: Option<String>,
    initial: VecDeque<WatchEvent>,
    watch: Watch,
    bookmarks: Option<Interval>,
    deadline: Instant,
    stopping: tokio_util::sync::CancellationToken,
    server: Server,
    changes: Option<tokio::sync::watch::Receiver<u64>>,
    form: u64,
}

fn begin(server: &Server, call: &Call, mut selection: Selection) -> Result<Begun, ApiError> {
    let resource = call.resource.clone();
    let options = &call.options;
    let name = if call.name.is_empty() { selection.name.clone() } else { Some(call.name.clone()) };
    let namespace =
        if call.namespace.is_empty() { selection.namespace.take() } else { Some(call.namespace.clone()) };
    let namespace = namespace.unwrap_or_default();
    let only =
        name.filter(|_| !resource.namespaced || !namespace.is_empty()).map(|n| resource.key(&namespace, &n));
    let prefix = only.clone().unwrap_or_else(|| resource.range(&namespace));
    let store = server.store();
    let asked = options.resource_version.as_deref().filter(|text| *text != "0").map(revision).transpose()?;
    if let Some(asked) = asked
        && asked > store.revision()
    {
        return Err(ApiError::too_large_resource_version(asked, store.revision()));
    }
    let with_state = options.send_initial_events.unwrap_or(asked.is_none());
    let mut initial = VecDeque::new();
    let watch = if with_state {
        let snapshot = store.snapshot();
        for (key, entry) in snapshot.range(&prefix, None) {
            let here = only.as_deref().is_none_or(|only| only == key);
            if here && (selection.is_everything() || selection.matches(&entry.json_uncached())) {
                initial.push_back(WatchEvent::new(EventType::Added, present::present(&resource, entry)));
            }
        }
        if options.send_initial_events == Some(true) && options.allow_watch_bookmarks {
            initial.push_back(bookmark(&resource, snapshot.revision(), true));
        }
        store.watch(&prefix, snapshot.revision())
    } else {
        store.watch(&prefix, asked.unwrap_or_else(|| store.revision()))
    };
    let watch = match watch {
        Ok(watch) => watch,
        Err(Compacted { requested, compacted }) => {
            let message = format!("too old resource version: {requested} ({})", compacted + 1);
            return Ok(Begun::Gone(ApiError::expired(message)));
        }
    };
    let now = Instant::now();
    // Spread over twice the time by something that differs from watch to watch.
    let spread = u64::from(uuid::Uuid::new_v4().as_fields().0) % WATCH_SECONDS;
    let seconds = options.timeout_seconds.filter(|s| *s > 0).unwrap_or(WATCH_SECONDS + spread);
    let bookmarks = options.allow_watch_bookmarks.then(|| {
        let every = Duration::from_secs(BOOKMARK_SECONDS);
        let mut interval = tokio::time::interval_at(now + every, every);
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        interval
    });
    let form = u64::from(fnv1a32(&resource.api_version)) << 8;
    Ok(Begun::Running(Box::new(State {
        changes: (!resource.builtin).then(|| server.registry().changes()),
        selection,
        only,
        initial,
        watch,
        bookmarks,
        deadline: now + Duration::from_secs(seconds),
        stopping: server.stopping(),
        server: server.clone(),
        form,
        resource,
    })))
}

impl State {
    async fn next(&mut self) -> Option<WatchEvent> {
        loop {
            if let Some(event) = self.initial.pop_front() {
                return Some(event);
            }
            if let Some(event) = self.watch.try_next() {
                if let Some(event) = self.show(&event) {
                    return Some(event);
                }
                continue;
            }
            let bookmarks = self.bookmarks.as_mut();
            let changes = self.changes.as_mut();
            tokio::select! {
                biased;
                event = self.watch.next() => {
                    // A closed stream: the reader was too slow, or the store is closing.
                    if let Some(event) = self.show(&event?) {
                        return Some(event);
                    }
                }
                () = self.stopping.cancelled() => return None,
                () = changed(changes) => {
                    if !self.still_served() {
                        return None;
                    }
                }
                () = tokio::time::sleep_until(self.deadline) => return None,
                () = tick(bookmarks) => {
                    let reached = self.watch.progress();
                    return Some(bookmark(&self.resource, reached, false));
                }
            }
        }
    }

    fn still_served(&self) -> bool {
        let Resource { group, version, resource, incarnation, .. } = self.resource.as_ref();
        self.server
            .registry()
            .get(group, version, resource)
            .is_some_and(|now| now.incarnation == *incarnation)
    }

    /// The event as this watch sees it, if it does.
    fn show(&self, event: &Arc<Event>) -> Option<WatchEvent> {
        if self.only.as_deref().is_some_and(|only| only != &*event.key) {
            return None;
        }
        let selects =
            |entry: &Entry| self.selection.is_everything() || self.selection.matches(&entry.json_uncached());
        let before = event.previous.as_ref().is_some_and(selects);
        let after = event.new.as_ref().is_some_and(selects);
        let (kind, item) = match (before, after) {
            (false, true) => (EventType::Added, self.present(event.new.as_ref()?, event.revision)),
            (true, true) => (EventType::Modified, self.present(event.new.as_ref()?, event.revision)),
            (true, false) => {
                let last = if event.new.is_none() { event.last.as_ref() } else { None };
                (EventType::Deleted, self.present(last.or(event.previous.as_ref())?, event.revision))
            }
            (false, false) => return None,
        };
        Some(WatchEvent::shared(kind, item, event.clone(), self.form | kind as u64))
    }

    fn present(&self, entry: &Entry, revision: u64) -> Item {
        present::present_at(&self.resource, entry, revision)
    }
}

async fn tick(interval: Option<&mut Interval>) {
    match interval {
        Some(interval) => {
            interval.tick().await;
        }
        None => std::future::pending().await,
    }
}

async fn changed(changes: Option<&mut tokio::sync::watch::Receiver<u64>>) {
    let over = match changes {
        Some(changes) => changes.changed().await.is_err(),
        None => true,
    };
    if over {
        std::future::pending::<()>().await;
    }
}

/// An object of which only the revision counts.
fn bookmark(resource: &Resource, revision: u64, end_of_initial: bool) -> WatchEvent {
    let mut object: Value = json!({
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        "metadata": {"resourceVersion": revision.to_string()},
    });
    if end_of_initial && let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.insert("annotations".into(), json!({INITIAL_EVENTS_END: "true"}));
    }
    WatchEvent::new(EventType::Bookmark, Item::value_of(object))
}
