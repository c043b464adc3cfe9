//! One complete cluster on loopback.

use crate::real::kubectl::Kubectl;
use crate::real::pki::Pki;
use crate::real::process::Process;
use crate::real::programs::Programs;
use serde_json::{Value, json};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Nodes of a cluster; kwok plays them.
const NODES: usize = 2;

/// Controllers that clean up and fill in, by kube-controller-manager's names.
const HOUSEKEEPING: [&str; 4] = [
    "namespace-controller",
    "garbage-collector-controller",
    "serviceaccount-controller",
    "root-ca-certificate-publisher-controller",
];

/// A cluster; it ends when dropped.
pub(crate) struct Cluster {
    name: String,
    folder: PathBuf,
    /// A client that may do everything.
    pub(crate) kubectl: Kubectl,
    api_flags: Vec<String>,
    // In the order in which they end: clients before servers.
    clients: Vec<Process>,
    api: Option<Process>,
    _etcd: Option<Process>,
}

impl Cluster {
    /// Starts its servers. They end with the thread that calls this, if not before.
    pub(crate) fn start(programs: &Programs, pki: &Pki, folder: &Path, name: &str) -> Self {
        let folder = folder.join(name);
        std::fs::create_dir_all(&folder).unwrap();
        let [etcd, peer, api] = free_ports();
        let kubectl = Kubectl::new(&kubeconfig(&folder, pki, name, api));
        let flags = etcd_flags(&folder, etcd, peer);
        let etcd_process = Some(run(programs, "etcd", &flags, &folder));
        let api_flags = apiserver_flags(pki, etcd, api);
        let (name, clients, api) = (name.to_owned(), Vec::new(), None);
        let mut cluster = Self { name, folder, kubectl, api_flags, clients, api, _etcd: etcd_process };
        cluster.start_api(programs);
        cluster
    }

    /// A server that somebody else has started.
    pub(crate) fn around(name: &str, folder: &Path, kubectl: Kubectl, api: Process) -> Self {
        let (name, folder, clients) = (name.to_owned(), folder.to_path_buf(), Vec::new());
        Self { name, folder, kubectl, api_flags: Vec::new(), clients, api: Some(api), _etcd: None }
    }

    /// Once the server answers: controllers and nodes.
    pub(crate) fn complete(&mut self, programs: &Programs, pki: &Pki) {
        self.wait();
        let [manager, scheduler] = free_ports();
        let kubeconfig = self.kubectl.kubeconfig.clone();
        let stages = self.folder.join("stages.yaml");
        std::fs::write(&stages, programs.stages()).unwrap();
        for (program, flags) in [
            ("kube-controller-manager", manager_flags(&kubeconfig, pki, manager)),
            ("kube-scheduler", scheduler_flags(&kubeconfig, scheduler)),
            ("kwok", kwok_flags(&kubeconfig, &stages)),
        ] {
            self.clients.push(run(programs, program, &flags, &self.folder));
        }
        for number in 1..=NODES {
            self.kubectl.apply(&node(&self.name, number));
        }
    }

    /// Once the server answers: only the controllers that every namespace and every owner relies on, no workload's.
    pub(crate) fn keep_house(&mut self, programs: &Programs, pki: &Pki) {
        self.wait();
        let [manager] = free_ports();
        let mut flags = manager_flags(&self.kubectl.kubeconfig, pki, manager);
        flags.push(format!("--controllers={}", HOUSEKEEPING.join(",")));
        self.clients.push(run(programs, "kube-controller-manager", &flags, &self.folder));
    }

    /// Ends its API server, as a crash would.
    pub(crate) fn stop_api(&mut self) {
        self.api = None;
    }

    /// Starts its API server, again on the same port.
    pub(crate) fn start_api(&mut self, programs: &Programs) {
        self.api = Some(run(programs, "kube-apiserver", &self.api_flags, &self.folder));
    }

    /// Waits until its API server answers.
    pub(crate) fn wait(&self) {
        self.kubectl.wait_for_server(self.api.as_ref().unwrap());
    }

