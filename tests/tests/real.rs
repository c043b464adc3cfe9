//! The sample through real clusters: two of etcd, kube-apiserver, kube-controller-manager, kube-scheduler and kwok
//! join a control plane that has no simulated member. Checks create, change, scale, drift, delete, and the way back
//! of statuses. Run by `cargo xtask test --real`; `../real/README.md` says what it needs.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failing test should stop where it fails"
)]
#![allow(clippy::print_stdout, reason = "the test takes minutes and tells what it is doing")]

#[path = "../real/mod.rs"]
#[allow(dead_code, reason = "each test program uses a part")]
mod real;

use real::cluster::Cluster;
use real::folder::Folder;
use real::kubectl::Kubectl;
use real::pki::Pki;
use real::process::Process;
use real::programs::{self, Programs};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Prints each step with the time since the start.
struct Steps(Instant);

impl Steps {
    fn step(&self, what: &str) {
        println!("  {:6.1} s  {what}", self.0.elapsed().as_secs_f64());
    }
}

#[test]
#[ignore = "builds Kubernetes; run by cargo xtask test --real"]
fn the_sample_lives_in_real_clusters() {
    let programs = Programs::ensure();
    let steps = Steps(Instant::now());
    let folder = Folder::new();
    let pki = Pki::make(folder.path());
    let mut clusters =
        ["member1", "member2"].map(|name| Cluster::start(&programs, &pki, folder.path(), name));
    for cluster in &mut clusters {
        cluster.complete(&programs, &pki);
    }
    steps.step("two real clusters answer");
    let (_process, control) = control_plane(folder.path());
    for cluster in &clusters {
        join(&control, cluster);
        control.wait(&["get", "cluster", cluster.name()], "the member is ready", |cluster| {
            condition(cluster, "Ready") == "True" && !list(&cluster["status"]["apiEnablements"]).is_empty()
        });
    }
    steps.step("both have joined");

    let [first, second] = &mut clusters;
    let kubectls = [first.kubectl.clone(), second.kubectl.clone()];
    let members = kubectls.each_ref();
    apply_sample(&control);
    created(members);
    steps.step("create: the sample is in both, divided 3 to 6, overridden in one");
    status_is_back(&control, 9);
    steps.step("status back: 9 replicas are ready");
    change(&control, members);
    steps.step("change: template and settings followed");
    scale(&control, members);
    steps.step("scale: 9 to 3, statuses too");
    drift(members);
    steps.step("drift: what was edited or deleted in a member is put right");
    foreign(&control, members);
    steps.step("foreign: what somebody else made in a member is not taken over");
    kinds(&control, members);
    steps.step("kinds: what members fill in and work on comes to rest, and goes");
    outage(&control, first, &programs, members[1]);
    steps.step("outage: a member that was away caught up, and is watched again");
    delete(&control, members);
    steps.step("delete: gone everywhere");
    for member in members {
        member.wait(&["get", "pods", "-n", "shop"], "no pod is left", |pods| list(&pods["items"]).is_empty());
    }
    steps.step("the members' own garbage collection is done with the pods");
}

fn control_plane(folder: &Path) -> (Process, Kubectl) {
    let kubeconfig = folder.join("windlass.kubeconfig");
    let mut command = Command::new(programs::windlass());
    command.args(["up", "--members", "0", "--data-dir"]).arg(folder.join("windlass"));
    command.arg("--kubeconfig").arg(&kubeconfig);
    let process = Process::start("windlass", command, folder);
    let kubectl = Kubectl::new(&kubeconfig);
    kubectl.wait_for_server(&process);
    (process, kubectl)
}

fn join(control: &Kubectl, cluster: &Cluster) {
    let output = Command::new(programs::windlass())
        .args(["join", cluster.name(), "--cluster-provider", "kwok", "--cluster-region", "loopback"])
        .arg("--cluster-kubeconfig")
        .arg(&cluster.kubectl.kubeconfig)
        .arg("--kubeconfig")
        .arg(&control.kubeconfig)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "windlass join {}: {said}", cluster.name());
}

