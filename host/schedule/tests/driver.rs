//! Whole stories: tests/cases/driver/*.json. Each step changes something or lets time pass, and says what the scheduler
//! decides, writes and tells then, and what waits where. Every story is told with a watch that is quicker than the answers
//! to writes, and with one that lags behind.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise; clippy exempts only the test functions themselves"
)]

mod fakes;
mod world;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use windlass_object::patch::apply_merge_patch;
use windlass_object::path::{list_at, str_at};
use windlass_schedule::driver::Settings;
use windlass_schedule::gates::Gates;
use windlass_schedule::profile::ProfileSpec;
use windlass_schedule::queue::Key;
use world::{Watch, World};

/// What a step may do, and what may be expected of it.
const STEP: [&str; 8] = ["at", "clusters", "bindings", "meanwhile", "restart", "expect", "why", "name"];
const EXPECT: [&str; 9] =
    ["decided", "writes", "events", "placed", "queue", "condition", "message", "status", "next"];

#[test]
fn stories() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/driver");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let (mut told, mut wrong) = (0, Vec::new());
    for file in files {
        let stories: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(&file).unwrap())
            .unwrap_or_else(|why| panic!("{}: {why}", file.display()));
        for story in &stories {
            for watch in [Watch::Quick, Watch::Late] {
                told += 1;
                let name = format!(
                    "{} / {} / {watch:?}",
                    file.file_stem().unwrap().display(),
                    str_at(story, &["name"])
                );
                wrong.extend(tell(story, watch).into_iter().map(|why| format!("{name}: {why}")));
            }
        }
    }
    assert!(told > 100, "only {told} stories were told");
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
}

fn tell(story: &Value, watch: Watch) -> Vec<String> {
    let gates = Gates::parse(str_at(story, &["gates"])).unwrap();
    let settings = Settings { gates, empty_workload_propagation: story["emptyWorkloadPropagation"] == true };
    let standard = ProfileSpec::standard(gates);
    let mut world = World::new(settings, watch, move || {
        let names: Vec<&str> = standard.filters.iter().map(|plugin| plugin.name.as_str()).collect();
        fakes::profile_of(&names)
    });
    let mut words: BTreeMap<String, Value> = BTreeMap::new();
    let mut wrong = Vec::new();
    for (number, step) in list_at(story, &["steps"]).iter().enumerate() {
        for key in step.as_object().unwrap().keys() {
            assert!(STEP.contains(&key.as_str()), "a step can't {key:?}");
        }
        if let Some(at) = step["at"].as_f64() {
            world.now = Duration::from_secs_f64(at);
        }
        act(&mut world, &mut words, step);
        world.settle();
        let differences = differences(&mut world, &step["expect"]);
        wrong.extend(differences.into_iter().map(|why| format!("step {}: {why}", number + 1)));
    }
    wrong
}

fn act(world: &mut World, words: &mut BTreeMap<String, Value>, step: &Value) {
    if step["restart"] == true {
        world.restart();
    }
    let changes = |key: &str| step[key].as_object().cloned().unwrap_or_default();
    if let Some((name, change)) = changes("meanwhile").into_iter().next() {
        world.meanwhile = Some((key(&name), change));
    }
    for (name, change) in changes("clusters") {
        if change.is_null() {
            words.remove(&name);
            world.cluster(&name, None);
            continue;
        }
        let held = words.entry(name.clone()).or_insert_with(|| json!({}));
        apply_merge_patch(held, &change);
        let cluster = world::cluster(&name, held);
        world.cluster(&name, Some(cluster));
    }
    for (name, change) in changes("bindings") {
        let key = key(&name);
        let binding = match (change.is_null(), world.bindings.get(&key)) {
            (true, _) => None,
            (_, None) => Some(world::binding(&name, &change)),
            (_, Some(held)) => {
                let mut changed = (**held).clone();
                apply_merge_patch(&mut changed, &change);
                Some(changed)
            }
        };
        world.binding(&key, binding);
    }
}

fn key(name: &str) -> Key {
    format!("shop/{name}").into()
}

fn differences(world: &mut World, expect: &Value) -> Vec<String> {
    let empty = serde_json::Map::new();
    let expect = expect.as_object().unwrap_or(&empty);
    for key in expect.keys() {
        assert!(EXPECT.contains(&key.as_str()), "nothing is known about {key:?}");
    }
    let decided = std::mem::take(&mut world.decided);
    let writes = std::mem::take(&mut world.writes);
    let events = std::mem::take(&mut world.events);
    let mut wrong = Vec::new();
    let mut check = |what: &str, got: Value, want: &Value| {
        if got != *want {
            wrong.push(format!("{what}\n  got  {got}\n  want {want}"));
        }
    };
    for (what, got) in [("decided", json!(decided)), ("writes", json!(writes)), ("events", json!(events))] {
        if let Some(want) = expect.get(what) {
            check(what, got, want);
        }
    }
    if let Some(want) = expect.get("next") {
        check("next", json!(world.driver.next_tick().map(|tick| tick.as_secs_f64())), want);
    }
    let of = |what: &str| expect.get(what).and_then(Value::as_object).cloned().unwrap_or_default();
    for (name, want) in of("placed") {
        check(&format!("placed {name}"), world.placed(&key(&name)).into(), &want);
    }
    for (name, want) in of("queue") {
        check(&format!("queue of {name}"), json!(world.driver.queue().place(&key(&name))), &want);
    }
    for (name, want) in of("condition") {
        check(&format!("condition of {name}"), condition(world, &name, &["status", "reason"]), &want);
    }
    for (name, want) in of("message") {
        check(&format!("message of {name}"), condition(world, &name, &["message"]), &want);
    }
    for (name, want) in of("status") {
        for (field, want) in want.as_object().unwrap() {
            let held = world.bindings.get(&key(&name)).map(|binding| binding["status"][field].clone());
            check(&format!("{field} of {name}"), json!(held), want);
        }
    }
    wrong
}

fn condition(world: &World, name: &str, fields: &[&str]) -> Value {
    let Some(binding) = world.bindings.get(&key(name)) else { return Value::Null };
    let conditions = list_at(binding, &["status", "conditions"]);
    let Some(found) = conditions.iter().find(|one| one["type"] == "Scheduled") else { return Value::Null };
    let texts: Vec<&str> = fields.iter().map(|field| str_at(found, &[field])).collect();
    texts.join(" ").into()
}
