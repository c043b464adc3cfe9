//! kube-apiserver on etcd, with those controllers beside it that our server has within it; and what it answered
//! when it was last asked.

use crate::oracle::client::Raw;
use crate::oracle::script::folder;
use crate::real::cluster::Cluster;
use crate::real::folder::Folder;
use crate::real::pki::Pki;
use crate::real::programs::Programs;
use kube::config::Kubeconfig;
use serde_json::Value;
use std::path::PathBuf;

/// A running one; it ends when dropped.
pub(crate) struct Reference {
    pub(crate) client: Raw,
    // The servers end before their folder is removed.
    _cluster: Cluster,
    _folder: Folder,
}

impl Reference {
    /// Starts it, building it first if need be.
    pub(crate) async fn start() -> Self {
        let programs = Programs::ensure();
        let folder = Folder::new();
        let pki = Pki::make(folder.path());
        let mut cluster = Cluster::start(&programs, &pki, folder.path(), "oracle");
        cluster.keep_house(&programs, &pki);
        let client = Raw::new(Kubeconfig::read_from(&cluster.kubectl.kubeconfig).unwrap()).await;
        Self { client, _cluster: cluster, _folder: folder }
    }
}

fn file(script: &str) -> PathBuf {
    folder().join("recorded").join(format!("{script}.ndjson"))
}

/// What it answered when it was last asked.
pub(crate) fn recorded(script: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(file(script)).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Keeps what it answers.
pub(crate) fn record(script: &str, exchanges: &[Value]) {
    let lines: Vec<String> = exchanges.iter().map(|exchange| format!("{exchange}\n")).collect();
    std::fs::create_dir_all(folder().join("recorded")).unwrap();
    std::fs::write(file(script), lines.concat()).unwrap();
}