fn apply_sample(control: &Kubectl) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/samples/shop");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    files.sort();
    for file in files {
        control.ok(&["apply", "-f", file.to_str().unwrap()]);
        if file.to_str().unwrap().contains("crd") {
            control.ok(&[
                "wait",
                "--for=condition=Established",
                "crd/promotions.shop.example.com",
                "--timeout=30s",
            ]);
        }
    }
}

/// Nothing may be written for so long.
const REST: Duration = Duration::from_secs(3);

const WEB: [&str; 5] = ["get", "deployment", "web", "-n", "shop"];
const SETTINGS: [&str; 5] = ["get", "configmap", "web-settings", "-n", "shop"];
const SERVICE: [&str; 5] = ["get", "service", "web", "-n", "shop"];

fn created(members: [&Kubectl; 2]) {
    let expected = [(3, "registry.example.com/shop/web:1.4.2"), (6, "mirror.member2.example/shop/web:1.4.2")];
    for (member, (replicas, image)) in members.into_iter().zip(expected) {
        member.wait(&WEB, "its share, its image, and pods that run", |web| {
            web["spec"]["replicas"] == replicas
                && image_of(web) == image
                && web["status"]["readyReplicas"] == replicas
        });
        for object in [&SETTINGS, &SERVICE, &["get", "promotions", "autumn", "-n", "shop"]] {
            member.wait(object, "it is there, and known as managed", |object| {
                object["metadata"]["labels"]["karmada.io/managed"] == "true"
            });
        }
    }
    let label = |member: &Kubectl| member.get(&WEB)["metadata"]["labels"]["registry"].clone();
    assert_eq!(label(members[0]), Value::Null, "member1 has no override");
    assert_eq!(label(members[1]), "mirror", "member2's override adds a label");
    assert_eq!(members[1].get(&SETTINGS)["data"]["currency"], "EUR");
    assert_eq!(members[1].get(&["get", "promotions", "autumn", "-n", "shop"])["spec"]["active"], true);
}

/// What the members report has come back to the template, and the binding says how it went.
fn status_is_back(control: &Kubectl, replicas: u64) {
    control.wait(&WEB, "the template's status is the members' sum", |web| {
        let status = &web["status"];
        status["replicas"] == replicas
            && status["readyReplicas"] == replicas
            && status["availableReplicas"] == replicas
            && status["observedGeneration"] == web["metadata"]["generation"]
    });
    control.wait(
        &["get", "resourcebinding", "web-deployment", "-n", "shop"],
        "scheduled, applied, healthy",
        |binding| {
            let items = list(&binding["status"]["aggregatedStatus"]);
            condition(binding, "Scheduled") == "True"
                && condition(binding, "FullyApplied") == "True"
                && items.len() == 2
                && items.iter().all(|item| item["applied"] == true && item["health"] == "Healthy")
        },
    );
}

fn change(control: &Kubectl, members: [&Kubectl; 2]) {
    let address = |member: &Kubectl| member.get(&SERVICE)["spec"]["clusterIP"].clone();
    let before = members.map(address);
    control.ok(&["set", "image", "deployment/web", "web=registry.example.com/shop/web:1.5.0", "-n", "shop"]);
    let patch = json!({"data": {"motto": "new stock"}}).to_string();
    control.ok(&["patch", "configmap", "web-settings", "-n", "shop", "--type=merge", "-p", &patch]);
    let patch =
        json!({"spec": {"ports": [{"name": "http", "port": 8080, "targetPort": "http"}]}}).to_string();
    control.ok(&["patch", "service", "web", "-n", "shop", "--type=merge", "-p", &patch]);
    let images = ["registry.example.com/shop/web:1.5.0", "mirror.member2.example/shop/web:1.5.0"];
    for (member, image) in members.into_iter().zip(images) {
        member.wait(&WEB, "the new image, rolled out", |web| {
            image_of(web) == image
                && web["status"]["updatedReplicas"] == web["spec"]["replicas"]
                && web["status"]["readyReplicas"] == web["spec"]["replicas"]
                && web["status"]["replicas"] == web["spec"]["replicas"]
        });
        member.wait(&SETTINGS, "the new motto", |settings| settings["data"]["motto"] == "new stock");
        member.wait(&SERVICE, "the new port", |service| service["spec"]["ports"][0]["port"] == 8080);
    }
    assert_eq!(before, members.map(address), "a member keeps the address that it gave to its service");
    status_is_back(control, 9);
}

