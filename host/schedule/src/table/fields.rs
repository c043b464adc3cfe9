//! Groups of cluster fields: what a plugin may read, and what can change.

use std::ops::{BitOr, BitOrAssign};

/// A set of groups of cluster fields. The first four are those of the plugin interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct ClusterFields(u8);

impl ClusterFields {
    /// `metadata.labels`.
    pub const LABELS: Self = Self(1);
    /// `spec.provider`, `spec.region`, `spec.zones`.
    pub const LOCATION: Self = Self(1 << 1);
    /// `spec.taints`.
    pub const TAINTS: Self = Self(1 << 2);
    /// `status.apiEnablements`.
    pub const APIS: Self = Self(1 << 3);
    /// Resource summary and models; the host's estimator reads it.
    pub const CAPACITY: Self = Self(1 << 4);
    /// Whether the cluster is being deleted; the host reads it.
    pub const LIFECYCLE: Self = Self(1 << 5);
    /// No group: only ids and names.
    pub const NONE: Self = Self(0);
    /// Everything that a filter or score can be given.
    pub const PLUGIN: Self = Self(0b1111);
    /// Every group.
    pub const ALL: Self = Self(0b11_1111);

    pub(super) const COUNT: usize = 6;

    /// Whether all groups of `other` are in this set.
    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether some group of `other` is in this set.
    pub fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether no group is in this set.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn indices(self) -> impl Iterator<Item = usize> {
        (0..Self::COUNT).filter(move |index| self.0 >> index & 1 == 1)
    }
}

impl BitOr for ClusterFields {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for ClusterFields {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}
