//! What all kinds of plugins have in common: how the operator set them up, and how a call is made, bounded and counted.

use crate::component::Component;
use crate::counters::{Counters, Snapshot};
use crate::error::{CallError, LoadError};
use crate::limits::{self, Limits};
use crate::state::HostState;
use crate::worlds::{Outcome, Running, Template};
use std::time::Instant;
use windlass_schedule::FailurePolicy;

/// How an operator sets a plugin up.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// What the plugin is configured with; JSON text.
    pub config: String,
    /// What it may use.
    pub limits: Limits,
    /// What its failure means.
    pub on_failure: FailurePolicy,
}

impl Default for Options {
    fn default() -> Self {
        Self { config: "{}".to_owned(), limits: Limits::default(), on_failure: FailurePolicy::default() }
    }
}

/// What is known of a plugin, for its status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// As it describes itself.
    pub name: String,
    /// Its own version.
    pub version: String,
    /// The component that it was loaded from.
    pub component: String,
    /// The component's digest.
    pub digest: String,
    /// How it fares.
    pub counters: Snapshot,
}

/// A plugin's identity, set-up and counts; one per plugin, shared by its instances.
#[derive(Debug)]
pub(crate) struct Plugin {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) component: Component,
    pub(crate) options: Options,
    pub(crate) counters: Counters,
}

impl Plugin {
    /// A plugin that hasn't described itself yet goes by its component's name.
    pub(crate) fn new(component: &Component, options: Options) -> Self {
        Self {
            name: component.name().to_owned(),
            version: String::new(),
            component: component.clone(),
            options,
            counters: Counters::default(),
        }
    }

    /// Takes over what the plugin says of itself.
    pub(crate) fn described(&mut self, name: &str, version: &str) -> Result<(), LoadError> {
        if name.is_empty() || name.len() > limits::MESSAGE || name.chars().any(char::is_control) {
            return Err(self.misdescribed("its name is empty, too long, or has control characters"));
        }
        name.clone_into(&mut self.name);
        version.clone_into(&mut self.version);
        Ok(())
    }

    pub(crate) fn misdescribed(&self, why: &str) -> LoadError {
        LoadError::Description { name: self.component.name().to_owned(), why: why.to_owned() }
    }

    pub(crate) fn status(&self) -> Status {
        Status {
            name: self.name.clone(),
            version: self.version.clone(),
            component: self.component.name().to_owned(),
            digest: self.component.digest().to_owned(),
            counters: self.counters.snapshot(),
        }
    }

    /// Makes an instance and configures it.
    pub(crate) fn start<G: Running + ?Sized>(&self, template: &dyn Template<G>) -> Result<Box<G>, CallError> {
        let mut guest = self.instantiate(template)?;
        self.call(&mut *guest, |guest| guest.init(&self.options.config))?;
        Ok(guest)
    }

    /// Makes an instance for one call, and lets go of it.
    pub(crate) fn once<G: Running + ?Sized, R>(
        &self,
        template: &dyn Template<G>,
        call: impl FnOnce(&mut G) -> Outcome<R>,
    ) -> Result<R, CallError> {
        let mut guest = self.start(template)?;
        let answer = self.call(&mut *guest, call)?;
        self.counters.answered();
        Ok(answer)
    }

    /// Makes an instance without configuring it.
    fn instantiate<G: Running + ?Sized>(&self, template: &dyn Template<G>) -> Result<Box<G>, CallError> {
        let made = template.instantiate(&self.name, self.options.limits);
        self.counters.instance();
        made.map_err(|why| {
            let error = CallError::of(&why);
            self.counters.failure(&error);
            error
        })
    }

    /// Makes one call within the limits and counts it. After `Trapped` and `Timeout` the instance is of no more use.
    pub(crate) fn call<G: Running + ?Sized, R>(
        &self,
        guest: &mut G,
        call: impl FnOnce(&mut G) -> Outcome<R>,
    ) -> Result<R, CallError> {
        HostState::begin(guest.store(), self.options.limits);
        let begun = Instant::now();
        let outcome = call(guest);
        let took = begun.elapsed();
        let state = guest.store().data();
        self.counters.logs_dropped(state.dropped());
        self.counters.store(state.lowering(), state.memory());
        let result = match outcome {
            Ok(answer) => answer.map_err(CallError::from),
            Err(why) => Err(CallError::of(&why)),
        };
        self.counters.call(took, &result);
        if let Err(error @ (CallError::Trapped(_) | CallError::Timeout)) = &result {
            tracing::warn!(plugin = %self.name, %error, "plugin call failed; its instance is replaced");
        }
        result
    }
}