fn scale(control: &Kubectl, members: [&Kubectl; 2]) {
    control.ok(&["scale", "deployment", "web", "-n", "shop", "--replicas=3"]);
    for (member, replicas) in members.into_iter().zip([1, 2]) {
        member.wait(&WEB, "its share of three", |web| {
            web["spec"]["replicas"] == replicas && web["status"]["readyReplicas"] == replicas
        });
    }
    status_is_back(control, 3);
}

fn drift(members: [&Kubectl; 2]) {
    members[0].ok(&["scale", "deployment", "web", "-n", "shop", "--replicas=5"]);
    members[0].wait(&WEB, "replicas are put right", |web| {
        web["spec"]["replicas"] == 1 && web["status"]["replicas"] == 1
    });
    let patch = json!({"data": {"motto": "mine now"}}).to_string();
    members[0].ok(&["patch", "configmap", "web-settings", "-n", "shop", "--type=merge", "-p", &patch]);
    members[0].wait(&SETTINGS, "data is put right", |settings| settings["data"]["motto"] == "new stock");
    members[0].ok(&["label", "configmap", "web-settings", "-n", "shop", "seen-by=member1"]);

    let before = members[1].get(&WEB)["metadata"]["uid"].clone();
    members[1].ok(&["delete", "deployment", "web", "-n", "shop"]);
    members[1].wait(&WEB, "it came back, and runs", |web| {
        web["metadata"]["uid"] != before && web["status"]["readyReplicas"] == 2
    });
    members[1].ok(&["delete", "configmap", "web-settings", "-n", "shop"]);
    members[1].wait(&SETTINGS, "it came back", |settings| settings["data"]["motto"] == "new stock");
    let kept = members[0].get(&SETTINGS)["metadata"]["labels"]["seen-by"].clone();
    assert_eq!(kept, "member1", "what a member adds is its own");
}

/// An object of the same name that a member had before stays as it is, and the binding says why.
fn foreign(control: &Kubectl, members: [&Kubectl; 2]) {
    members[0].ok(&["create", "configmap", "news", "-n", "shop", "--from-literal=by=member1"]);
    control.ok(&["create", "configmap", "news", "-n", "shop", "--from-literal=by=control"]);
    let patch = json!([{"op": "add", "path": "/spec/resourceSelectors/-",
        "value": {"apiVersion": "v1", "kind": "ConfigMap", "name": "news"}}]);
    control.ok(&[
        "patch",
        "propagationpolicy",
        "shop",
        "-n",
        "shop",
        "--type=json",
        "-p",
        &patch.to_string(),
    ]);
    let news = ["get", "configmap", "news", "-n", "shop"];
    members[1].wait(&news, "the other member has it", |news| news["data"]["by"] == "control");
    control.wait(
        &["get", "resourcebinding", "news-configmap", "-n", "shop"],
        "it says what is in the way",
        |binding| {
            list(&binding["status"]["aggregatedStatus"]).iter().any(|item| {
                item["clusterName"] == "member1"
                    && item["applied"] != true
                    && item["appliedMessage"].as_str().unwrap_or_default().contains("already exists")
            })
        },
    );
    assert_eq!(members[0].get(&news)["data"]["by"], "member1");
    control.ok(&["delete", "configmap", "news", "-n", "shop"]);
    members[1].wait_gone(&news);
    assert_eq!(members[0].get(&news)["data"]["by"], "member1", "it was never ours to delete");
}

