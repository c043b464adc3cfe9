//! Reasons of events (spec 01 §16).

/// Normal event: it went well.
pub const CREATE_EXECUTION_SPACE_SUCCEED: &str = "CreateExecutionSpaceSucceed";
/// Warning event: it failed; the message says why.
pub const CREATE_EXECUTION_SPACE_FAILED: &str = "CreateExecutionSpaceFailed";
/// Normal event: it went well.
pub const REMOVE_EXECUTION_SPACE_SUCCEED: &str = "RemoveExecutionSpaceSucceed";
/// Warning event: it failed; the message says why.
pub const REMOVE_EXECUTION_SPACE_FAILED: &str = "RemoveExecutionSpaceFailed";
/// Normal event: it went well.
pub const TAINT_CLUSTER_SUCCEED: &str = "TaintClusterSucceed";
/// Warning event: it failed; the message says why.
pub const TAINT_CLUSTER_FAILED: &str = "TaintClusterFailed";
/// Normal event: it went well.
pub const SYNC_IMPERSONATION_CONFIG_SUCCEED: &str = "SyncImpersonationConfigSucceed";
/// Warning event: it failed; the message says why.
pub const SYNC_IMPERSONATION_CONFIG_FAILED: &str = "SyncImpersonationConfigFailed";
/// Normal event: it went well.
pub const REFLECT_STATUS_SUCCEED: &str = "ReflectStatusSucceed";
/// Warning event: it failed; the message says why.
pub const REFLECT_STATUS_FAILED: &str = "ReflectStatusFailed";
/// Normal event: it went well.
pub const INTERPRET_HEALTH_SUCCEED: &str = "InterpretHealthSucceed";
/// Warning event: it failed; the message says why.
pub const INTERPRET_HEALTH_FAILED: &str = "InterpretHealthFailed";
/// Normal event: it went well.
pub const SYNC_SUCCEED: &str = "SyncSucceed";
/// Warning event: it failed; the message says why.
pub const SYNC_FAILED: &str = "SyncFailed";
/// Normal event.
pub const WORK_DISPATCHING: &str = "WorkDispatching";
/// Warning event.
pub const CLEANUP_WORK_FAILED: &str = "CleanupWorkFailed";
/// Normal event: it went well.
pub const SYNC_WORK_SUCCEED: &str = "SyncWorkSucceed";
/// Warning event: it failed; the message says why.
pub const SYNC_WORK_FAILED: &str = "SyncWorkFailed";
/// Normal event: it went well.
pub const AGGREGATE_STATUS_SUCCEED: &str = "AggregateStatusSucceed";
/// Warning event: it failed; the message says why.
pub const AGGREGATE_STATUS_FAILED: &str = "AggregateStatusFailed";
/// Normal event: it went well.
pub const SCHEDULE_BINDING_SUCCEED: &str = "ScheduleBindingSucceed";
/// Warning event: it failed; the message says why.
pub const SCHEDULE_BINDING_FAILED: &str = "ScheduleBindingFailed";
/// Warning event: a SchedulerProfile can't be put in force; the message says why.
pub const PROFILE_REFUSED: &str = "ProfileRefused";
/// Normal event: it went well.
pub const DESCHEDULE_BINDING_SUCCEED: &str = "DescheduleBindingSucceed";
/// Warning event: it failed; the message says why.
pub const DESCHEDULE_BINDING_FAILED: &str = "DescheduleBindingFailed";
/// Normal event: it went well.
pub const EVICT_WORKLOAD_FROM_CLUSTER_SUCCEED: &str = "EvictWorkloadFromClusterSucceed";
/// Warning event: it failed; the message says why.
pub const EVICT_WORKLOAD_FROM_CLUSTER_FAILED: &str = "EvictWorkloadFromClusterFailed";
/// Normal event: it went well.
pub const SYNC_SCHEDULE_RESULT_TO_DEPENDENCIES_SUCCEED: &str = "SyncScheduleResultToDependenciesSucceed";
/// Warning event: it failed; the message says why.
pub const SYNC_SCHEDULE_RESULT_TO_DEPENDENCIES_FAILED: &str = "SyncScheduleResultToDependenciesFailed";
/// Warning event.
pub const DEPENDENCY_POLICY_CONFLICT: &str = "DependencyPolicyConflict";
/// Normal event: it went well.
pub const COLLECT_OVERALL_STATUS_SUCCEED: &str = "CollectOverallStatusSucceed";
/// Warning event: it failed; the message says why.
pub const COLLECT_OVERALL_STATUS_FAILED: &str = "CollectOverallStatusFailed";
/// Normal event: it went well.
pub const APPLY_POLICY_SUCCEED: &str = "ApplyPolicySucceed";
/// Warning event: it failed; the message says why.
pub const APPLY_POLICY_FAILED: &str = "ApplyPolicyFailed";
/// Normal event: it went well.
pub const PREEMPT_POLICY_SUCCEED: &str = "PreemptPolicySucceed";
/// Warning event: it failed; the message says why.
pub const PREEMPT_POLICY_FAILED: &str = "PreemptPolicyFailed";
/// Normal event: it went well.
pub const GET_REPLICAS_SUCCEED: &str = "GetReplicasSucceed";
/// Warning event: it failed; the message says why.
pub const GET_REPLICAS_FAILED: &str = "GetReplicasFailed";
/// Normal event: it went well.
pub const GET_COMPONENTS_SUCCEED: &str = "GetComponentsSucceed";
/// Warning event: it failed; the message says why.
pub const GET_COMPONENTS_FAILED: &str = "GetComponentsFailed";
/// Normal event: it went well.
pub const GET_DEPENDENCIES_SUCCEED: &str = "GetDependenciesSucceed";
/// Warning event: it failed; the message says why.
pub const GET_DEPENDENCIES_FAILED: &str = "GetDependenciesFailed";
/// Normal event: it went well.
pub const APPLY_OVERRIDE_POLICY_SUCCEED: &str = "ApplyOverridePolicySucceed";
/// Warning event: it failed; the message says why.
pub const APPLY_OVERRIDE_POLICY_FAILED: &str = "ApplyOverridePolicyFailed";
/// Normal event: it went well.
pub const SYNC_DERIVED_SERVICE_SUCCEED: &str = "SyncDerivedServiceSucceed";
/// Warning event: it failed; the message says why.
pub const SYNC_DERIVED_SERVICE_FAILED: &str = "SyncDerivedServiceFailed";
/// Normal event: it went well.
pub const SYNC_SERVICE_SUCCEED: &str = "SyncServiceSucceed";
/// Warning event: it failed; the message says why.
pub const SYNC_SERVICE_FAILED: &str = "SyncServiceFailed";
/// Normal event: it went well.
pub const DISPATCH_ENDPOINT_SLICE_SUCCEED: &str = "DispatchEndpointSliceSucceed";
/// Warning event: it failed; the message says why.
pub const DISPATCH_ENDPOINT_SLICE_FAILED: &str = "DispatchEndpointSliceFailed";
/// Warning event.
pub const CLUSTER_NOT_FOUND: &str = "ClusterNotFound";
/// Warning event.
pub const API_INCOMPATIBLE: &str = "APIIncompatible";
/// Normal event.
pub const SUCCESSFUL_RESCALE: &str = "SuccessfulRescale";
