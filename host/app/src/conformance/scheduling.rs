//! Fleets and bindings through the shipped filters and scores: with the memory of answers, without, and with an
//! explanation. All three must decide alike.

use super::report::Tally;
use crate::plugins::Loaded;
use anyhow::anyhow;
use serde_json::json;
use windlass_schedule::plugin::{DEFAULT_FILTERS, DEFAULT_SCORES};
use windlass_schedule::vectors::{Deviations, Fleet, read_bench, read_set, verdict};
use windlass_schedule::{Memory, Options, Profile};

/// The folder whose cases want the gate `MultiplePodTemplatesScheduling`.
const COMPONENTS: &str = "components";

/// `fleets.json` and `cases.ndjson`.
pub(super) fn set(
    name: &str,
    fleets: &str,
    cases: &str,
    loaded: &Loaded,
    deviations: Deviations,
) -> anyhow::Result<Tally> {
    let components = name.split('/').any(|part| part == COMPONENTS);
    let mut tally = Tally::new(name, deviations);
    for fleet in read_set(fleets, cases).map_err(|why| anyhow!(why))? {
        run(&fleet, Options { components, ..Options::default() }, loaded, &mut tally)?;
    }
    Ok(tally)
}

/// `bench-*.json`.
pub(super) fn bench(
    name: &str,
    text: &str,
    loaded: &Loaded,
    deviations: Deviations,
) -> anyhow::Result<Tally> {
    let mut tally = Tally::new(name, deviations);
    let fleet = read_bench(text).map_err(|why| anyhow!(why))?;
    run(&fleet, Options::default(), loaded, &mut tally)?;
    Ok(tally)
}

fn run(fleet: &Fleet, options: Options, loaded: &Loaded, tally: &mut Tally) -> anyhow::Result<()> {
    let table = fleet.table();
    // A worker follows one table: profiles of its own for each fleet.
    let (mut remembering, mut forgetful) = (profile(loaded)?, profile(loaded)?);
    forgetful.memory = Memory::off();
    for case in &fleet.cases {
        let outcome = case.run(&table, options, &mut remembering);
        let got = verdict(&outcome);
        let again = case.run(&table, options, &mut forgetful);
        let explained = case.run(&table, Options { explain: true, ..options }, &mut remembering);
        for (how, other) in [("memory off", again), ("explained", explained)] {
            if other.result != outcome.result {
                tally.fault(&case.id, json!({ how: verdict(&other) }), json!({"memory on": got}));
            }
        }
        tally.case(&case.id, &case.value, got, case.expected());
    }
    Ok(())
}

/// The shipped filters and scores, with instances of their own.
pub(crate) fn profile(loaded: &Loaded) -> anyhow::Result<Profile> {
    let profile = loaded.plugins.profile(&DEFAULT_FILTERS, &DEFAULT_SCORES);
    profile.map_err(|missing| anyhow!("these plugins are not loaded: {}", missing.join(", ")))
}
