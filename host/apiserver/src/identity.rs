//! Who asks. Made by the front from a certificate or token, or given by the caller
//! of an in-process service.

use std::collections::BTreeMap;

/// The group that may do everything.
pub const SYSTEM_MASTERS: &str = "system:masters";

/// A user as Kubernetes knows one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// `system:serviceaccount:ns:name`, a certificate's CN, …
    pub user: String,
    /// The user's uid; empty if unknown.
    pub uid: String,
    /// All groups, `system:authenticated` included.
    pub groups: Vec<String>,
    /// Extra attributes of the authenticator.
    pub extra: BTreeMap<String, Vec<String>>,
}

impl Identity {
    /// A user of these groups; `system:authenticated` is added.
    pub fn new(user: &str, groups: &[&str]) -> Self {
        let mut groups: Vec<String> = groups.iter().map(|g| (*g).to_owned()).collect();
        groups.push("system:authenticated".into());
        Self { user: user.into(), groups, ..Self::default() }
    }

    /// The process itself: may do everything.
    pub fn system() -> Self {
        Self::new("system:windlass", &[SYSTEM_MASTERS])
    }

    /// Somebody without credentials.
    pub fn anonymous() -> Self {
        Self {
            user: "system:anonymous".into(),
            groups: vec!["system:unauthenticated".into()],
            ..Self::default()
        }
    }

    /// May do everything.
    pub fn is_master(&self) -> bool {
        self.groups.iter().any(|g| g == SYSTEM_MASTERS)
    }
}