    /// Its name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

fn run(programs: &Programs, program: &str, flags: &[String], folder: &Path) -> Process {
    let mut command = Command::new(programs.path(program));
    command.args(flags);
    Process::start(program, command, folder)
}

/// Ports that nobody listens on. All are held until the last is found, so that they differ.
fn free_ports<const N: usize>() -> [u16; N] {
    let held: [TcpListener; N] = std::array::from_fn(|_| TcpListener::bind("127.0.0.1:0").unwrap());
    held.each_ref().map(|listener| listener.local_addr().unwrap().port())
}

fn kubeconfig(folder: &Path, pki: &Pki, name: &str, port: u16) -> PathBuf {
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": name,
        "clusters": [{"name": name, "cluster": {
            "server": format!("https://127.0.0.1:{port}"), "certificate-authority": pki.path("ca.crt"),
        }}],
        "users": [{"name": name, "user": {
            "client-certificate": pki.path("admin.crt"), "client-key": pki.path("admin.key"),
        }}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
    });
    let path = folder.join("kubeconfig");
    std::fs::write(&path, config.to_string()).unwrap();
    path
}

fn etcd_flags(folder: &Path, client: u16, peer: u16) -> Vec<String> {
    let (client, peer) = (format!("http://127.0.0.1:{client}"), format!("http://127.0.0.1:{peer}"));
    vec![
        format!("--data-dir={}", folder.join("etcd").display()),
        "--log-level=warn".into(),
        // A test's data may be lost with the machine.
        "--unsafe-no-fsync=true".into(),
        format!("--listen-client-urls={client}"),
        format!("--advertise-client-urls={client}"),
        format!("--listen-peer-urls={peer}"),
        format!("--initial-advertise-peer-urls={peer}"),
        format!("--initial-cluster=default={peer}"),
    ]
}

fn apiserver_flags(pki: &Pki, etcd: u16, port: u16) -> Vec<String> {
    let file = |flag: &str, name: &str| format!("--{flag}={}", pki.path(name).display());
    vec![
        format!("--etcd-servers=http://127.0.0.1:{etcd}"),
        format!("--secure-port={port}"),
        "--bind-address=127.0.0.1".into(),
        "--advertise-address=127.0.0.1".into(),
        "--endpoint-reconciler-type=none".into(),
        "--authorization-mode=RBAC".into(),
        "--service-cluster-ip-range=10.96.0.0/16".into(),
        "--service-account-issuer=https://kubernetes.default.svc".into(),
        file("service-account-key-file", "accounts.pub"),
        file("service-account-signing-key-file", "accounts.key"),
        file("tls-cert-file", "server.crt"),
        file("tls-private-key-file", "server.key"),
        file("client-ca-file", "ca.crt"),
    ]
}

fn manager_flags(kubeconfig: &Path, pki: &Pki, port: u16) -> Vec<String> {
    let file = |flag: &str, name: &str| format!("--{flag}={}", pki.path(name).display());
    // Our own server fills in the Secrets of tokens, and keeps the key to itself.
    let accounts =
        pki.path("accounts.key").is_file().then(|| file("service-account-private-key-file", "accounts.key"));
    let mut flags = vec![
        format!("--kubeconfig={}", kubeconfig.display()),
        format!("--secure-port={port}"),
        "--bind-address=127.0.0.1".into(),
        "--leader-elect=false".into(),
        "--use-service-account-credentials=true".into(),
        "--allocate-node-cidrs=false".into(),
        file("root-ca-file", "ca.crt"),
        file("cluster-signing-cert-file", "ca.crt"),
        file("cluster-signing-key-file", "ca.key"),
    ];
    flags.extend(accounts);
    flags
}

fn scheduler_flags(kubeconfig: &Path, port: u16) -> Vec<String> {
    vec![
        format!("--kubeconfig={}", kubeconfig.display()),
        format!("--secure-port={port}"),
        "--bind-address=127.0.0.1".into(),
        "--leader-elect=false".into(),
    ]
}

fn kwok_flags(kubeconfig: &Path, stages: &Path) -> Vec<String> {
    vec![
        format!("--kubeconfig={}", kubeconfig.display()),
        format!("--config={}", stages.display()),
        "--manage-all-nodes=true".into(),
        "--node-lease-duration-seconds=40".into(),
    ]
}

fn node(cluster: &str, number: usize) -> Value {
    let name = format!("{cluster}-node{number}");
    let room = json!({"cpu": "16", "memory": "64Gi", "pods": "200"});
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux"}},
        "status": {"capacity": room, "allocatable": room},
    })
}
