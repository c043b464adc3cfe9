//! The command line: what `windlass --help` tells.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::net::SocketAddr;
use std::path::PathBuf;
use windlass_schedule::gates::Gates;

/// A multi-cluster control plane for Kubernetes that keeps Karmada's API.
///
/// Windlass takes ordinary Kubernetes objects, decides by your policies which clusters get them and how many
/// replicas each, and keeps the clusters that way. Every decision is made by a sandboxed WebAssembly component.
///
/// Try it:        windlass up
/// With data:     windlass up --data-dir ./windlass-data
/// A real cluster: windlass join prod --cluster-kubeconfig ~/.kube/prod
#[derive(Debug, Parser)]
#[command(
    name = "windlass",
    version,
    about,
    long_about,
    verbatim_doc_comment,
    disable_help_subcommand = true
)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What windlass can do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the control plane: API server, controllers, scheduler and simulated members, in one process.
    ///
    /// Prints how to reach it with kubectl, then serves until Ctrl-C. Without --data-dir everything is kept in
    /// memory and gone at the end; with it, whatever was acknowledged survives a crash, and the next start goes on.
    ///
    /// Simulated members misbehave on demand, while they run:
    ///
    ///     kubectl annotate cluster member2 simulator.windlass.io/fault=gone
    ///     kubectl annotate cluster member2 simulator.windlass.io/fault-
    ///
    /// Faults are not-ready, slow (or slow=500ms, slow=3s), refusing and gone.
    #[command(verbatim_doc_comment)]
    Up(Up),
    /// Let a real cluster join a running control plane (Push mode).
    ///
    /// Creates a service account in the cluster, stores its token in the control plane and writes the Cluster
    /// object. Reads the control plane's address from --kubeconfig, $KUBECONFIG or the file that `up` wrote.
    Join(Join),
    /// Say where a binding goes, and why not elsewhere.
    ///
    /// Runs the scheduler's plugins on the objects as they are: those of a running control plane, or with -f those of
    /// files, without any server. Nothing is written. For every cluster it prints which plugin refused it and in what
    /// words, or its scores and room, then how clusters were chosen and replicas divided.
    ///
    ///   windlass explain shop/web-deployment
    ///   windlass explain -f clusters.yaml -f binding.yaml
    #[command(verbatim_doc_comment)]
    Explain(Explain),
    /// Run one Kubernetes API server by itself: no controllers of ours, no members.
    ///
    /// For tests of programs that speak to Kubernetes, and for controllers that are run beside it.
    Apiserver(Apiserver),
    /// Measure this binary on this machine.
    Bench(Bench),
    /// Run conformance vectors through the components of this binary.
    #[command(hide = true)]
    Conformance(Conformance),
}

/// Arguments of `windlass up`.
#[derive(Debug, Args)]
pub(crate) struct Up {
    /// How many simulated members to start; member3 (and every third) carries a taint.
    #[arg(long, default_value_t = 3, value_name = "N")]
    pub(crate) members: usize,
    /// Keep everything in this folder. A folder that exists is carried on with.
    #[arg(long, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Apply the manifests (*.yaml, in order of their names) of this folder once started.
    #[arg(long, value_name = "DIR")]
    pub(crate) sample: Option<PathBuf>,
    /// Where the API is served (TLS). Port 0 takes any free one.
    #[arg(long, default_value = "127.0.0.1:0", value_name = "ADDRESS")]
    pub(crate) listen: SocketAddr,
    /// Where /metrics, /healthz and /readyz are served (no TLS). Port 0 takes any free one.
    #[arg(long, default_value = "127.0.0.1:0", value_name = "ADDRESS")]
    pub(crate) admin_listen: SocketAddr,
    /// Where to write the kubeconfig [default: in the data folder, else in the user's runtime or temporary folder].
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// Stop once the sample is ready everywhere: exit code 0, or 1 at the deadline, saying what is missing.
    #[arg(long)]
    pub(crate) exit: bool,
    /// How long --exit waits, in seconds.
    #[arg(long, default_value_t = 120, value_name = "SECONDS")]
    pub(crate) deadline: u64,
    /// How simulated members keep pods.
    #[arg(long, value_enum, default_value_t = Pods::Real)]
    pub(crate) pods: Pods,
    /// The schedulers that run: bindings with one of these as spec.schedulerName are placed. SchedulerProfiles of other
    /// names start further ones.
    #[arg(long = "scheduler-name", value_name = "NAME", value_delimiter = ',', default_value = "default-scheduler",
        value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) scheduler_names: Vec<String>,
    /// How schedulers decide.
    #[command(flatten)]
    pub(crate) gates: Gated,
    /// What is printed to standard output.
    #[arg(long, value_enum, default_value_t = Output::Table)]
    pub(crate) output: Output,
}

/// What changes how schedulers decide.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Gated {
    /// Features to switch on or off, separated by commas. Known, with their defaults: PriorityBasedScheduling (true),
    /// CustomizedClusterResourceModeling (true), MultiplePodTemplatesScheduling (false), WorkloadAffinity (false),
    /// SchedulingOvercommitProtection (false), ResourceQuotaEstimate (false), Failover (false), GracefulEviction (true).
    #[arg(long, value_name = "NAME=true|false,…")]
    pub(crate) feature_gates: Option<Gates>,
    /// Keep clusters that were selected and got no replicas.
    #[arg(long)]
    pub(crate) enable_empty_workload_propagation: bool,
}

