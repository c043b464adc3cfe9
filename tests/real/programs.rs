//! The programs of a real cluster: found, or built from Go modules.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// What the folders beside this file build.
const BUILT: [&str; 4] = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"];

/// The module that plays kubelet; it is built by itself, for its dependencies are not Kubernetes'.
const KWOK: &str = "sigs.k8s.io/kwok";
const KWOK_VERSION: &str = "v0.8.0";

/// What makes nodes ready and pods run at once, in kwok's module.
const STAGES: [&str; 5] = [
    "node/fast/node-initialize.yaml",
    "node/heartbeat-with-lease/node-heartbeat-with-lease.yaml",
    "pod/fast/pod-ready.yaml",
    "pod/fast/pod-complete.yaml",
    "pod/fast/pod-delete.yaml",
];

/// Where the programs are.
pub(crate) struct Programs {
    folder: PathBuf,
}

/// `$XDG_CACHE_HOME/windlass`, else `~/.cache/windlass`.
pub(crate) fn cache() -> PathBuf {
    let home = || PathBuf::from(std::env::var_os("HOME").expect("HOME is not set")).join(".cache");
    std::env::var_os("XDG_CACHE_HOME").map_or_else(home, PathBuf::from).join("windlass")
}

/// The binary under test: `$WINDLASS_BIN`, else a debug build.
pub(crate) fn windlass() -> PathBuf {
    let target =
        || std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| cache().join("target"), PathBuf::from);
    let built = || target().join("debug/windlass");
    let path = std::env::var_os("WINDLASS_BIN").map_or_else(built, PathBuf::from);
    assert!(
        path.is_file(),
        "{}: build it first (`cargo xtask test --real` does), or set WINDLASS_BIN",
        path.display()
    );
    path
}

impl Programs {
    /// Takes them from `$WINDLASS_REAL_BIN` or the cache, else builds them there.
    pub(crate) fn ensure() -> Self {
        if let Some(folder) = std::env::var_os("WINDLASS_REAL_BIN") {
            let programs = Self { folder: folder.into() };
            let missing = programs.missing();
            assert!(missing.is_empty(), "WINDLASS_REAL_BIN has no {}", missing.join(", "));
            return programs;
        }
        let version = kubernetes_version();
        let programs = Self { folder: cache().join("real").join(format!("kubernetes-{version}")) };
        let missing = programs.missing();
        if missing.is_empty() {
            println!("  Kubernetes {version} is built already: {}", programs.folder.display());
            return programs;
        }
        println!(
            "  building {} of Kubernetes {version}: about 5 minutes on two cores the first time",
            missing.join(", ")
        );
        let begun = Instant::now();
        programs.build(&version);
        println!("  built in {:.0} s", begun.elapsed().as_secs_f64());
        programs
    }

    /// The path of a program.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// kwok's configuration.
    pub(crate) fn stages(&self) -> String {
        let module = format!("{KWOK}@{KWOK_VERSION}");
        let told = run(go().args(["mod", "download", "-json", &module]));
        let told: Value = serde_json::from_str(&told).unwrap();
        let folder = Path::new(told["Dir"].as_str().unwrap()).join("kustomize/stage");
        let texts = STAGES.map(|stage| std::fs::read_to_string(folder.join(stage)).unwrap());
        texts.join("\n---\n")
    }

    fn missing(&self) -> Vec<&str> {
        BUILT.into_iter().chain(["kwok"]).filter(|name| !self.path(name).is_file()).collect()
    }

    fn build(&self, version: &str) {
        std::fs::create_dir_all(&self.folder).unwrap();
        let mut numbers = version.split('.');
        let (major, minor) = (numbers.next().unwrap(), numbers.next().unwrap());
        let x = "-X k8s.io/component-base/version";
        let flags = format!(
            "{x}.gitVersion=v{version} {x}.gitMajor={major} {x}.gitMinor={minor} {x}.gitTreeState=clean"
        );
        let packages = BUILT.map(|name| format!("./{name}"));
        run(go().args(["build", "-ldflags", &flags, "-o"]).arg(&self.folder).args(packages));
        let module = format!("{KWOK}/cmd/kwok@{KWOK_VERSION}");
        run(go().args(["install", &module]).env("GOBIN", &self.folder));
    }
}

/// The version that `go.mod` names.
fn kubernetes_version() -> String {
    let line =
        include_str!("go.mod").lines().find_map(|line| line.trim().strip_prefix("k8s.io/kubernetes v"));
    line.expect("go.mod requires k8s.io/kubernetes").to_owned()
}

fn go() -> Command {
    let mut command = Command::new("go");
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("real")).env("GOFLAGS", "-buildvcs=false");
    command
}

fn run(command: &mut Command) -> String {
    let output = command.output().expect("Go is needed to build Kubernetes: https://go.dev/dl");
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
