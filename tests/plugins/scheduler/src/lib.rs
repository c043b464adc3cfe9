//! A filter and score that does what the binding's name says. It implements the interface itself, for the SDK would not
//! let it answer wrongly.
#![allow(clippy::panic, clippy::unwrap_used, reason = "a guest's panic is what is to be tested")]

use std::cell::Cell;
use std::hint::black_box;
use windlass_sdk::bindings::scheduler::exports::windlass::scheduler::plugin::Guest;
use windlass_sdk::scheduler::*;

/// The plugin.
pub struct Misbehaving;

thread_local! {
    static GENERATION: Cell<Option<u64>> = const { Cell::new(None) };
    static CLUSTERS: Cell<u32> = const { Cell::new(0) };
    static CALLS: Cell<u32> = const { Cell::new(0) };
    static LOCATED: Cell<u64> = const { Cell::new(0) };
}

impl Guest for Misbehaving {
    fn describe() -> Description {
        let points = ExtensionPoints::FILTER | ExtensionPoints::SCORE | ExtensionPoints::NORMALIZE;
        let bindings = BindingFields::RESOURCE | BindingFields::REPLICAS;
        Description::of("Misbehaving", "0.1.0", points, ClusterFields::LABELS, bindings)
    }

    fn init(config: String) -> Result<(), Error> {
        match config.as_str() {
            "\"trap\"" => panic!("asked to"),
            "\"loop\"" => endless(),
            "\"refuse\"" => Err("this configuration is refused".into()),
            _ => Ok(()),
        }
    }

    fn sync(generation: u64, upserts: Vec<Cluster>, removes: Vec<ClusterId>) -> Result<(), Error> {
        for cluster in &upserts {
            CLUSTERS.set(CLUSTERS.get().max(cluster.id + 1));
            let bit = 1u64 << (cluster.id % 64);
            LOCATED.set(if cluster.region.is_empty() { LOCATED.get() & !bit } else { LOCATED.get() | bit });
            if cluster.labels.iter().any(|(key, _)| key == "trap-on-sync") {
                panic!("asked to");
            }
        }
        let _ = removes;
        GENERATION.set(Some(generation));
        Ok(())
    }

    fn filter(generation: u64, binding: Binding, candidates: Candidates) -> Result<Vec<u64>, Error> {
        if GENERATION.get() != Some(generation) {
            return Err(Error::Stale);
        }
        let count = match candidates {
            Candidates::All => CLUSTERS.get() as usize,
            Candidates::These(ids) => ids.len(),
        };
        CALLS.set(CALLS.get() + 1);
        let words = count.div_ceil(64);
        match binding.resource.name.as_str() {
            "trap" => panic!("asked to"),
            "loop" => endless(),
            "hog" => hog(),
            "recursion" => drop(black_box(deep(u64::MAX))),
            "huge" => return Ok(vec![u64::MAX; 4 << 20]),
            "long" => return Ok(vec![u64::MAX; words + 1]),
            "short" => return Ok(Vec::new()),
            "always-stale" => return Err(Error::Stale),
            "stale-once" if CALLS.get() == 1 => return Err(Error::Stale),
            "invalid" => return Err("binding invalid is never understood".into()),
            "internal" => return Err(Error::Internal("asked to".to_owned())),
            "chatty" => (0..1000).for_each(|line| windlass_sdk::debug(&format!("line {line}"))),
            // Looks at what it didn't declare.
            "nosy" => return Ok(vec![!LOCATED.get(); words]),
            // The table and the calls since the instance began, to be read by tests.
            "count" => return Ok(vec![u64::from(CALLS.get())]),
            _ => {}
        }
        Ok(vec![u64::MAX; words])
    }

    fn score(_: u64, binding: Binding, candidates: Candidates) -> Result<Vec<i64>, Error> {
        let ids = match candidates {
            Candidates::These(ids) => ids,
            Candidates::All if binding.resource.name == "good" => {
                return Ok(vec![100; CLUSTERS.get() as usize]);
            }
            Candidates::All => (0..CLUSTERS.get()).collect(),
        };
        Ok(match binding.resource.name.as_str() {
            "too-high" => vec![101; ids.len()],
            "negative" => vec![-1; ids.len()],
            "too-many" => vec![1; ids.len() + 1],
            "score-trap" => panic!("asked to"),
            // Makes the rescaled scores one too few.
            "thirteen" => vec![13; ids.len()],
            _ => vec![i64::from(binding.replicas); ids.len()],
        })
    }

    fn normalize(mut scores: Vec<i64>) -> Result<Vec<i64>, Error> {
        if scores.first() == Some(&13) {
            scores.pop();
        }
        Ok(scores)
    }

    fn explain(_: u64, binding: Binding, _: Candidates) -> Result<Explanation, Error> {
        let reasons = if binding.resource.name == "no-reasons" { vec![] } else { vec!["x".repeat(100_000)] };
        Ok(Explanation { reasons, refused: vec![(0, 0)] })
    }
}

fn endless() -> ! {
    loop {
        black_box(());
    }
}

fn hog() {
    let mut kept = Vec::new();
    loop {
        kept.push(black_box(vec![1u8; 1 << 20]));
    }
}

fn deep(depth: u64) -> u64 {
    if black_box(depth) == 0 { 0 } else { deep(depth - 1).wrapping_mul(31) + black_box(1) }
}

#[cfg(target_arch = "wasm32")]
mod exported {
    use super::Misbehaving;
    windlass_sdk::bindings::scheduler::__export_scheduler_world!(Misbehaving with_types_in windlass_sdk::bindings::scheduler);
}
