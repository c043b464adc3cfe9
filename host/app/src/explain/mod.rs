//! `windlass explain`: where a binding goes and why not elsewhere, by the plugins themselves, on objects of a running
//! control plane or of files.

mod read;

use crate::cli::{Explain, Output};
use crate::plugins;
use anyhow::{Context as _, bail};
use read::World;
use serde_json::{Value, json};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use windlass_object::meta::Meta;
use windlass_object::path::bool_at;
use windlass_schedule::decide::{self, Trigger};
use windlass_schedule::driver::{Driver, Settings};
use windlass_schedule::pass::Plan;
use windlass_schedule::profile::ProfileSpec;

/// The moment in which everything happens here.
const NOW: Duration = Duration::ZERO;

/// Reads the objects, decides, prints.
pub(crate) async fn run(args: Explain) -> anyhow::Result<ExitCode> {
    let world = match args.files.as_slice() {
        [] => World::of_server(&args).await?,
        files => World::of_files(files)?,
    };
    let bindings = world.chosen(args.binding.as_deref())?;
    let settings = Settings {
        gates: args.gates.feature_gates.unwrap_or_default(),
        empty_workload_propagation: args.gates.enable_empty_workload_propagation,
    };
    let mut driver = driver(&world, &bindings, settings)?;
    for binding in bindings {
        let told = explain(&mut driver, &binding, settings)?;
        match args.output {
            Output::Json => anstream::println!("{}", serde_json::to_string_pretty(&told.json(&driver))?),
            Output::Table => anstream::print!("{}", told.text(&driver)),
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A scheduler that knows all of it, with the plugins that the profiles name.
fn driver(world: &World, bindings: &[Arc<Value>], settings: Settings) -> anyhow::Result<Driver> {
    let loaded = plugins::load_for(settings.gates)?;
    let build = loaded.build();
    let mut driver = Driver::new(settings);
    for binding in bindings {
        let name = decide::scheduler_of(binding);
        if driver.schedulers().any(|have| have == name) {
            continue;
        }
        let spec = match world.profiles.iter().find(|profile| profile.name() == name) {
            Some(profile) => ProfileSpec::from_object(profile, settings.gates)
                .map_err(|why| anyhow::anyhow!("SchedulerProfile {name}: {why}"))?,
            None => ProfileSpec::standard(settings.gates),
        };
        let profile = build(&spec).map_err(|why| anyhow::anyhow!("scheduler {name}: {why}"))?;
        driver.set_profile(name, profile);
    }
    for cluster in &world.clusters {
        driver.on_cluster(cluster, NOW);
    }
    for binding in &world.bindings {
        driver.on_binding(&key(binding).into(), Some(binding), NOW);
    }
    Ok(driver)
}

fn key(binding: &Value) -> String {
    windlass_api::names::namespaced(binding.namespace(), binding.name())
}

/// What there is to tell about one binding.
struct Told {
    binding: Arc<Value>,
    /// Why the scheduler leaves it alone, if it does.
    left: Option<String>,
    trigger: Trigger,
    plan: Plan,
}

fn explain(driver: &mut Driver, binding: &Arc<Value>, settings: Settings) -> anyhow::Result<Told> {
    let key = key(binding);
    if binding.pointer("/spec/placement").is_none_or(Value::is_null) {
        bail!("{} {key} has no spec.placement: no policy has claimed its template", binding.kind());
    }
    let scheduler = decide::scheduler_of(binding);
    let trigger = decide::trigger(binding, driver.table(), settings.gates.components);
    let left = if !decide::is_handled(binding, scheduler) {
        let why = if bool_at(binding, &["spec", "suspension", "scheduling"]) {
            "its scheduling is suspended"
        } else {
            "it belongs to no policy"
        };
        Some(format!("{why}: no scheduler places it; this is what a pass would do"))
    } else {
        match trigger {
            Trigger::Deleting => Some("it is being deleted".to_owned()),
            Trigger::Skip(_) => {
                Some("it is placed as it should be; a pass would be made only on a change".to_owned())
            }
            _ => None,
        }
    };
    let plan =
        driver.explain(binding, NOW).with_context(|| format!("no scheduler {scheduler:?} for {key}"))?;
    Ok(Told { binding: binding.clone(), left, trigger, plan })
}

impl Told {
    fn json(&self, driver: &Driver) -> Value {
        let passes: Vec<Value> = self
            .plan
            .passes
            .iter()
            .map(
                |(group, outcome)| json!({"affinityName": group, "outcome": outcome.explain(driver.table())}),
            )
            .collect();
        let condition = self.plan.verdict.condition(self.binding.generation());
        let targets: Vec<Value> = self.plan.targets.iter().map(|target| target.to_value()).collect();
        json!({
            "kind": self.binding.kind(), "namespace": self.binding.namespace(), "name": self.binding.name(),
            "scheduler": decide::scheduler_of(&self.binding), "trigger": self.trigger.word(),
            "left": self.left, "placed": self.binding.pointer("/spec/clusters"),
            "verdict": {"status": condition.status, "reason": condition.reason, "message": condition.message},
            "affinityName": self.plan.affinity_name, "clusters": targets, "passes": passes,
        })
    }

    fn text(&self, driver: &Driver) -> String {
        use std::fmt::Write as _;
        let condition = self.plan.verdict.condition(self.binding.generation());
        let mut text = format!("{} {}", self.binding.kind(), key(&self.binding));
        // Writing to a String cannot fail.
        let _ = writeln!(text, ", by scheduler {}", decide::scheduler_of(&self.binding));
        if let Some(left) = &self.left {
            let _ = writeln!(text, "{left}");
        }
        for (group, outcome) in &self.plan.passes {
            if !group.is_empty() {
                let _ = writeln!(text, "\nAffinity group {group}");
            }
            text.push('\n');
            text.push_str(&windlass_schedule::explain::render(&outcome.explain(driver.table())));
        }
        let _ = writeln!(text, "\n{}: {}", condition.reason, condition.message);
        text
    }
}
