//! Types and reasons of conditions (spec 01 §15), and reading typed conditions.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;

// Types.

/// Cluster: it is healthy and answers.
pub const READY: &str = "Ready";
/// Cluster: the list of its APIs is complete.
pub const COMPLETE_API_ENABLEMENTS: &str = "CompleteAPIEnablements";
/// Cluster: its DNS works.
pub const SERVICE_DOMAIN_NAME_RESOLUTION_READY: &str = "ServiceDomainNameResolutionReady";
/// Work: its manifests were applied.
pub const APPLIED: &str = "Applied";
/// Work: it isn't suspended.
pub const DISPATCHING: &str = "Dispatching";
/// Binding: it has clusters.
pub const SCHEDULED: &str = "Scheduled";
/// Binding: all its Works were applied.
pub const FULLY_APPLIED: &str = "FullyApplied";
/// MultiClusterService: its Works are there.
pub const SERVICE_APPLIED: &str = "ServiceApplied";
/// MultiClusterService: its slices were dispatched.
pub const ENDPOINT_SLICE_DISPATCHED: &str = "EndpointSliceDispatched";

// Reasons.

/// Cluster is ready.
pub const REASON_CLUSTER_READY: &str = "ClusterReady";
/// Cluster answers, but isn't healthy.
pub const REASON_CLUSTER_NOT_READY: &str = "ClusterNotReady";
/// Cluster doesn't answer.
pub const REASON_CLUSTER_NOT_REACHABLE: &str = "ClusterNotReachable";
/// No client could be made for the cluster.
pub const REASON_STATUS_COLLECTION_FAILED: &str = "StatusCollectionFailed";
/// There was never a heartbeat.
pub const REASON_CLUSTER_STATUS_NEVER_UPDATED: &str = "ClusterStatusNeverUpdated";
/// Heartbeats stopped.
pub const REASON_CLUSTER_STATUS_UNKNOWN: &str = "ClusterStatusUnknown";
/// The list of APIs is complete.
pub const REASON_COMPLETE: &str = "Complete";
/// The list of APIs lacks some.
pub const REASON_PARTIAL: &str = "Partial";
/// The list of APIs is empty.
pub const REASON_EMPTY: &str = "Empty";
/// All manifests were applied.
pub const REASON_APPLIED_SUCCESSFUL: &str = "AppliedSuccessful";
/// Some manifest wasn't applied.
pub const REASON_APPLIED_FAILED: &str = "AppliedFailed";
/// The Work isn't suspended.
pub const REASON_DISPATCHING: &str = "Dispatching";
/// The Work is suspended.
pub const REASON_SUSPEND_DISPATCHING: &str = "SuspendDispatching";
/// The binding was scheduled.
pub const REASON_SUCCESS: &str = "Success";
/// No cluster passed the filters.
pub const REASON_NO_CLUSTER_FIT: &str = "NoClusterFit";
/// There isn't enough room.
pub const REASON_UNSCHEDULABLE: &str = "Unschedulable";
/// A quota doesn't allow it.
pub const REASON_QUOTA_EXCEEDED: &str = "QuotaExceeded";
/// The scheduler failed otherwise.
pub const REASON_SCHEDULER_ERROR: &str = "SchedulerError";
/// On SchedulerProfiles: the scheduler of its name runs what the profile says.
pub const PROFILE_ACCEPTED: &str = "Accepted";
/// The profile is in force.
pub const REASON_IN_FORCE: &str = "InForce";
/// The profile can't be understood.
pub const REASON_INVALID_PROFILE: &str = "Invalid";
/// A plugin that the profile names isn't loaded, or doesn't take its configuration.
pub const REASON_PLUGINS_MISSING: &str = "PluginsMissing";
/// All Works were applied.
pub const REASON_FULLY_APPLIED_SUCCESS: &str = "FullyAppliedSuccess";
/// Some Work wasn't applied.
pub const REASON_FULLY_APPLIED_FAILED: &str = "FullyAppliedFailed";
/// The Works of the service are there.
pub const REASON_SERVICE_APPLIED_SUCCEED: &str = "ServiceAppliedSucceed";
/// The Works of the service aren't there.
pub const REASON_SERVICE_APPLIED_FAILED: &str = "ServiceAppliedFailed";
/// The slices were dispatched.
pub const REASON_ENDPOINT_SLICE_DISPATCHED_SUCCEED: &str = "EndpointSliceDispatchedSucceed";
/// The slices weren't dispatched.
pub const REASON_ENDPOINT_SLICE_DISPATCHED_FAILED: &str = "EndpointSliceDispatchedFailed";

/// The condition of a type.
pub fn find<'a>(conditions: &'a [Condition], type_: &str) -> Option<&'a Condition> {
    conditions.iter().find(|c| c.type_ == type_)
}

/// Whether the condition of a type is there and `True`.
pub fn is_true(conditions: &[Condition], type_: &str) -> bool {
    find(conditions, type_).is_some_and(|c| c.status == "True")
}
