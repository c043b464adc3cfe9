//! Which plugins each scheduler runs: SchedulerProfiles, whose names are the schedulers', and for the schedulers that the
//! operator started without one the standard set. A profile that can't be had says so, and the last good one stays.

use super::Scheduler;
use crate::context::Context;
use crate::kinds::SCHEDULER_PROFILES;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;
use windlass_api::{conditions, events};
use windlass_object::condition::{self, Condition};
use windlass_object::gvk::Gvk;
use windlass_object::meta::Meta;
use windlass_object::time;
use windlass_runtime::{Change, Handle};
use windlass_schedule::Profile;
use windlass_schedule::profile::ProfileSpec;

/// Makes a profile of loaded plugins, with instances of its own; else says what is missing or wrong.
pub type Build = Arc<dyn Fn(&ProfileSpec) -> Result<Profile, String> + Send + Sync>;

/// What schedulers get their plugins from.
pub enum SchedulerPlugins {
    /// One set, for the first scheduler; profiles can't be changed.
    Fixed(Box<Profile>),
    /// Loaded plugins.
    Loaded(Build),
}

impl From<Profile> for SchedulerPlugins {
    fn from(profile: Profile) -> Self {
        Self::Fixed(Box::new(profile))
    }
}

/// Keeps profiles as the objects say.
pub(super) struct Profiles {
    context: Context,
    /// Whether the objects that there were at the start are in force.
    read: watch::Receiver<bool>,
}

struct Keeper {
    scheduler: Scheduler,
    build: Build,
    /// What each scheduler runs.
    running: Mutex<BTreeMap<String, ProfileSpec>>,
}

impl Profiles {
    /// Gives the schedulers their standard plugins, then follows the objects.
    pub(super) fn start(scheduler: &Scheduler, plugins: SchedulerPlugins) -> Self {
        let context = &scheduler.context;
        let (done, read) = watch::channel(false);
        let build = match plugins {
            SchedulerPlugins::Loaded(build) => build,
            SchedulerPlugins::Fixed(profile) => {
                let names = &context.options.scheduler_names;
                if let Some(first) = names.first() {
                    scheduler.desk.with(|driver, _| driver.set_profile(first, *profile));
                }
                done.send_replace(true);
                return Self { context: context.clone(), read };
            }
        };
        let keeper = Keeper { scheduler: scheduler.clone(), build, running: Mutex::default() };
        let standard = ProfileSpec::standard(context.options.gates);
        for name in context.options.scheduler_names.iter().collect::<BTreeSet<_>>() {
            if let Err(why) = keeper.run(name, standard.clone()) {
                tracing::error!(scheduler = name, why, "the standard plugins can't be had");
            }
        }
        let handle = context.informers.watch(&*SCHEDULER_PROFILES);
        let token = context.shutdown.token();
        context.shutdown.spawn(async move {
            tokio::select! {
                () = token.cancelled() => {}
                () = keeper.keep(&handle, &done) => {}
            }
        });
        Self { context: context.clone(), read }
    }

    /// Waits until the profiles that there are are in force: until then nothing may be decided. A control plane that
    /// doesn't serve the kind has none.
    pub(super) async fn synced(&self) {
        self.context.apis.ready().await;
        let kind = Gvk::new(&SCHEDULER_PROFILES.group, &SCHEDULER_PROFILES.version, "SchedulerProfile");
        if self.context.apis.table().resolve(&kind).is_some() {
            // The sender ends with the process.
            let _ = self.read.clone().wait_for(|read| *read).await;
        }
    }
}

impl Keeper {
    async fn keep(&self, handle: &Handle, done: &watch::Sender<bool>) {
        let mut changes = handle.subscribe();
        handle.synced().await;
        while let Ok(change) = changes.try_recv() {
            self.follow(change).await;
        }
        done.send_replace(true);
        while let Some(change) = changes.recv().await {
            self.follow(change).await;
        }
    }

    async fn follow(&self, change: Change) {
        let name = change.key.name.clone();
        let Some(object) = change.new else { return self.withdraw(&name) };
        if change.old.is_some_and(|old| old.generation() == object.generation()) {
            return;
        }
        let gates = self.scheduler.context.options.gates;
        let outcome = ProfileSpec::from_object(&object, gates)
            .map_err(|why| (conditions::REASON_INVALID_PROFILE, why))
            .and_then(|spec| self.run(&name, spec).map_err(|why| (conditions::REASON_PLUGINS_MISSING, why)));
        if let Err((_, why)) = &outcome {
            let recorder = self.scheduler.recorder(&name);
            recorder.warning(&*object, events::PROFILE_REFUSED, why.clone());
        }
        self.report(&object, outcome.err()).await;
    }

    /// A scheduler runs this from now on, if it can be had.
    fn run(&self, name: &str, spec: ProfileSpec) -> Result<(), String> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if running.get(name) == Some(&spec) {
            return Ok(());
        }
        // Plugins are compiled and started.
        let profile = crate::context::compute(|| (self.build)(&spec))?;
        self.scheduler.desk.with(|driver, _| driver.set_profile(name, profile));
        running.insert(name.to_owned(), spec);
        drop(running);
        self.scheduler.reconsider(&[name.to_owned()]);
        Ok(())
    }

    /// A profile is gone: the scheduler goes back to the standard one, or ends if only the object asked for it.
    fn withdraw(&self, name: &str) {
        let options = &self.scheduler.context.options;
        if options.scheduler_names.iter().any(|own| own == name) {
            if let Err(why) = self.run(name, ProfileSpec::standard(options.gates)) {
                tracing::error!(
                    scheduler = name,
                    why,
                    "the standard plugins can't be had; the last ones stay"
                );
            }
            return;
        }
        self.running.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
        self.scheduler.desk.with(|driver, _| driver.remove_profile(name));
    }

    async fn report(&self, profile: &Value, refused: Option<(&'static str, String)>) {
        let objects = self.scheduler.context.objects(&SCHEDULER_PROFILES);
        let generation = profile.generation();
        let stays = match self.running.lock().unwrap_or_else(PoisonError::into_inner).get(profile.name()) {
            Some(_) => "what was in force before stays in force",
            None => "no scheduler of this name runs",
        };
        let condition = match &refused {
            None => Condition::new(
                conditions::PROFILE_ACCEPTED,
                "True",
                conditions::REASON_IN_FORCE,
                "The scheduler runs these plugins.",
            ),
            Some((reason, why)) => {
                Condition::new(conditions::PROFILE_ACCEPTED, "False", *reason, format!("{why}; {stays}"))
            }
        };
        let condition = condition.observed(generation);
        let written = crate::status::write(&objects, profile, |object| {
            let mut conditions = condition::of(object).to_vec();
            condition::set_at(&mut conditions, condition.clone(), &time::now());
            Some(json!({"conditions": conditions, "observedGeneration": generation}))
        });
        if let Err(error) = written.await {
            let why = windlass_runtime::objects::words(&error);
            tracing::warn!(profile = profile.name(), why, "its status was not written");
        }
    }
}