/// How much a simulated member does for a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Pods {
    /// ReplicaSets and Pods are real objects.
    Real,
    /// Only the workload's status counts them: for large runs.
    Counted,
}

/// For whom output is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// For people.
    Table,
    /// For programs: one JSON document per state.
    Json,
}

/// Arguments of `windlass join`.
#[derive(Debug, Args)]
pub(crate) struct Join {
    /// The cluster's name in the control plane: up to 48 letters, digits and dashes.
    pub(crate) name: String,
    /// Kubeconfig of the cluster that joins.
    #[arg(long, value_name = "FILE")]
    pub(crate) cluster_kubeconfig: PathBuf,
    /// Context in it [default: its current one].
    #[arg(long, value_name = "NAME")]
    pub(crate) cluster_context: Option<String>,
    /// Kubeconfig of the control plane [default: $KUBECONFIG].
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// Context in it [default: windlass, else its current one].
    #[arg(long, value_name = "NAME")]
    pub(crate) context: Option<String>,
    /// Namespace for service accounts and secrets, on both sides.
    #[arg(long, default_value = "karmada-cluster", value_name = "NAMESPACE")]
    pub(crate) cluster_namespace: String,
    /// Who runs the cluster.
    #[arg(long)]
    pub(crate) cluster_provider: Option<String>,
    /// Its region.
    #[arg(long)]
    pub(crate) cluster_region: Option<String>,
    /// Its zones, separated by commas.
    #[arg(long, value_delimiter = ',')]
    pub(crate) cluster_zones: Vec<String>,
}

/// Arguments of `windlass apiserver`.
#[derive(Debug, Args)]
pub(crate) struct Apiserver {
    /// What kind of cluster it looks like.
    #[arg(long, value_enum, default_value_t = Serves::Member)]
    pub(crate) profile: Serves,
    /// Keep everything in this folder, certificates and keys too (`pki`) [default: in memory].
    #[arg(long, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Where the API is served (TLS). Port 0 takes any free one.
    #[arg(long, default_value = "127.0.0.1:0", value_name = "ADDRESS")]
    pub(crate) listen: SocketAddr,
    /// Where to write the kubeconfig [default: apiserver.kubeconfig in the data folder, else in the temporary folder].
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// What is printed to standard output.
    #[arg(long, value_enum, default_value_t = Output::Table)]
    pub(crate) output: Output,
}

/// The two kinds of cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Serves {
    /// A control plane's: namespaces stay empty.
    Control,
    /// A workload cluster's: each namespace has a default service account and the root certificates.
    Member,
}

/// Arguments of `windlass conformance`.
#[derive(Debug, Args)]
pub(crate) struct Conformance {
    /// A folder of vectors, searched to its depths.
    #[arg(default_value = VECTORS)]
    pub(crate) folder: PathBuf,
    /// Print each difference in full.
    #[arg(long)]
    pub(crate) show: bool,
    /// A list of what is decided differently on purpose [default: the project's].
    #[arg(long, value_name = "FILE")]
    pub(crate) deviations: Option<PathBuf>,
}

/// Where the vectors lie in a checkout.
const VECTORS: &str = "tests/conformance";

/// Arguments of `windlass explain`.
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// The binding: NAMESPACE/NAME of a ResourceBinding, or NAME of a ClusterResourceBinding. With -f and just one
    /// binding in the files it may be left out.
    #[arg(value_name = "[NAMESPACE/]NAME", required_unless_present = "files")]
    pub(crate) binding: Option<String>,
    /// Read Clusters, bindings and SchedulerProfiles from here instead of a control plane: YAML or JSON, lists too; - is
    /// standard input.
    #[arg(short = 'f', long = "filename", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Kubeconfig of the control plane [default: $KUBECONFIG].
    #[arg(long, value_name = "FILE", conflicts_with = "files")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// Context in it [default: windlass, else its current one].
    #[arg(long, value_name = "NAME", conflicts_with = "files")]
    pub(crate) context: Option<String>,
    /// As the control plane runs.
    #[command(flatten)]
    pub(crate) gates: Gated,
    /// What is printed to standard output.
    #[arg(long, value_enum, default_value_t = Output::Table)]
    pub(crate) output: Output,
}

/// Arguments of `windlass bench`.
#[derive(Debug, Args)]
pub(crate) struct Bench {
    /// Which: start, plugins, schedule, server, propagate (-configmaps, -deployments, -pods), follow, decisions, members; all without.
    pub(crate) names: Vec<String>,
    /// Where the bench `schedule` finds its fleets: bench-100.json.gz, bench-1000.json.gz, bench-5000.json.gz.
    #[arg(long, value_name = "DIR", default_value = "tests/conformance/scheduling")]
    pub(crate) fleets: PathBuf,
    /// What is printed to standard output.
    #[arg(long, value_enum, default_value_t = Output::Table)]
    pub(crate) output: Output,
}
