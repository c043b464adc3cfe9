//! Scheduler plugins: stateful, one instance per worker, each with a copy of the cluster table that is brought up to
//! date before a call. A trap costs the call and the instance; the next call starts a new one and tells it everything.

use crate::component::Component;
use crate::counters::Snapshot;
use crate::error::{CallError, GuestError, LoadError};
use crate::limits;
use crate::plugin::{Options, Plugin, Status};
use crate::worlds::{self, Outcome, Question, SchedulerCalls, SchedulerDescription, Template};
use std::sync::{Arc, Mutex, PoisonError};
use windlass_schedule::{
    BindingView, Bitmap, Candidates, ClusterTable, Explanation, FailurePolicy, Filter, PluginError, Reads,
    Score,
};

/// The scores that a plugin may give.
const SCORES: std::ops::RangeInclusive<i64> = 0..=100;

/// A filter or score that was loaded: described and proven to start, without an instance of its own.
#[derive(Clone)]
pub struct SchedulerPlugin(Arc<Shared>);

struct Shared {
    plugin: Plugin,
    description: SchedulerDescription,
    template: Arc<dyn Template<dyn SchedulerCalls>>,
}

impl SchedulerPlugin {
    /// Loads a plugin: asks for its description, and tries its configuration out.
    ///
    /// # Errors
    /// When the component is of another kind, or can't be started.
    pub fn load(component: &Component, options: Options) -> Result<Self, LoadError> {
        let template = worlds::scheduler(component)?;
        let mut plugin = Plugin::new(component, options);
        let mut guest = plugin.start(&*template).map_err(|why| component.refuse(why))?;
        let description =
            plugin.call(&mut *guest, |guest| guest.describe()).map_err(|why| component.refuse(why))?;
        plugin.described(&description.name, &description.version)?;
        if !description.filters && !description.scores {
            return Err(plugin.misdescribed("it is neither filter nor score"));
        }
        Ok(Self(Arc::new(Shared { plugin, description, template })))
    }

    /// What the plugin says of itself.
    pub fn description(&self) -> &SchedulerDescription {
        &self.0.description
    }

    /// The same plugin, configured otherwise.
    ///
    /// # Errors
    /// When it doesn't take the configuration.
    pub fn configured(&self, config: String) -> Result<Self, LoadError> {
        let plugin = &self.0.plugin;
        Self::load(&plugin.component, Options { config, ..plugin.options.clone() })
    }

    /// What its failure means.
    pub fn on_failure(&self) -> FailurePolicy {
        self.0.plugin.options.on_failure
    }

    /// How it fares, over all workers.
    pub fn counters(&self) -> Snapshot {
        self.0.plugin.counters.snapshot()
    }

    /// What is known of it.
    pub fn status(&self) -> Status {
        self.0.plugin.status()
    }

    /// A worker of its own, to be used as filter and score. Its instance is made at the first call.
    ///
    /// A worker follows one cluster table and its snapshots; another table (a what-if) needs a worker of its own.
    pub fn worker(&self) -> SchedulerWorker {
        SchedulerWorker { shared: Arc::clone(&self.0), instance: Arc::default() }
    }
}

impl std::fmt::Debug for SchedulerPlugin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SchedulerPlugin").field("plugin", &self.0.plugin).finish_non_exhaustive()
    }
}

/// One instance of a plugin, for one worker. Clones share the instance: one is the filter, the other the score.
#[derive(Clone)]
pub struct SchedulerWorker {
    shared: Arc<Shared>,
    instance: Arc<Mutex<Option<Instance>>>,
}

/// A running plugin and the generation of its table.
struct Instance {
    guest: Box<dyn SchedulerCalls>,
    /// `None` before the first sync.
    generation: Option<u64>,
}

impl SchedulerWorker {
    /// Asks something about clusters: makes an instance if there is none, brings its table up to date, calls, and syncs
    /// everything anew should the plugin call its table stale. `check` says what is wrong with an answer, if anything.
    fn ask<R>(
        &self,
        table: &ClusterTable,
        binding: &BindingView,
        candidates: Candidates<'_>,
        call: impl Fn(&mut (dyn SchedulerCalls + 'static), &Question<'_>) -> Outcome<R>,
        check: impl Fn(&R) -> Result<(), String>,
    ) -> Result<R, CallError> {
        let reads = self.shared.description.reads_bindings;
        self.with_instance(|plugin, instance| {
            for forget in [false, true] {
                if forget {
                    instance.generation = None;
                }
                let generation = self.sync(plugin, instance, table)?;
                let question = Question { generation, binding, reads, candidates };
                let answer = plugin.call(&mut *instance.guest, |guest| match call(guest, &question)? {
                    Ok(answer) => Ok(Ok(Some(answer))),
                    Err(GuestError::Stale) => Ok(Ok(None)),
                    Err(other) => Ok(Err(other)),
                })?;
                if let Some(answer) = answer {
                    check(&answer).map_err(|why| broken(plugin, why))?;
                    plugin.counters.answered();
                    return Ok(answer);
                }
            }
            Err(broken(plugin, "it calls its table stale right after a sync".to_owned()))
        })
    }

    /// Runs something with the instance, and throws it away if it can't be used any more.
    fn with_instance<R>(
        &self,
        then: impl FnOnce(&Plugin, &mut Instance) -> Result<R, CallError>,
    ) -> Result<R, CallError> {
        let plugin = &self.shared.plugin;
        let mut slot = self.instance.lock().unwrap_or_else(PoisonError::into_inner);
        let mut instance = match slot.take() {
            Some(instance) => instance,
            None => Instance { guest: plugin.start(&*self.shared.template)?, generation: None },
        };
        let result = then(plugin, &mut instance);
        if !matches!(result, Err(CallError::Trapped(_) | CallError::Timeout | CallError::Internal(_))) {
            *slot = Some(instance);
        }
        result
    }

    /// Tells the instance what changed in the fields that it reads; gives the generation that it has then.
    fn sync(&self, plugin: &Plugin, instance: &mut Instance, table: &ClusterTable) -> Result<u64, CallError> {
        let reads = self.shared.description.reads_clusters;
        let delta = table.delta(instance.generation.unwrap_or(0), reads);
        if instance.generation.is_none() || !delta.upserts.is_empty() || !delta.removes.is_empty() {
            instance.generation = None;
            plugin.call(&mut *instance.guest, |guest| guest.sync(table, &delta, reads))?;
            plugin.counters.sync();
            instance.generation = Some(delta.generation);
        }
        Ok(instance.generation.unwrap_or(delta.generation))
    }
}

impl Filter for SchedulerWorker {
    fn name(&self) -> &str {
        &self.shared.plugin.name
    }

