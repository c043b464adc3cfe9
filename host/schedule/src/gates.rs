//! Feature gates of the scheduler, with the reference's names and defaults.

use std::fmt::{self, Write as _};

/// How far a feature is. `AllAlpha` and `AllBeta` set all of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Alpha,
    Beta,
}

macro_rules! gates {
    ($($(#[$doc:meta])* $field:ident = $name:literal, $default:literal, $stage:ident;)*) => {
        /// Which features are on.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct Gates {
            $($(#[$doc])* pub $field: bool,)*
        }

        impl Default for Gates {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        const KNOWN: &[(&str, bool, Stage)] = &[$(($name, $default, Stage::$stage),)*];

        impl Gates {
            fn field(&mut self, name: &str) -> Option<&mut bool> {
                match name {
                    $($name => Some(&mut self.$field),)*
                    _ => None,
                }
            }
        }
    };
}

gates! {
    /// Bindings of higher priority are scheduled first, and failures wait as long as their kind calls for; off: in order
    /// of arrival, with one rate limit for all failures.
    priorities = "PriorityBasedScheduling", true, Beta;
    /// Estimates count nodes by a cluster's resource models.
    models = "CustomizedClusterResourceModeling", true, Beta;
    /// Complete sets of components are placed together.
    components = "MultiplePodTemplatesScheduling", false, Alpha;
    /// Bindings of a group keep together, or apart.
    workload_affinity = "WorkloadAffinity", false, Alpha;
    /// What was placed a moment ago counts as used until its cluster reports it.
    overcommit_protection = "SchedulingOvercommitProtection", false, Alpha;
    /// Estimators in members look at quotas.
    quota_estimate = "ResourceQuotaEstimate", false, Alpha;
    /// Applications move away from clusters that fail.
    failover = "Failover", false, Beta;
    /// Clusters are left only when the replacement runs.
    graceful_eviction = "GracefulEviction", true, Beta;
}

/// Why a text is no list of gates.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GateError {
    /// Not `NAME=true` or `NAME=false`.
    #[error("{0:?} is not NAME=true or NAME=false")]
    Malformed(String),
    /// A value that is neither true nor false.
    #[error("{name}={value}: expected true or false")]
    Value {
        /// The gate.
        name: String,
        /// What was given.
        value: String,
    },
    /// No such gate.
    #[error("there is no feature gate {name:?}; there are: {known}")]
    Unknown {
        /// What was given.
        name: String,
        /// All names, with their defaults.
        known: String,
    },
}

impl Gates {
    /// Reads `NAME=true,NAME=false`, as `--feature-gates` has it; what isn't named has its default. A gate that is named
    /// twice is as it was named last; `AllAlpha` and `AllBeta` count for those that aren't named.
    ///
    /// # Errors
    /// A name that isn't known, or a value that is neither true nor false.
    pub fn parse(text: &str) -> Result<Self, GateError> {
        let mut named = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').ok_or_else(|| GateError::Malformed(part.to_owned()))?;
            let (name, value) = (name.trim(), value.trim());
            let on = match value.to_ascii_lowercase().as_str() {
                "true" | "t" | "1" => true,
                "false" | "f" | "0" => false,
                _ => return Err(GateError::Value { name: name.to_owned(), value: value.to_owned() }),
            };
            named.push((name, on));
        }
        let mut gates = Self::default();
        for (name, on) in &named {
            let stage = match *name {
                "AllAlpha" => Stage::Alpha,
                "AllBeta" => Stage::Beta,
                _ => continue,
            };
            for (known, _, of) in KNOWN {
                if *of == stage
                    && let Some(field) = gates.field(known)
                {
                    *field = *on;
                }
            }
        }
        for (name, on) in named {
            match gates.field(name) {
                Some(field) => *field = on,
                None if matches!(name, "AllAlpha" | "AllBeta") => {}
                None => return Err(GateError::Unknown { name: name.to_owned(), known: Self::known() }),
            }
        }
        Ok(gates)
    }

    /// All names with their defaults, for `--help` and errors.
    pub fn known() -> String {
        KNOWN.iter().fold(String::new(), |mut text, (name, default, _)| {
            let comma = if text.is_empty() { "" } else { ", " };
            // Writing to a String cannot fail.
            let _ = write!(text, "{comma}{name} ({default})");
            text
        })
    }
}

impl fmt::Display for Gates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut gates = *self;
        for (index, (name, ..)) in KNOWN.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma}{name}={}", gates.field(name).is_some_and(|on| *on))?;
        }
        Ok(())
    }
}

impl std::str::FromStr for Gates {
    type Err = GateError;

    fn from_str(text: &str) -> Result<Self, GateError> {
        Self::parse(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_the_references() {
        let text = "PriorityBasedScheduling=true,CustomizedClusterResourceModeling=true,\
            MultiplePodTemplatesScheduling=false,WorkloadAffinity=false,SchedulingOvercommitProtection=false,\
            ResourceQuotaEstimate=false,Failover=false,GracefulEviction=true";
        assert_eq!(Gates::default().to_string(), text);
        assert_eq!(Gates::parse(""), Ok(Gates::default()));
        assert_eq!(Gates::parse(text), Ok(Gates::default()));
    }

    #[test]
    fn gates_by_name_and_by_stage() {
        let gates = Gates::parse("WorkloadAffinity=true, Failover=TRUE").unwrap();
        assert!(gates.workload_affinity && gates.failover && !gates.components);
        let gates = Gates::parse("Failover=true,AllAlpha=true,AllBeta=false,WorkloadAffinity=false").unwrap();
        assert!(gates.components && gates.failover && !gates.workload_affinity && !gates.priorities);
    }

    #[test]
    fn mistakes_are_named() {
        let words = |text: &str| Gates::parse(text).unwrap_err().to_string();
        assert_eq!(words("Failover"), "\"Failover\" is not NAME=true or NAME=false");
        assert_eq!(words("Failover=yes"), "Failover=yes: expected true or false");
        let unknown = words("Fallover=true");
        assert!(
            unknown.starts_with("there is no feature gate \"Fallover\"; there are: Priority"),
            "{unknown}"
        );
        assert!(unknown.contains("Failover (false)"), "{unknown}");
    }
}
