//! Starts all controllers.

use crate::context::Context;
use crate::scheduler::{Decisions, SchedulerPlugins};
use crate::{
    binding, binding_status, cluster, cluster_status, dependencies, detector, execution, namespace, scheduler,
};

/// Handles on running controllers.
pub struct Running {
    /// Why the schedulers decide as they do.
    pub decisions: Decisions,
}

/// Starts the schedulers alone: for benches, and for processes of their own.
pub fn start_schedulers(context: &Context, plugins: impl Into<SchedulerPlugins>) -> Running {
    Running { decisions: scheduler::start(context, plugins.into()) }
}

/// Starts all controllers of the core path. They stop with the context's shutdown.
pub fn start(context: &Context, plugins: impl Into<SchedulerPlugins>) -> Running {
    let gate = context.readiness.gate("informers");
    let (kinds, apis) = (context.kinds.clone(), context.apis.clone());
    context.shutdown.spawn(async move {
        kinds.synced().await;
        apis.ready().await;
        gate.open();
    });
    cluster::start(context);
    cluster_status::start(context);
    namespace::start(context);
    dependencies::start(context);
    detector::start(context);
    binding::start(context);
    execution::start(context);
    binding_status::start(context);
    let decisions = scheduler::start(context, plugins.into());
    Running { decisions }
}
