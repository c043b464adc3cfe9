//! Groups of binding fields: what a plugin says that it reads.

use std::ops::{BitOr, BitOrAssign};

/// A set of groups of binding fields, as the plugin interface has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct BindingFields(u16);

impl BindingFields {
    /// `resource`, all of it.
    pub const RESOURCE: Self = Self(1);
    /// `targets`.
    pub const TARGETS: Self = Self(1 << 1);
    /// `evictions`.
    pub const EVICTIONS: Self = Self(1 << 2);
    /// `affinity`.
    pub const AFFINITY: Self = Self(1 << 3);
    /// `tolerations`.
    pub const TOLERATIONS: Self = Self(1 << 4);
    /// `spread`.
    pub const SPREAD: Self = Self(1 << 5);
    /// `replicas` and `workload`.
    pub const REPLICAS: Self = Self(1 << 6);
    /// `peers`.
    pub const PEERS: Self = Self(1 << 7);
    /// Of `resource` just API version and kind.
    pub const KIND: Self = Self(1 << 8);
    /// Of `targets` just the entry of the cluster that is judged.
    pub const OWN_TARGET: Self = Self(1 << 9);
    /// Of `evictions` just whether the cluster that is judged is among them.
    pub const OWN_EVICTION: Self = Self(1 << 10);
    /// No group.
    pub const NONE: Self = Self(0);
    /// Every group.
    pub const ALL: Self = Self(0xff);

    /// Whether all groups of `other` are in this set.
    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether some group of `other` is in this set.
    pub fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The groups that aren't in `other`.
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl BitOr for BindingFields {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for BindingFields {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}
