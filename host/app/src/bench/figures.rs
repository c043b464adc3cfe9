//! A bench's result: names, figures, targets.

use serde_json::{Value, json};

/// What one bench found.
pub(super) struct Figures {
    title: String,
    rows: Vec<(String, String, String)>,
}

impl Figures {
    pub(super) fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), rows: Vec::new() }
    }

    /// A figure without a target.
    pub(super) fn add(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.rows.push((name.into(), value.into(), String::new()));
    }

    /// A figure with its target.
    pub(super) fn target(&mut self, name: impl Into<String>, value: impl Into<String>, target: &str) {
        self.rows.push((name.into(), value.into(), format!("target {target}")));
    }

    pub(super) fn render(&self) -> String {
        let width = self.rows.iter().map(|(name, ..)| name.chars().count()).max().unwrap_or(0);
        let mut out = format!("\n{}\n", self.title);
        for (name, value, target) in &self.rows {
            out.push_str(format!("  {name:<width$}   {value:>14}   {target}").trim_end());
            out.push('\n');
        }
        out
    }

    pub(super) fn json(&self) -> Value {
        let rows: Vec<Value> = self
            .rows
            .iter()
            .map(|(name, value, target)| json!({"name": name, "value": value, "target": target}))
            .collect();
        json!({"bench": self.title, "figures": rows})
    }
}

/// Seconds that all threads of this process have spent on a core so far; 0 where the system doesn't tell.
pub(super) fn cpu_seconds() -> f64 {
    // Linux counts in hundredths here, whatever the kernel's own clock.
    const TICKS: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, in parentheses, may hold spaces.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: f64 = fields.skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum();
    ticks / TICKS
}

/// Resident memory of this process, in MB; 0 where the system doesn't tell.
pub(super) fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) / 1024
}
