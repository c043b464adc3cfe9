//! Operations, their requests and results, and the trait of what answers them.

use std::fmt;

use serde_json::Value;
use windlass_api::{
    AggregatedStatusItem, Component, DependentObjectReference, ReplicaRequirements, ResourceHealth,
};
use windlass_object::gvk::Gvk;

use crate::error::{Cause, Error};

/// What an interpreter can tell of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// Replicas and what one of them needs.
    InterpretReplica,
    /// The parts of a workload with several pod templates.
    InterpretComponent,
    /// Gives the object another number of replicas.
    ReviseReplica,
    /// Keeps what the member owns.
    Retain,
    /// Makes one status of many.
    AggregateStatus,
    /// What of the status is worth carrying.
    InterpretStatus,
    /// Whether it works.
    InterpretHealth,
    /// What it needs.
    InterpretDependency,
}

impl Operation {
    /// All operations, in the order of the API's rules.
    pub const ALL: [Self; 8] = [
        Self::Retain,
        Self::InterpretReplica,
        Self::InterpretComponent,
        Self::ReviseReplica,
        Self::InterpretStatus,
        Self::AggregateStatus,
        Self::InterpretHealth,
        Self::InterpretDependency,
    ];

    /// The word, as the API has it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InterpretReplica => "InterpretReplica",
            Self::InterpretComponent => "InterpretComponent",
            Self::ReviseReplica => "ReviseReplica",
            Self::Retain => "Retain",
            Self::AggregateStatus => "AggregateStatus",
            Self::InterpretStatus => "InterpretStatus",
            Self::InterpretHealth => "InterpretHealth",
            Self::InterpretDependency => "InterpretDependency",
        }
    }

    /// The field of a customization that holds this operation's rule.
    pub const fn rule_field(self) -> &'static str {
        match self {
            Self::InterpretReplica => "replicaResource",
            Self::InterpretComponent => "componentResource",
            Self::ReviseReplica => "replicaRevision",
            Self::Retain => "retention",
            Self::AggregateStatus => "statusAggregation",
            Self::InterpretStatus => "statusReflection",
            Self::InterpretHealth => "healthInterpretation",
            Self::InterpretDependency => "dependencyInterpretation",
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Replicas of an object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Replica {
    /// How many.
    pub replicas: i32,
    /// What one of them needs, if anything is known.
    pub requirements: Option<ReplicaRequirements>,
}

/// How an interpreter says what an object becomes.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// A JSON Patch (RFC 6902) of the object that was given.
    Patch(Value),
    /// The whole object.
    Object(Value),
}

/// Something that knows some kinds. Calls may block for as long as the interpreter's own deadline; callers on an
/// async runtime move off it.
///
/// A method is called only for what `enabled` says yes to; the default answers are errors.
pub trait Interpreter: Send + Sync {
    /// Name for messages: `customization`, `webhook foo`, …
    fn name(&self) -> &str;

    /// Whether this interpreter answers the operation for exactly this kind.
    fn enabled(&self, gvk: &Gvk, operation: Operation) -> bool;

    /// Replicas and what one of them needs.
    fn interpret_replica(&self, object: &Value) -> Result<Replica, Error> {
        Err(self.unsupported(object, Operation::InterpretReplica))
    }

    /// The parts of a workload with several pod templates.
    fn interpret_component(&self, object: &Value) -> Result<Vec<Component>, Error> {
        Err(self.unsupported(object, Operation::InterpretComponent))
    }

    /// Gives the object this number of replicas.
    fn revise_replica(&self, object: &Value, replicas: i64) -> Result<Change, Error> {
        let _ = replicas;
        Err(self.unsupported(object, Operation::ReviseReplica))
    }

    /// What `desired` becomes when what the member owns in `observed` is kept.
    fn retain(&self, desired: &Value, observed: &Value) -> Result<Change, Error> {
        let _ = observed;
        Err(self.unsupported(desired, Operation::Retain))
    }

    /// What the template becomes when its status is made of the clusters'.
    fn aggregate_status(&self, object: &Value, items: &[AggregatedStatusItem]) -> Result<Change, Error> {
        let _ = items;
        Err(self.unsupported(object, Operation::AggregateStatus))
    }

    /// What of the status is worth carrying to the control plane.
    fn interpret_status(&self, object: &Value) -> Result<Option<Value>, Error> {
        Err(self.unsupported(object, Operation::InterpretStatus))
    }

    /// Whether the object works.
    fn interpret_health(&self, object: &Value) -> Result<ResourceHealth, Error> {
        Err(self.unsupported(object, Operation::InterpretHealth))
    }

    /// What the object needs.
    fn interpret_dependency(&self, object: &Value) -> Result<Vec<DependentObjectReference>, Error> {
        Err(self.unsupported(object, Operation::InterpretDependency))
    }

    /// The error of a call that `enabled` said no to.
    fn unsupported(&self, object: &Value, operation: Operation) -> Error {
        Error::of(object, operation, self.name(), Cause::Unsupported)
    }
}
