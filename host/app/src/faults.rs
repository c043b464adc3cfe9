//! What goes wrong with simulated members, as their users switch it: by an annotation of the Cluster in the control plane,
//! which can be reached however a member is.

use std::collections::HashMap;
use windlass_controllers::Context;
use windlass_object::meta::Meta;
use windlass_simulator::{Fault, Faults, Member};

/// The annotation; its value is a [`Fault`] in words.
pub(crate) const ANNOTATION: &str = "simulator.windlass.io/fault";

/// Reason of the event about a value that is no fault.
const UNKNOWN: &str = "UnknownFault";

/// Follows the Clusters of simulated members until shutdown. A value that is no fault switches none on, and is told.
pub(crate) fn follow(context: &Context, members: &[Member]) {
    let switches: HashMap<String, Faults> =
        members.iter().map(|member| (member.name().to_owned(), member.faults().clone())).collect();
    let recorder = context.recorder("simulator");
    context.kinds.clusters.on_change(move |change| {
        let (Some(cluster), Some(switch)) = (&change.new, switches.get(&change.key.name)) else { return };
        let wanted = cluster.annotation(ANNOTATION).unwrap_or_default();
        let before = change.old.as_ref().map(|old| old.annotation(ANNOTATION).unwrap_or_default());
        if before == Some(wanted) {
            return;
        }
        let fault = wanted.parse().unwrap_or_else(|error: windlass_simulator::UnknownFault| {
            recorder.warning(cluster.as_ref(), UNKNOWN, format!("{ANNOTATION}: {error}"));
            Fault::None
        });
        switch.set(fault);
    });
}
