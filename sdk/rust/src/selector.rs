//! Kubernetes' matching rules for the shared records: tolerations, requirements, label selectors.

use crate::{LabelSelector, Requirement, Taint, Toleration};
use std::fmt;

impl Toleration {
    /// Whether this toleration covers the taint: an empty key with `Exists` covers all, an empty effect any effect,
    /// an empty operator is `Equal`.
    pub fn tolerates(&self, taint: &Taint) -> bool {
        if !self.effect.is_empty() && self.effect != taint.effect {
            return false;
        }
        if !self.key.is_empty() && self.key != taint.key {
            return false;
        }
        match self.operator.as_str() {
            "" | "Equal" => self.value == taint.value,
            "Exists" => true,
            _ => false,
        }
    }
}

/// As kubectl shows a taint: `key=value:effect`, or `key:effect` without a value.
impl fmt::Display for Taint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.value.is_empty() {
            write!(f, "{}:{}", self.key, self.effect)
        } else {
            write!(f, "{}={}:{}", self.key, self.value, self.effect)
        }
    }
}

impl Requirement {
    /// Whether the requirement holds for a value; `None` means that the key is absent. An unknown operator never holds.
    pub fn matches(&self, value: Option<&str>) -> bool {
        let listed = |value: &str| self.values.iter().any(|wanted| wanted == value);
        match self.operator.as_str() {
            "In" => value.is_some_and(listed),
            "NotIn" => !value.is_some_and(listed),
            "Exists" => value.is_some(),
            "DoesNotExist" => value.is_none(),
            _ => false,
        }
    }
}

impl LabelSelector {
    /// Whether all parts of the selector hold; an empty selector holds for everything.
    pub fn matches<'a>(&self, label: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.match_labels.iter().all(|(key, value)| label(key) == Some(value.as_str()))
            && self.match_expressions.iter().all(|requirement| requirement.matches(label(&requirement.key)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn toleration(key: &str, operator: &str, value: &str, effect: &str) -> Toleration {
        Toleration {
            key: key.into(),
            operator: operator.into(),
            value: value.into(),
            effect: effect.into(),
            toleration_seconds: None,
        }
    }

    #[test]
    fn tolerations_follow_core_v1() {
        let taint = Taint { key: "k".into(), value: "v".into(), effect: "NoSchedule".into() };
        for (key, operator, value, effect, expected) in [
            ("k", "", "v", "", true),
            ("k", "Equal", "v", "NoSchedule", true),
            ("k", "Equal", "w", "NoSchedule", false),
            ("k", "Exists", "", "NoExecute", false),
            ("k", "Exists", "", "", true),
            ("", "Exists", "", "", true),
            ("x", "Exists", "", "", false),
            ("k", "Gt", "v", "", false),
        ] {
            assert_eq!(
                toleration(key, operator, value, effect).tolerates(&taint),
                expected,
                "{key} {operator} {value} {effect}"
            );
        }
        assert_eq!(taint.to_string(), "k=v:NoSchedule");
    }

    #[test]
    fn selectors_match() {
        let requirement = |operator: &str, values: &[&str]| Requirement {
            key: "tier".into(),
            operator: operator.into(),
            values: values.iter().map(|v| v.to_string()).collect(),
        };
        assert!(requirement("NotIn", &["a"]).matches(None));
        assert!(!requirement("NotIn", &["a"]).matches(Some("a")));
        assert!(requirement("In", &["a", "b"]).matches(Some("b")));
        assert!(!requirement("Exists", &[]).matches(None));
        assert!(requirement("DoesNotExist", &[]).matches(None));
        let selector = LabelSelector {
            match_labels: vec![("app".into(), "x".into())],
            match_expressions: vec![requirement("In", &["a"])],
        };
        assert!(selector.matches(|key| match key {
            "app" => Some("x"),
            "tier" => Some("a"),
            _ => None,
        }));
        assert!(!selector.matches(|key| match key {
            "app" => Some("x"),
            _ => None,
        }));
    }
}
