//! What is counted elsewhere, shown among the metrics when they are asked for.

use crate::meter::Meter;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use windlass_engine::{Plugins, Snapshot};
use windlass_runtime::metrics::Metrics;

/// A counter of plugins: name, help, where it is read.
type Family = (&'static str, &'static str, fn(&Snapshot) -> u64);

const PLUGINS: [Family; 4] = [
    ("windlass_plugin_calls", "Calls of a plugin", |counters| counters.calls),
    ("windlass_plugin_errors", "Errors that a plugin reported", |counters| counters.errors),
    ("windlass_plugin_traps", "Crashes of a plugin", |counters| counters.traps),
    ("windlass_plugin_timeouts", "Calls of a plugin that took too long", |counters| counters.timeouts),
];

#[derive(Debug)]
struct Counters {
    plugins: Plugins,
    meter: Meter,
}

impl Collector for Counters {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let statuses = self.plugins.status();
        for (name, help, read) in PLUGINS {
            let mut family = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
            for status in &statuses {
                let labels = [("plugin", status.name.as_str())];
                ConstCounter::new(read(&status.counters)).encode(family.encode_family(&labels)?)?;
            }
        }
        let help = "Writes of controllers to the control plane's API";
        let mut family =
            encoder.encode_descriptor("windlass_controller_writes", help, None, MetricType::Counter)?;
        for ((verb, resource, refused), count) in self.meter.read() {
            let refused = if refused { "true" } else { "false" };
            let labels = [("verb", verb), ("resource", resource.as_str()), ("refused", refused)];
            ConstCounter::new(count).encode(family.encode_family(&labels)?)?;
        }
        Ok(())
    }
}

/// Adds them to the process's metrics.
pub(crate) fn register(metrics: &Metrics, plugins: Plugins, meter: Meter) {
    metrics.with(|registry| registry.register_collector(Box::new(Counters { plugins, meter })));
}
