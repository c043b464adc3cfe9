//! Which plugins a scheduler runs, as an operator writes it: a `SchedulerProfile` object, or the defaults.

use serde_json::Value;
use windlass_object::path::{get, str_at};

use crate::gates::Gates;
use crate::plugin::{DEFAULT_FILTERS, DEFAULT_SCORES, FailurePolicy, MAX_WEIGHT};

/// Filters that run with gate `WorkloadAffinity` only, behind the others.
pub const AFFINITY_FILTERS: [&str; 2] = ["WorkloadAffinity", "WorkloadAntiAffinity"];

/// Plugins of each kind in one profile: each costs every decision a call.
const MAX_PLUGINS: usize = 32;

/// A scheduler's plugins, by name.
#[derive(Debug, Clone, PartialEq)]
pub struct ProfileSpec {
    /// Filters, in the order in which they run.
    pub filters: Vec<PluginSpec>,
    /// Scores.
    pub scores: Vec<PluginSpec>,
}

/// One plugin of a profile.
#[derive(Debug, Clone, PartialEq)]
pub struct PluginSpec {
    /// As it describes itself.
    pub name: String,
    /// By what its scores are multiplied.
    pub weight: i64,
    /// What it is configured with; nothing if it keeps what it has.
    pub config: Option<Value>,
    /// What its failure means; nothing if that stays as it is.
    pub on_failure: Option<FailurePolicy>,
}

impl PluginSpec {
    fn named(name: &str) -> Self {
        Self { name: name.to_owned(), weight: 1, config: None, on_failure: None }
    }
}

impl ProfileSpec {
    /// What runs where no object says otherwise.
    pub fn standard(gates: Gates) -> Self {
        let groups: &[&str] = if gates.workload_affinity { &AFFINITY_FILTERS } else { &[] };
        Self {
            filters: DEFAULT_FILTERS.iter().chain(groups).map(|name| PluginSpec::named(name)).collect(),
            scores: DEFAULT_SCORES.iter().map(|name| PluginSpec::named(name)).collect(),
        }
    }

    /// What a `SchedulerProfile` says; a list that it doesn't have is as without it.
    ///
    /// # Errors
    /// What is wrong with it, in words for its author.
    pub fn from_object(object: &Value, gates: Gates) -> Result<Self, String> {
        let standard = Self::standard(gates);
        Ok(Self {
            filters: plugins(object, "filters")?.unwrap_or(standard.filters),
            scores: plugins(object, "scores")?.unwrap_or(standard.scores),
        })
    }
}

fn plugins(object: &Value, list: &str) -> Result<Option<Vec<PluginSpec>>, String> {
    let Some(entries) = get(object, &["spec", list]).filter(|list| !list.is_null()) else { return Ok(None) };
    let entries = entries.as_array().ok_or_else(|| format!("spec.{list} is no list"))?;
    if entries.len() > MAX_PLUGINS {
        return Err(format!("spec.{list} has {} plugins; at most {MAX_PLUGINS} may run", entries.len()));
    }
    let mut plugins: Vec<PluginSpec> = Vec::with_capacity(entries.len());
    for (index, entry) in entries.iter().enumerate() {
        let at = format!("spec.{list}[{index}]");
        let name = str_at(entry, &["name"]);
        if name.is_empty() {
            return Err(format!("{at}.name is missing"));
        }
        if plugins.iter().any(|plugin| plugin.name == name) {
            return Err(format!("{at}.name: {name} is in the list already"));
        }
        plugins.push(PluginSpec {
            name: name.to_owned(),
            weight: weight(entry, &at)?,
            config: entry.get("config").filter(|config| !config.is_null()).cloned(),
            on_failure: on_failure(entry, &at)?,
        });
    }
    Ok(Some(plugins))
}

fn weight(entry: &Value, at: &str) -> Result<i64, String> {
    match entry.get("weight") {
        None | Some(Value::Null) => Ok(1),
        Some(weight) => weight
            .as_i64()
            .filter(|weight| (1..=MAX_WEIGHT).contains(weight))
            .ok_or_else(|| format!("{at}.weight is {weight}; expected 1 to {MAX_WEIGHT}")),
    }
}

fn on_failure(entry: &Value, at: &str) -> Result<Option<FailurePolicy>, String> {
    match entry.get("failurePolicy").and_then(Value::as_str) {
        None | Some("") => Ok(None),
        Some("Fail") => Ok(Some(FailurePolicy::Fail)),
        Some("Ignore") => Ok(Some(FailurePolicy::Ignore)),
        Some(other) => Err(format!("{at}.failurePolicy is {other:?}; expected Fail or Ignore")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn names(plugins: &[PluginSpec]) -> Vec<&str> {
        plugins.iter().map(|plugin| plugin.name.as_str()).collect()
    }

    #[test]
    fn what_an_object_leaves_out_is_standard() {
        let read =
            |spec: Value| ProfileSpec::from_object(&json!({ "spec": spec }), Gates::default()).unwrap();
        assert_eq!(read(json!({})), ProfileSpec::standard(Gates::default()));
        let profile = read(json!({"filters": [{"name": "B"}, {"name": "A", "failurePolicy": "Ignore"}]}));
        assert_eq!(
            (names(&profile.filters), names(&profile.scores)),
            (vec!["B", "A"], vec!["ClusterLocality"])
        );
        assert_eq!(profile.filters.last().and_then(|plugin| plugin.on_failure), Some(FailurePolicy::Ignore));
        let profile =
            read(json!({"scores": [{"name": "S", "weight": 3, "config": {"a": 1}}], "filters": []}));
        assert!(profile.filters.is_empty());
        assert_eq!(
            profile.scores.first().map(|score| (score.weight, score.config.clone())),
            Some((3, Some(json!({"a": 1}))))
        );
        let gates = Gates { workload_affinity: true, ..Gates::default() };
        assert!(names(&ProfileSpec::standard(gates).filters).ends_with(&AFFINITY_FILTERS));
    }

    #[test]
    fn mistakes_have_an_address() {
        let many: Vec<Value> = (0..33).map(|n| json!({"name": n.to_string()})).collect();
        let table = [
            (
                json!({"filters": [{"name": "A"}, {"name": "A"}]}),
                "spec.filters[1].name: A is in the list already",
            ),
            (json!({"filters": [{}]}), "spec.filters[0].name is missing"),
            (json!({"filters": "A"}), "spec.filters is no list"),
            (
                json!({"scores": [{"name": "S", "weight": 0}]}),
                "spec.scores[0].weight is 0; expected 1 to 1000000",
            ),
            (
                json!({"scores": [{"name": "S", "weight": "1"}]}),
                "spec.scores[0].weight is \"1\"; expected 1 to 1000000",
            ),
            (
                json!({"scores": [{"name": "S", "failurePolicy": "No"}]}),
                "spec.scores[0].failurePolicy is \"No\"; expected Fail or Ignore",
            ),
            (json!({ "scores": many }), "spec.scores has 33 plugins; at most 32 may run"),
        ];
        for (spec, words) in table {
            let error = ProfileSpec::from_object(&json!({ "spec": spec }), Gates::default());
            assert_eq!(error.unwrap_err(), words);
        }
    }
}
