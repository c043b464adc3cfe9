//! A set of loaded plugins of all kinds, and what the deciding crates are given of it.

use crate::component::Component;
use crate::error::LoadError;
use crate::interpreter::InterpreterPlugin;
use crate::plugin::{Options, Status};
use crate::scheduler::SchedulerPlugin;
use crate::transformer::{TransformerPlugin, Transformers};
use crate::version::World;
use std::sync::Arc;
use windlass_interpret::Interpreter;
use windlass_schedule::{Profile, Stage};

/// Loaded plugins. A snapshot: changing the set makes a new one, and calls in flight keep theirs.
#[derive(Clone, Debug, Default)]
pub struct Plugins {
    schedulers: Vec<SchedulerPlugin>,
    interpreters: Vec<Arc<InterpreterPlugin>>,
    transformers: Vec<Arc<TransformerPlugin>>,
}

impl Plugins {
    /// An empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts a component as what it is, behind those that are in the set already.
    ///
    /// # Errors
    /// When it can't be started; the set stays as it was.
    pub fn add(&mut self, component: &Component, options: Options) -> Result<(), LoadError> {
        match component.world() {
            World::Scheduler => self.schedulers.push(SchedulerPlugin::load(component, options)?),
            World::Interpreter => {
                self.interpreters.push(Arc::new(InterpreterPlugin::load(component, options)?))
            }
            World::Transformer => {
                self.transformers.push(Arc::new(TransformerPlugin::load(component, options)?))
            }
        }
        Ok(())
    }

    /// All scheduler plugins.
    pub(crate) fn schedulers(&self) -> impl Iterator<Item = &SchedulerPlugin> {
        self.schedulers.iter()
    }

    /// A scheduler plugin by name.
    pub fn scheduler(&self, name: &str) -> Option<&SchedulerPlugin> {
        self.schedulers.iter().find(|plugin| plugin.description().name == name)
    }

    /// What one scheduling worker runs: the filters and scores of these names, in this order, with instances of its own.
    /// Estimators are left to the caller.
    ///
    /// # Errors
    /// Names for which no plugin is loaded.
    pub fn profile<'a>(&self, filters: &[&'a str], scores: &[&'a str]) -> Result<Profile, Vec<&'a str>> {
        let mut missing = Vec::new();
        let mut profile = Profile::default();
        let mut workers = std::collections::HashMap::new();
        for (names, filtering) in [(filters, true), (scores, false)] {
            for name in names {
                let capable = self.scheduler(name).filter(|plugin| match filtering {
                    true => plugin.description().filters,
                    false => plugin.description().scores,
                });
                let Some(plugin) = capable else {
                    missing.push(*name);
                    continue;
                };
                // One instance, and one copy of the table, even if a plugin is both filter and score.
                let worker = workers.entry(*name).or_insert_with(|| plugin.worker()).clone();
                let on_failure = plugin.on_failure();
                match filtering {
                    true => profile.filters.push(Stage::new(Box::new(worker), on_failure)),
                    false => profile.scores.push(Stage::new(Box::new(worker), on_failure)),
                }
            }
        }
        if missing.is_empty() { Ok(profile) } else { Err(missing) }
    }

    /// The interpreters, to be layers of a chain.
    pub fn interpreters(&self) -> Vec<Arc<dyn Interpreter>> {
        self.interpreters.iter().map(|plugin| Arc::clone(plugin) as Arc<dyn Interpreter>).collect()
    }

    /// The transformers as one.
    pub fn transformers(&self) -> Transformers {
        Transformers::new(&self.transformers)
    }

    /// What is known of each plugin.
    pub fn status(&self) -> Vec<Status> {
        let schedulers = self.schedulers.iter().map(SchedulerPlugin::status);
        let interpreters = self.interpreters.iter().map(|plugin| plugin.status());
        let transformers = self.transformers.iter().map(|plugin| plugin.status());
        schedulers.chain(interpreters).chain(transformers).collect()
    }
}
