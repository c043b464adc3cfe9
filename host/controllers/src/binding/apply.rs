//! Writes of the binding controllers.

use crate::context::Context;
use crate::kinds::WORKS;
use crate::patches::guarded;
use futures::future::join_all;
use serde_json::Value;
use std::sync::Arc;
use windlass_api::labels::{FINALIZER_BINDING, FINALIZER_CLUSTER_BINDING};
use windlass_api::names;
use windlass_object::gvk::Gvr;
use windlass_object::meta::Meta;
use windlass_policy::work;
use windlass_runtime::objects::{Propagation, code, is_conflict, is_not_found, words};
use windlass_runtime::{ObjectKey, Objects};

/// How often a Work is written again at once when somebody else was faster.
const ATTEMPTS: usize = 5;

/// What a Work's write rests on: that it is the one that was read, with the spec that was read.
const GUARDS: [&str; 2] = ["/metadata/uid", "/metadata/generation"];

/// The server has another Work than we thought. A patch that doesn't apply is unprocessable.
fn is_stale(error: &kube::Error, patched: bool) -> bool {
    is_conflict(error) || is_not_found(error) || patched && code(error) == Some(422)
}

pub(super) struct Writer<'a> {
    pub(super) context: &'a Context,
}

impl Writer<'_> {
    fn works(&self) -> Objects {
        self.context.objects(&WORKS)
    }

    /// Creates or updates Works, all at once; gives the errors.
    pub(super) async fn ensure(&self, desired: Vec<Value>) -> Vec<String> {
        let writes = desired.into_iter().map(|work| async {
            let name = names::namespaced(work.namespace(), work.name());
            self.write(work).await.map_err(|error| format!("work {name}: {error}"))
        });
        join_all(writes).await.into_iter().filter_map(Result::err).collect()
    }

    async fn write(&self, desired: Value) -> Result<(), String> {
        let (works, watched) = (self.works(), &self.context.kinds.works);
        let (namespace, name) = (desired.namespace(), desired.name());
        let mut held = self.context.ahead.get(watched, &ObjectKey::of(&desired));
        for attempt in 0..ATTEMPTS {
            let merged = work::merge(held.as_deref(), desired.clone()).map_err(|error| error.to_string())?;
            let Some(fresh) = merged else { return Ok(()) };
            let written = match &held {
                None => works.create(&fresh).await,
                Some(held) => works.patch_json(namespace, name, &guarded(held, &fresh, &GUARDS)).await,
            };
            match written {
                Ok(answer) => {
                    match held {
                        Some(_) => self.context.ahead.note(watched, answer),
                        None => self.context.ahead.made(watched, answer),
                    };
                    return Ok(());
                }
                Err(error) if attempt + 1 < ATTEMPTS && is_stale(&error, held.is_some()) => {
                    let live = works.get(namespace, name).await;
                    held = live.map_err(|error| words(&error))?.map(Arc::new);
                    if held.is_none() && is_not_found(&error) && attempt > 0 {
                        return Err(words(&error));
                    }
                }
                Err(error) => return Err(words(&error)),
            }
        }
        Err("somebody else keeps writing it".into())
    }

    /// Deletes Works; those that are gone are fine.
    pub(super) async fn delete(&self, works: &[&Value]) -> Result<(), kube::Error> {
        let objects = self.works();
        for work in works.iter().filter(|work| !work.is_deleting()) {
            objects.delete(work.namespace(), work.name(), Some(work.uid()), Propagation::Background).await?;
        }
        Ok(())
    }

    /// Deletes all Works; gives whether all are gone.
    pub(super) async fn delete_all(&self, works: &[Arc<Value>]) -> Result<bool, kube::Error> {
        let borrowed: Vec<&Value> = works.iter().map(AsRef::as_ref).collect();
        self.delete(&borrowed).await?;
        // In a cluster that doesn't answer a copy may stay for long: its Work goes on its own.
        let reachable = |work: &Value| {
            let cluster = names::cluster_of(work.namespace()).unwrap_or_default();
            self.context.kinds.is_ready(cluster)
        };
        Ok(!borrowed.iter().any(|work| reachable(work)))
    }

    /// Takes the finalizer away.
    pub(super) async fn release(&self, gvr: &Gvr, binding: &Value) -> Result<(), kube::Error> {
        let ours = [FINALIZER_BINDING, FINALIZER_CLUSTER_BINDING];
        crate::finalizers::take_off(&self.context.objects(gvr), binding, &ours).await
    }
}
