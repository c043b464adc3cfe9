//! Writes of the dependencies controller.

use super::{Controller, Error};
use crate::kinds::BINDINGS;
use crate::patches::{guarded, put};
use serde_json::Value;
use std::sync::Arc;
use windlass_api::events;
use windlass_api::labels::{ANNOTATION_DEPENDENCIES, FINALIZER_DEPENDENCIES};
use windlass_object::meta::Meta;
use windlass_object::path::{get, list_at, str_at};
use windlass_policy::dependencies;
use windlass_runtime::ObjectKey;
use windlass_runtime::objects::{Propagation, code, is_not_found};

/// How often a binding is written again at once when somebody else was faster.
const ATTEMPTS: usize = 5;

/// What an attached binding's write rests on: several workloads may share it, and each has its entry there.
const GUARDS: [&str; 2] = ["/metadata/uid", "/metadata/generation"];

/// Finds a binding by namespace and name.
fn among<'k>(known: &'k [Arc<Value>]) -> impl Fn(&str, &str) -> Option<&'k Value> {
    move |namespace, name| {
        let mut known = known.iter().map(AsRef::as_ref);
        known.find(|binding: &&Value| binding.namespace() == namespace && binding.name() == name)
    }
}

impl Controller {
    fn objects(&self) -> windlass_runtime::Objects {
        self.context.objects(&BINDINGS)
    }

    /// The bindings that entries of `requiredBy` name.
    fn referrers(&self, attached: &[&Value]) -> Vec<Arc<Value>> {
        let named = attached.iter().flat_map(|binding| list_at(binding, &["spec", "requiredBy"]));
        named
            .filter_map(|entry| {
                let key = ObjectKey::new(str_at(entry, &["namespace"]), str_at(entry, &["name"]));
                self.context.ahead.get(self.bindings(), &key)
            })
            .collect()
    }

    /// Attaches an object's binding to a workload's; gives whether that was written.
    pub(super) async fn attach(&self, dependent: &Value, independent: &Value) -> Result<bool, Error> {
        let desired = dependencies::attached(dependent, independent);
        let key = ObjectKey::of(&desired);
        let mut disagreements = Vec::new();
        let merge = |held: Option<&Value>| {
            let known = self.referrers(&held.into_iter().chain([&desired]).collect::<Vec<_>>());
            let (merged, found) = dependencies::merge(held, desired.clone(), among(&known))
                .map_err(|error| Error::Some(error.to_string()))?;
            disagreements = found;
            Ok::<_, Error>(merged)
        };
        let at = (self.bindings(), &self.objects());
        let Some(answer) = put(&self.context.ahead, at, &key, &GUARDS, merge).await? else {
            return Ok(false);
        };
        if !disagreements.is_empty() {
            let message =
                format!("The bindings that depend on it disagree about {}", disagreements.join(" and "));
            self.recorder.warning(&*answer, events::DEPENDENCY_POLICY_CONFLICT, message);
        }
        Ok(true)
    }

    /// Takes a workload's entry out of a binding attached to it; one that nobody needs any more goes. Gives whether that
    /// was written.
    pub(super) async fn detach(&self, attached: &Value, independent: &Value) -> Result<bool, Error> {
        let mut held = attached.clone();
        for _ in 0..ATTEMPTS {
            let known = self.referrers(&[&held]);
            let (namespace, name) = (independent.namespace(), independent.name());
            let left = dependencies::detach(&held, namespace, name, among(&known));
            let Some(left) = left else { return Ok(false) };
            let (namespace, name) = (held.namespace(), held.name());
            let needed = !list_at(&left, &["spec", "requiredBy"]).is_empty()
                || get(&left, &["spec", "placement"]).is_some_and(|placement| !placement.is_null());
            let objects = self.objects();
            let written = if needed {
                objects.patch_json(namespace, name, &guarded(&held, &left, &GUARDS)).await.map(Some)
            } else {
                let gone = objects.delete(namespace, name, Some(held.uid()), Propagation::Background).await;
                gone.map(|_| None)
            };
            match written {
                Ok(Some(answer)) => {
                    self.context.ahead.note(self.bindings(), answer);
                    return Ok(true);
                }
                Ok(None) => return Ok(true),
                Err(error) if is_not_found(&error) => return Ok(false),
                Err(error) if matches!(code(&error), Some(409 | 422)) => {
                    match objects.get(namespace, name).await? {
                        Some(live) if live.uid() == held.uid() => held = live,
                        _ => return Ok(false),
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(false)
    }

    /// Records dependencies on the workload's binding, with the finalizer that keeps it until they are detached.
    pub(super) async fn record(&self, binding: &Value, wanted: &[Value]) -> Result<(), Error> {
        let mut marked = binding.clone();
        marked.set_annotation(ANNOTATION_DEPENDENCIES, &dependencies::record(wanted));
        marked.add_finalizer(FINALIZER_DEPENDENCIES);
        if marked == *binding {
            return Ok(());
        }
        let patch = guarded(binding, &marked, &["/metadata/uid", "/metadata/finalizers"]);
        let answer = self.objects().patch_json(binding.namespace(), binding.name(), &patch).await?;
        self.context.ahead.note(self.bindings(), answer);
        Ok(())
    }

    /// Lets the workload's binding go.
    pub(super) async fn release(&self, binding: &Value) -> Result<(), Error> {
        Ok(crate::finalizers::take_off(&self.objects(), binding, &[FINALIZER_DEPENDENCIES]).await?)
    }
}
