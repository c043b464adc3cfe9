//! A scheduler's plugins as an operator names them: found among the loaded ones, and configured.

use crate::plugins::Plugins;
use crate::scheduler::{SchedulerPlugin, SchedulerWorker};
use std::collections::HashMap;
use windlass_schedule::profile::{PluginSpec, ProfileSpec};
use windlass_schedule::{Profile, Stage};

/// Workers by plugin and configuration: one that is both filter and score has one instance, and one copy of the table.
type Workers = HashMap<(String, String), (SchedulerPlugin, SchedulerWorker)>;

impl Plugins {
    /// What one scheduling worker runs, with instances of its own. Estimators are left to the caller.
    ///
    /// # Errors
    /// Every plugin that isn't loaded, can't do what it is named for, or doesn't take its configuration.
    pub fn scheduler_profile(&self, spec: &ProfileSpec) -> Result<Profile, String> {
        let mut wrong = Vec::new();
        let mut profile = Profile::default();
        let mut workers = Workers::new();
        for (list, filtering) in [(&spec.filters, true), (&spec.scores, false)] {
            for plugin in list {
                let (loaded, worker) = match self.worker(plugin, filtering, &mut workers) {
                    Ok(found) => found,
                    Err(why) => {
                        wrong.push(why);
                        continue;
                    }
                };
                let on_failure = plugin.on_failure.unwrap_or(loaded.on_failure());
                if filtering {
                    profile.filters.push(Stage::new(Box::new(worker), on_failure));
                } else {
                    let mut stage =
                        Stage::new(Box::new(worker) as Box<dyn windlass_schedule::Score>, on_failure);
                    stage.weight = plugin.weight;
                    profile.scores.push(stage);
                }
            }
        }
        if wrong.is_empty() { Ok(profile) } else { Err(wrong.join("; ")) }
    }

    fn worker(
        &self,
        spec: &PluginSpec,
        filtering: bool,
        workers: &mut Workers,
    ) -> Result<(SchedulerPlugin, SchedulerWorker), String> {
        let name = &spec.name;
        let Some(loaded) = self.scheduler(name) else {
            let known = self.schedulers().map(|plugin| plugin.description().name.as_str());
            let mut known: Vec<&str> = known.collect();
            known.sort_unstable();
            return Err(format!("there is no plugin {name:?}; loaded are: {}", known.join(", ")));
        };
        let (able, what) = match filtering {
            true => (loaded.description().filters, "filter"),
            false => (loaded.description().scores, "score"),
        };
        if !able {
            return Err(format!("the plugin {name:?} is no {what}"));
        }
        let config = spec.config.as_ref().map(ToString::to_string).unwrap_or_default();
        if let Some(found) = workers.get(&(name.clone(), config.clone())) {
            return Ok(found.clone());
        }
        let plugin = match config.is_empty() {
            true => loaded.clone(),
            false => loaded
                .configured(config.clone())
                .map_err(|why| format!("the plugin {name:?} does not take its configuration: {why}"))?,
        };
        let worker = plugin.worker();
        workers.insert((name.clone(), config), (plugin.clone(), worker.clone()));
        Ok((plugin, worker))
    }
}
