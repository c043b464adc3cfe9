//! The detector: finds the policy of each template, claims the template for it, and writes its binding.
//! Watches every listable kind of the control plane, also those whose definitions arrive later. Owns the
//! claim on templates and bindings, and all of a binding's spec that comes from template and policy.

mod idle;
mod inbox;
mod policies;
mod preemption;
mod templates;
mod watches;

use crate::context::{Context, TemplateError};
use inbox::{Cause, Inbox};
use regex::Regex;
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use watches::Watches;
use windlass_object::gvk::Gvk;
use windlass_object::meta::Meta;
use windlass_object::path::str_at;
use windlass_policy::binding::BindingError;
use windlass_runtime::Queue;
use windlass_runtime::events::Recorder;

/// A template.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct TemplateKey {
    pub(crate) gvk: Gvk,
    pub(crate) namespace: String,
    pub(crate) name: String,
}

impl TemplateKey {
    /// What a binding is for.
    fn of_binding(binding: &Value) -> Self {
        let of = |field: &str| str_at(binding, &["spec", "resource", field]);
        Self {
            gvk: Gvk::from_api_version(of("apiVersion"), of("kind")),
            namespace: of("namespace").to_owned(),
            name: of("name").to_owned(),
        }
    }

    fn of(template: &Value) -> Self {
        Self {
            gvk: template.gvk(),
            namespace: template.namespace().to_owned(),
            name: template.name().to_owned(),
        }
    }
}

/// A policy of either kind.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PolicyKey {
    pub(crate) namespace: String,
    pub(crate) name: String,
}

/// Why a template or policy could not be worked on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// An override policy that the policy depends on is missing. Its arrival brings the template back.
    #[error("policy {policy} depends on override policy {name}, which does not exist")]
    MissingOverride { policy: String, name: String },
    /// The policy is on its way out.
    #[error("policy {0} is being deleted")]
    PolicyDeleting(String),
    /// The priority class is missing.
    #[error("policy {policy}: spec.schedulePriority: priority class {class} does not exist")]
    MissingPriorityClass { policy: String, class: String },
    #[error(transparent)]
    Binding(#[from] BindingError),
    #[error(transparent)]
    Interpreter(#[from] windlass_interpret::Error),
    #[error(transparent)]
    Template(#[from] TemplateError),
    #[error("{}", windlass_runtime::objects::words(.0))]
    Server(#[from] kube::Error),
}

#[derive(Clone)]
pub(crate) struct Detector {
    context: Context,
    recorder: Recorder,
    templates: Inbox,
    policies: Queue<PolicyKey>,
    watches: Arc<Watches>,
    /// Templates that no policy selects.
    waiting: Arc<Mutex<BTreeSet<TemplateKey>>>,
    /// Policies that selected nothing when they were looked at, and in which generation.
    idle: Arc<Mutex<HashMap<PolicyKey, i64>>>,
}

/// Starts it.
pub(crate) fn start(context: &Context) {
    let queue: Queue<TemplateKey> = Queue::new("detector");
    let policies: Queue<PolicyKey> = Queue::new("detector-policies");
    let templates = Inbox::new(queue.clone());
    let watches = Watches::start(context, templates.clone());
    let detector = Detector {
        context: context.clone(),
        recorder: context.recorder("resource-detector"),
        templates: templates.clone(),
        policies: policies.clone(),
        watches,
        waiting: Arc::default(),
        idle: Arc::default(),
    };
    detector.watch_policies();
    // Bindings that somebody deletes are made again, as long as their templates are there.
    for handle in [&context.kinds.bindings, &context.kinds.cluster_bindings] {
        let keys = templates.clone();
        handle.on_change(move |change| {
            if let (Some(binding), None) = (&change.old, &change.new) {
                keys.add(TemplateKey::of_binding(binding), Cause::Foreign, 0);
            }
        });
    }
    let worker = detector.clone();
    context.run(queue, context.options.workers, move |key| worker.clone().template(key));
    let worker = detector;
    context.run(policies, 2, move |key| worker.clone().policy(key));
}

impl Detector {
    fn waiting(&self) -> MutexGuard<'_, BTreeSet<TemplateKey>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn idle(&self) -> MutexGuard<'_, HashMap<PolicyKey, i64>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Regular expressions that must match a whole name. Those that can't be read match nothing, and are logged.
pub(crate) fn whole_names(patterns: &[String]) -> Vec<Regex> {
    patterns
        .iter()
        .filter_map(|pattern| match Regex::new(&format!("^(?:{pattern})$")) {
            Ok(regex) => Some(regex),
            Err(error) => {
                tracing::error!(pattern, %error, "a pattern of skipped namespaces can't be read");
                None
            }
        })
        .collect()
}
