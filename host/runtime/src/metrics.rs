//! Metrics: one registry per process, the families that everybody needs, and helpers to make others.

use std::fmt::Debug;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

/// A family of histograms with the buckets of this module.
pub type Durations<L> = Family<L, Histogram, fn() -> Histogram>;

/// The process's registry. Cheap to clone.
#[derive(Clone, Default)]
pub struct Metrics {
    registry: Arc<Mutex<Registry>>,
}

impl Metrics {
    /// An empty registry.
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers counters by label set; a name without `_total`, which the text form adds.
    pub fn counters<L>(&self, name: &str, help: &str) -> Family<L, Counter>
    where
        L: EncodeLabelSet + Clone + Debug + Eq + Hash + Send + Sync + 'static,
    {
        let family = Family::<L, Counter>::default();
        self.with(|r| r.register(name, help, family.clone()));
        family
    }

    /// Registers gauges by label set.
    pub fn gauges<L>(&self, name: &str, help: &str) -> Family<L, Gauge>
    where
        L: EncodeLabelSet + Clone + Debug + Eq + Hash + Send + Sync + 'static,
    {
        let family = Family::<L, Gauge>::default();
        self.with(|r| r.register(name, help, family.clone()));
        family
    }

    /// Registers histograms of seconds by label set, with buckets from 1 ms to 2 s, each double the last.
    pub fn durations<L>(&self, name: &str, help: &str) -> Durations<L>
    where
        L: EncodeLabelSet + Clone + Debug + Eq + Hash + Send + Sync + 'static,
    {
        let family = Durations::<L>::new_with_constructor(seconds);
        self.with(|r| r.register(name, help, family.clone()));
        family
    }

    /// Registers one counter.
    pub fn counter(&self, name: &str, help: &str) -> Counter {
        let counter = Counter::default();
        self.with(|r| r.register(name, help, counter.clone()));
        counter
    }

    /// Registers one gauge.
    pub fn gauge(&self, name: &str, help: &str) -> Gauge {
        let gauge = Gauge::default();
        self.with(|r| r.register(name, help, gauge.clone()));
        gauge
    }

    /// Changes the registry itself, for what the helpers lack.
    pub fn with<T>(&self, f: impl FnOnce(&mut Registry) -> T) -> T {
        f(&mut self.registry.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// All metrics as OpenMetrics text.
    pub fn encode(&self) -> Result<String, std::fmt::Error> {
        let mut out = String::new();
        self.with(|r| text::encode(&mut out, r))?;
        Ok(out)
    }
}

fn seconds() -> Histogram {
    Histogram::new(exponential_buckets(0.001, 2.0, 12))
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct QueueLabels {
    name: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct WorkLabels {
    name: &'static str,
    result: &'static str,
}

/// What queues report, by the names that dashboards know.
#[derive(Clone)]
pub struct QueueMetrics {
    depth: Family<QueueLabels, Gauge>,
    adds: Family<QueueLabels, Counter>,
    retries: Family<QueueLabels, Counter>,
    latency: Durations<QueueLabels>,
    work: Durations<WorkLabels>,
}

impl QueueMetrics {
    /// Registers the families.
    pub fn new(metrics: &Metrics) -> Self {
        Self {
            depth: metrics.gauges("workqueue_depth", "Keys that are ready and wait for a worker"),
            adds: metrics.counters("workqueue_adds", "Keys that became ready"),
            retries: metrics.counters("workqueue_retries", "Keys that came back after a failure"),
            latency: metrics
                .durations("workqueue_queue_duration_seconds", "How long ready keys wait for a worker"),
            work: metrics.durations("workqueue_work_duration_seconds", "How long a reconcile takes"),
        }
    }

    pub(crate) fn added(&self, name: &'static str) {
        self.adds.get_or_create(&QueueLabels { name }).inc();
        self.depth.get_or_create(&QueueLabels { name }).inc();
    }

    pub(crate) fn retried(&self, name: &'static str) {
        self.retries.get_or_create(&QueueLabels { name }).inc();
    }

    pub(crate) fn taken(&self, name: &'static str, waited: Duration) {
        self.depth.get_or_create(&QueueLabels { name }).dec();
        self.latency.get_or_create(&QueueLabels { name }).observe(waited.as_secs_f64());
    }

    pub(crate) fn worked(&self, name: &'static str, took: Duration, failed: bool) {
        let result = if failed { "error" } else { "success" };
        self.work.get_or_create(&WorkLabels { name, result }).observe(took.as_secs_f64());
    }
}
