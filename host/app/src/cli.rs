//! The command line: what `windlass --help` tells.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::net::SocketAddr;
use std::path::PathBuf;

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
    Up(Up),
    /// Let a real cluster join a running control plane (Push mode).
    ///
    /// Creates a service account in the cluster, stores its token in the control plane and writes the Cluster
    /// object. Reads the control plane's address from --kubeconfig, $KUBECONFIG or the file that `up` wrote.
    Join(Join),
    /// Run one Kubernetes API server by itself: no controllers of ours, no members.
    ///
    /// For tests of programs that speak to Kubernetes, and for controllers that are run beside it.
    Apiserver(Apiserver),
    /// Measure this binary on this machine.
    Bench(Bench),
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
    /// What is printed to standard output.
    #[arg(long, value_enum, default_value_t = Output::Table)]
    pub(crate) output: Output,
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

/// Arguments of `windlass bench`.
#[derive(Debug, Args)]
pub(crate) struct Bench {
    /// Which: start, plugins, propagate (-configmaps, -deployments), members; all without.
    pub(crate) names: Vec<String>,
    /// What is printed to standard output.
    #[arg(long, value_enum, default_value_t = Output::Table)]
    pub(crate) output: Output,
}
