//! One manifest into one member: create, update with what the member keeps, or delete.

use super::plan;
use super::watches::Copies;
use crate::context::{Context, compute};
use serde_json::Value;
use std::sync::Arc;
use windlass_api::labels::{LABEL_MANAGED, VALUE_TRUE};
use windlass_interpret::retention;
use windlass_members::Member;
use windlass_object::gvk::Gvr;
use windlass_object::meta::Meta;
use windlass_runtime::Objects;
use windlass_runtime::objects::{Propagation, code, is_conflict, is_not_found, words};

/// How often a write that somebody else was faster than is tried again at once.
const ATTEMPTS: usize = 5;

/// Why a manifest was not carried out.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    /// For the Work's condition.
    pub(super) words: String,
    pub(super) cause: Cause,
}

/// What ends a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// The end of an object that isn't ours, which nobody tells us of.
    Blocked,
    /// The member's answer.
    Unanswered,
    /// Another try, perhaps.
    Other,
}

impl Failure {
    /// One that another try may end.
    pub(super) fn other(words: impl Into<String>) -> Self {
        Self { words: words.into(), cause: Cause::Other }
    }
}

/// Where a manifest goes.
pub(super) struct Target {
    pub(super) member: Arc<Member>,
    pub(super) gvr: Gvr,
    pub(super) copies: Copies,
}

impl Target {
    fn objects(&self) -> Objects {
        self.member.objects(&self.gvr)
    }

    /// The live object: as watched, or else asked for, since a watch lags and shows managed objects only.
    async fn live(&self, manifest: &Value) -> Result<Option<Arc<Value>>, Failure> {
        if let Some(found) = self.watched(manifest) {
            return Ok(Some(found));
        }
        self.fetch(manifest).await
    }

    async fn fetch(&self, manifest: &Value) -> Result<Option<Arc<Value>>, Failure> {
        let found = self.objects().get(manifest.namespace(), manifest.name()).await;
        found.map(|object| object.map(Arc::new)).map_err(|error| self.explain(manifest, &error))
    }

    /// The object as watched.
    pub(super) fn watched(&self, manifest: &Value) -> Option<Arc<Value>> {
        self.copies.get(manifest.namespace(), manifest.name())
    }

    fn explain(&self, manifest: &Value, error: &kube::Error) -> Failure {
        let name = windlass_api::names::namespaced(manifest.namespace(), manifest.name());
        // Refusals of the request itself aside, all is the member's or the way to it.
        let cause = match code(error) {
            Some(code) if code < 500 && code != 429 => Cause::Other,
            _ => Cause::Unanswered,
        };
        let words = format!("{} {name} in cluster {}: {}", manifest.kind(), self.member.name(), words(error));
        Failure { words, cause }
    }
}

/// What came of it.
pub(super) struct Applied {
    /// The object as it is in the member.
    pub(super) object: Arc<Value>,
    /// Something was written.
    pub(super) written: bool,
}

/// What is known of a manifest before it is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Before {
    /// It was never tried: most likely its object isn't there.
    New,
    /// It has changed since it was carried out: fields may have to go.
    Changed,
    /// It was carried out as it is.
    Same,
}

/// Makes the member's object what the manifest says.
pub(super) async fn apply(
    context: &Context,
    target: &Target,
    manifest: &Value,
    before: Before,
) -> Result<Applied, Failure> {
    let fresh = before != Before::Same;
    let mut live = if before == Before::New || fresh && !target.copies.is_synced() {
        // The create will tell if it is there nevertheless.
        target.watched(manifest)
    } else {
        target.live(manifest).await?
    };
    let mut error = Failure::other("");
    for _ in 0..ATTEMPTS {
        let outcome = match &live {
            None => target.objects().create(manifest).await,
            // A namespace that was there before us holds what isn't ours: it is used, and not taken over.
            Some(held) if is_foreign_namespace(held) => {
                return Ok(Applied { object: held.clone(), written: false });
            }
            Some(held) => match desired(context, target, manifest, held, fresh)? {
                None => return Ok(Applied { object: held.clone(), written: false }),
                Some(object) => target.objects().replace(&object).await,
            },
        };
        match outcome {
            Ok(object) => {
                let made = live.is_none();
                let written = live.is_none_or(|held| held.resource_version() != object.resource_version());
                return Ok(Applied { object: target.copies.note(object, made), written });
            }
            Err(refused) if is_conflict(&refused) || is_not_found(&refused) => {
                error = target.explain(manifest, &refused);
                let again = target.fetch(manifest).await?;
                if live.is_none() && again.is_none() {
                    break;
                }
                live = again;
            }
            Err(refused) => return Err(target.explain(manifest, &refused)),
        }
    }
    Err(error)
}

fn is_foreign_namespace(live: &Value) -> bool {
    live.api_version() == "v1" && live.kind() == "Namespace" && live.label(LABEL_MANAGED) != Some(VALUE_TRUE)
}

/// The object to write; nothing if the live one says it all.
fn desired(
    context: &Context,
    target: &Target,
    manifest: &Value,
    live: &Value,
    fresh: bool,
) -> Result<Option<Value>, Failure> {
    plan::check_owner(manifest, live, target.member.name())
        .map_err(|words| Failure { words, cause: Cause::Blocked })?;
    let mut desired = manifest.clone();
    retention::retain(&mut desired, live);
    let retained = compute(|| context.interpreters.retain(&desired, live))
        .map_err(|error| Failure::other(error.to_string()))?;
    let desired = retained.unwrap_or(desired);
    Ok((fresh || !plan::covers(live, &desired)).then_some(desired))
}

/// Deletes the member's object, if it is ours.
pub(super) async fn delete(target: &Target, manifest: &Value) -> Result<(), Failure> {
    let Some(live) = target.fetch(manifest).await? else { return Ok(()) };
    if live.label(LABEL_MANAGED) != Some(VALUE_TRUE) || live.is_deleting() {
        return Ok(());
    }
    let objects = target.objects();
    let gone = objects.delete(live.namespace(), live.name(), Some(live.uid()), Propagation::Background).await;
    match gone {
        Err(error) if !is_conflict(&error) => Err(target.explain(manifest, &error)),
        _ => Ok(()),
    }
}

/// Leaves the member's object there, no longer ours.
pub(super) async fn let_go(context: &Context, target: &Target, manifest: &Value) -> Result<(), Failure> {
    let Some(live) = target.fetch(manifest).await? else { return Ok(()) };
    if live.label(LABEL_MANAGED) != Some(VALUE_TRUE) {
        return Ok(());
    }
    let free = plan::let_go(manifest);
    let Some(object) = desired(context, target, &free, &live, true)? else { return Ok(()) };
    target.objects().replace(&object).await.map(|_| ()).map_err(|error| target.explain(manifest, &error))
}
