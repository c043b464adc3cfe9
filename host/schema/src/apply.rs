//! Server-side apply: who owns which field, and what follows from it.
//!
//! Every write of the server passes through [`update`] (or [`apply`], if it is one),
//! which keep `metadata.managedFields`. The order of work:
//!
//! 1. [`compare`](Delta): one walk over the old and the new object gives the fields that
//!    changed (added or modified) and those removed. Nothing is built where nothing differs.
//! 2. Managers other than the writer lose what it touched; conflicts are what an applier
//!    would take without force.
//! 3. The writer's own entry grows (update) or is replaced (apply).
//!
//! Fields are merged as the schema says: structs and maps field by field, lists of
//! type map and set element by element, atomic ones as a whole. Without a schema, maps
//! are merged and lists are atomic. `metadata` follows ObjectMeta's rules in every kind.

mod collect;
mod compare;
mod element;
mod entries;
mod fields_v1;
mod last_applied;
mod merge;
mod object_meta;
mod remove;
mod run;
mod scale;
mod set;
mod types;
mod update;
mod wire;

pub use compare::Delta;
pub use element::Element;
pub use entries::{check_managed_fields, is_reset};
pub use fields_v1::FieldsError;
pub use run::{ApplyError, Conflict, Conflicts, apply};
pub use scale::{from_scale, to_scale};
pub use set::FieldSet;
pub use update::update;

use crate::arena::View;
use serde_json::Value;

/// Entries of updates beyond this many are folded into `ancient-changes`, oldest first.
/// Bounds what every object carries; Kubernetes' own number.
pub const MAX_UPDATE_MANAGERS: usize = 10;

/// The manager of fields set before anyone applied.
pub const BEFORE_FIRST_APPLY: &str = "before-first-apply";

/// The manager into which old updates are folded.
pub const ANCIENT_CHANGES: &str = "ancient-changes";

/// How a manager writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// Server-side apply.
    Apply,
    /// Anything else that writes.
    #[default]
    Update,
}

impl Operation {
    /// As it stands in `operation`.
    pub fn as_str(self) -> &'static str {
        match self {
            Operation::Apply => "Apply",
            Operation::Update => "Update",
        }
    }
}

/// Which parts of the object a request cannot write, so that nobody owns them by it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reset {
    /// Everything can be written.
    #[default]
    Nothing,
    /// `status` is left alone: requests to the main resource of a kind with a status sub-resource.
    Status,
    /// Everything but `status` (and annotations) is left alone: requests to the status sub-resource.
    AllButStatus,
}

/// Who writes, and through which door.
#[derive(Clone, Debug, Default)]
pub struct Manager {
    /// The field manager's name; `unknown` if empty.
    pub name: String,
    /// Apply or update. [`update`] and [`apply`] set it themselves where it matters.
    pub operation: Operation,
    /// The version in which the request came: `apps/v1`.
    pub api_version: String,
    /// The sub-resource written through; empty for the object itself.
    pub subresource: String,
    /// Now, as RFC 3339 with seconds; taken from the clock if empty.
    pub time: String,
    /// What this request cannot write.
    pub reset: Reset,
}

impl Manager {
    /// A manager writing the object itself, now. `reset` is what it says for kinds with a
    /// status sub-resource if `has_status`.
    pub fn new(name: impl Into<String>, api_version: impl Into<String>, has_status: bool) -> Self {
        Manager {
            name: name.into(),
            api_version: api_version.into(),
            reset: if has_status { Reset::Status } else { Reset::Nothing },
            ..Manager::default()
        }
    }

    /// The same, writing through a sub-resource.
    pub fn through(mut self, subresource: impl Into<String>) -> Self {
        self.subresource = subresource.into();
        if self.subresource == "status" {
            self.reset = Reset::AllButStatus;
        }
        self
    }

    fn name(&self) -> &str {
        if self.name.is_empty() { "unknown" } else { &self.name }
    }

    fn time(&self) -> String {
        if self.time.is_empty() { windlass_object::time::now() } else { self.time.clone() }
    }
}

/// The fields that `value` would own if it were applied: leaves, and elements of lists.
pub fn field_set<'a>(view: impl Into<Option<View<'a>>>, value: &Value) -> FieldSet {
    collect::collect(types::Type::root(view.into(), Reset::Nothing), value)
}

/// What differs between two objects.
pub fn compare<'a>(view: impl Into<Option<View<'a>>>, old: &Value, new: &Value) -> Delta {
    compare::compare(types::Type::root(view.into(), Reset::Nothing), old, new)
}