/// Everything that members fill in or work on: it arrives, is reported, and then nobody writes any more.
fn kinds(control: &Kubectl, members: [&Kubectl; 2]) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("real/kinds.yaml");
    control.ok(&["apply", "-f", file.to_str().unwrap()]);
    let applied = |bindings: &Value| {
        let items = list(&bindings["items"]);
        !items.is_empty() && items.iter().all(|binding| condition(binding, "FullyApplied") == "True")
    };
    control.wait(&["get", "resourcebindings", "-n", "kinds"], "all are applied", applied);
    control.wait(&["get", "clusterresourcebindings"], "all are applied", applied);
    let kinds = |name: &'static str| ["get", name, "-n", "kinds"];
    control.wait(&kinds("job/j"), "the job is done, in each member three times", |job| {
        condition(job, "Complete") == "True" && job["status"]["succeeded"] == 6
    });
    control.wait(&kinds("statefulset/s"), "ready", |set| set["status"]["readyReplicas"] == 4);
    control.wait(&kinds("daemonset/ds"), "ready", |set| set["status"]["numberReady"] == 4);
    let all = "deployments,statefulsets,daemonsets,jobs,services,configmaps,secrets,persistentvolumeclaims,serviceaccounts,\
        ingresses,networkpolicies,horizontalpodautoscalers,poddisruptionbudgets,roles,resourcequotas,limitranges";
    let versions = || {
        let of = |kubectl: &Kubectl, what: &str| {
            let answer = kubectl.get(&["get", what, "-A"]);
            let version = |object: &Value| {
                (object["metadata"]["uid"].clone(), object["metadata"]["resourceVersion"].clone())
            };
            list(&answer["items"])
                .iter()
                .map(version)
                .map(|(uid, version)| format!("{uid} {version}"))
                .collect::<Vec<_>>()
        };
        [of(control, all), of(control, "works,resourcebindings"), of(members[0], all), of(members[1], all)]
    };
    let mut last = versions();
    let came_to_rest = real::kubectl::repeatedly(REST, || {
        let now = versions();
        std::mem::replace(&mut last, now) == last
    });
    assert!(came_to_rest, "somebody keeps writing");
    control.ok(&["delete", "-f", file.to_str().unwrap(), "--ignore-not-found"]);
    for member in members {
        member.wait_gone(&["get", "namespace", "kinds"]);
    }
}

/// While a member's API server is away the others go on; when it is back, it gets what it missed.
fn outage(control: &Kubectl, away: &mut Cluster, programs: &Programs, other: &Kubectl) {
    away.stop_api();
    let patch = json!({"data": {"motto": "closing soon"}}).to_string();
    control.ok(&["patch", "configmap", "web-settings", "-n", "shop", "--type=merge", "-p", &patch]);
    other.wait(&SETTINGS, "the other member goes on", |settings| settings["data"]["motto"] == "closing soon");
    control.wait(
        &["get", "resourcebinding", "web-settings-configmap", "-n", "shop"],
        "it says so",
        |binding| condition(binding, "FullyApplied") == "False",
    );
    away.start_api(programs);
    away.wait();
    away.kubectl
        .wait(&SETTINGS, "it got what it missed", |settings| settings["data"]["motto"] == "closing soon");
    let patch = json!({"data": {"motto": "mine again"}}).to_string();
    away.kubectl.ok(&["patch", "configmap", "web-settings", "-n", "shop", "--type=merge", "-p", &patch]);
    away.kubectl
        .wait(&SETTINGS, "drift is seen again", |settings| settings["data"]["motto"] == "closing soon");
}

fn delete(control: &Kubectl, members: [&Kubectl; 2]) {
    control.ok(&[
        "delete",
        "deployment,service,configmap",
        "web",
        "web-settings",
        "-n",
        "shop",
        "--ignore-not-found",
    ]);
    for member in members {
        for object in [&WEB, &SETTINGS, &SERVICE] {
            member.wait_gone(object);
        }
    }
    control.wait(&["get", "works", "-A"], "no Work of them is left", |works| {
        let held = |name: &str| {
            list(&works["items"]).iter().any(|work| {
                list(&work["spec"]["workload"]["manifests"])
                    .iter()
                    .any(|manifest| manifest["metadata"]["name"] == name)
            })
        };
        !held("web") && !held("web-settings")
    });
}

fn image_of(web: &Value) -> &Value {
    &web["spec"]["template"]["spec"]["containers"][0]["image"]
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn condition<'a>(object: &'a Value, kind: &str) -> &'a str {
    let found = list(&object["status"]["conditions"]).iter().find(|condition| condition["type"] == kind);
    found.and_then(|condition| condition["status"].as_str()).unwrap_or_default()
}