    fn reads(&self) -> Option<Reads> {
        Some(self.shared.description.reads())
    }

    fn filter(
        &mut self,
        table: &ClusterTable,
        binding: &BindingView,
        candidates: Candidates<'_>,
    ) -> Result<Bitmap, PluginError> {
        let (least, most) = lengths(table, candidates);
        let words = self.ask(
            table,
            binding,
            candidates,
            |guest, question| guest.filter(question),
            |words| {
                let (least, most) = (least.div_ceil(64), most.div_ceil(64));
                check_length("words in the bitmap", words.len(), least, most)
            },
        );
        Ok(Bitmap::from_words(words.map_err(scheduler_error)?, most))
    }

    fn explain(
        &mut self,
        table: &ClusterTable,
        binding: &BindingView,
        candidates: Candidates<'_>,
    ) -> Result<Explanation, PluginError> {
        let told = self.ask(
            table,
            binding,
            candidates,
            |guest, question| guest.explain(question),
            |told| {
                let beyond =
                    told.refused.iter().find(|(_, index)| told.reasons.get(*index as usize).is_none());
                beyond.map_or(Ok(()), |(_, index)| {
                    Err(format!("it explains by reason {index}, which it doesn't give"))
                })
            },
        );
        let mut told = told.map_err(scheduler_error)?;
        for reason in &mut told.reasons {
            *reason = limits::shorten(std::mem::take(reason), limits::MESSAGE);
        }
        Ok(told)
    }
}

impl Score for SchedulerWorker {
    fn name(&self) -> &str {
        &self.shared.plugin.name
    }

    fn reads(&self) -> Option<Reads> {
        Some(self.shared.description.reads())
    }

    fn normalizes(&self) -> bool {
        self.shared.description.normalizes
    }

    fn score(
        &mut self,
        table: &ClusterTable,
        binding: &BindingView,
        candidates: Candidates<'_>,
    ) -> Result<Vec<i64>, PluginError> {
        let (least, most) = lengths(table, candidates);
        let scores = self.ask(
            table,
            binding,
            candidates,
            |guest, question| guest.score(question),
            |scores| {
                check_length("scores", scores.len(), least, most)?;
                check_scores(scores)
            },
        );
        let mut scores = scores.map_err(scheduler_error)?;
        scores.resize(most, 0);
        Ok(scores)
    }

    fn normalize(&mut self, scores: Vec<i64>) -> Result<Vec<i64>, PluginError> {
        if !self.shared.description.normalizes {
            return Ok(scores);
        }
        let normalized = self.with_instance(|plugin, instance| {
            let normalized = plugin.call(&mut *instance.guest, |guest| guest.normalize(&scores))?;
            check_length("normalized scores", normalized.len(), scores.len(), scores.len())
                .and_then(|()| check_scores(&normalized))
                .map(|()| normalized)
                .map_err(|why| broken(plugin, why))
        });
        normalized.map_err(scheduler_error)
    }
}

/// How long an answer must and may be. About all clusters it ends with the last one, or with the last slot.
fn lengths(table: &ClusterTable, candidates: Candidates<'_>) -> (usize, usize) {
    match candidates {
        Candidates::These(ids) => (ids.len(), ids.len()),
        Candidates::All => {
            let used = table.iter().map(|(id, _)| id as usize + 1).max().unwrap_or(0);
            (used, table.capacity())
        }
    }
}

fn check_length(what: &str, found: usize, least: usize, most: usize) -> Result<(), String> {
    if (least..=most).contains(&found) {
        return Ok(());
    }
    let expected = if least == most { most.to_string() } else { format!("{least} to {most}") };
    Err(format!("it gave {found} {what}; expected {expected}"))
}

fn check_scores(scores: &[i64]) -> Result<(), String> {
    match scores.iter().find(|score| !SCORES.contains(score)) {
        Some(score) => Err(format!("it gave a score of {score}; expected 0 to 100")),
        None => Ok(()),
    }
}

/// An answer that breaks the interface's rules; the call itself was counted as good already.
fn broken(plugin: &Plugin, why: String) -> CallError {
    let error = CallError::Internal(why);
    plugin.counters.failure(&error);
    tracing::warn!(plugin = %plugin.name, %error, "plugin broke the interface's rules; its instance is replaced");
    error
}

fn scheduler_error(error: CallError) -> PluginError {
    match error {
        CallError::Invalid(text) => PluginError::Invalid(text),
        CallError::Unsupported => PluginError::Internal("the plugin does not support the call".to_owned()),
        CallError::Internal(text) => PluginError::Internal(text),
        CallError::Trapped(text) => PluginError::Trapped(text),
        CallError::Timeout => PluginError::Timeout,
    }
}
