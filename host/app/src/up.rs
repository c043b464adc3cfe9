//! `windlass up`: starts everything, applies the sample, shows how it spreads, serves until Ctrl-C.

use crate::cli::{Output, Pods, Up};
use crate::plane::{Options, Plane};
use crate::sample::{self, Applied};
use crate::table::{self, Row};
use anyhow::Context as _;
use serde_json::{Value, json};
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use windlass_apiserver::tls::files::write_private;
use windlass_object::condition;
use windlass_object::gvk::Gvr;
use windlass_object::path::{i64_at, list_at};
use windlass_runtime::{Handle, Informers};

/// How often at most the table is drawn anew.
const REDRAW: Duration = Duration::from_millis(50);

/// Runs until Ctrl-C, or with `--exit` until all is ready.
pub(crate) async fn run(args: Up) -> anyhow::Result<ExitCode> {
    let begun = Instant::now();
    let objects = args.sample.as_deref().map(sample::read).transpose()?;
    let member = windlass_simulator::Options {
        pods: match args.pods {
            Pods::Real => windlass_simulator::Pods::Real,
            Pods::Counted => windlass_simulator::Pods::Counted,
        },
        ..windlass_simulator::Options::default()
    };
    let plane = Plane::start(Options {
        members: args.members,
        member,
        controllers: windlass_controllers::Options {
            scheduler_names: args.scheduler_names.clone(),
            gates: args.gates.feature_gates.unwrap_or_default(),
            empty_workload_propagation: args.gates.enable_empty_workload_propagation,
            ..windlass_controllers::Options::default()
        },
        data_dir: args.data_dir.clone(),
        listen: args.listen,
        admin: args.admin_listen,
    })
    .await?;
    plane.shutdown.on_signals()?;
    let kubeconfig = kubeconfig_path(&args);
    write_private(&kubeconfig, serde_json::to_string_pretty(&plane.kubeconfig()?)?.as_bytes())
        .with_context(|| format!("kubeconfig {}", kubeconfig.display()))?;
    announce(&args, &plane, &kubeconfig, begun.elapsed());

    let token = plane.shutdown.token();
    let code = match objects {
        None => {
            if !args.exit {
                token.cancelled().await;
            }
            ExitCode::SUCCESS
        }
        Some(objects) => {
            let applied = sample::apply(&plane.control, &objects).await?;
            let view = View::new(&plane, applied);
            let deadline = args.exit.then(|| Duration::from_secs(args.deadline));
            let watched = tokio::select! {
                () = token.cancelled() => None,
                ready = view.show(&args, deadline) => Some(ready),
            };
            match watched {
                Some(false) => ExitCode::FAILURE,
                _ => ExitCode::SUCCESS,
            }
        }
    };
    plane.stop().await;
    Ok(code)
}

fn kubeconfig_path(args: &Up) -> PathBuf {
    if let Some(path) = &args.kubeconfig {
        return path.clone();
    }
    if let Some(folder) = &args.data_dir {
        return folder.join("kubeconfig");
    }
    let folder = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|folder| folder.is_dir());
    folder
        .unwrap_or_else(std::env::temp_dir)
        .join(format!("windlass-{}", std::process::id()))
        .join("kubeconfig")
}

fn announce(args: &Up, plane: &Plane, kubeconfig: &Path, took: Duration) {
    let contexts: Vec<&str> =
        std::iter::once("windlass").chain(plane.members.iter().map(|member| member.name())).collect();
    if args.output == Output::Json {
        let started = json!({
            "event": "started", "kubeconfig": kubeconfig, "address": plane.address, "admin": plane.admin,
            "contexts": contexts, "milliseconds": u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        });
        anstream::println!("{started}");
        return;
    }
    let shown = match contexts.as_slice() {
        [first, .., last] if contexts.len() > 5 => {
            format!("{first}, {} … {last}", contexts.get(1).unwrap_or(first))
        }
        all => all.join(", "),
    };
    let kept = match &args.data_dir {
        Some(folder) => format!("kept in {}", folder.display()),
        None => "in memory".to_owned(),
    };
    anstream::println!("Windlass is up after {:.2} s, {kept}.\n", took.as_secs_f64());
    anstream::println!("  export KUBECONFIG={}", kubeconfig.display());
    anstream::println!("  kubectl get clusters                      # contexts: {shown}");
    anstream::println!("  kubectl get deploy,rb,work -A");
    if !plane.members.is_empty() {
        anstream::println!("  kubectl --context member1 get pods -A");
    }
    anstream::println!("\n  metrics and health: http://{}/metrics, /healthz, /readyz\n", plane.admin);
}

/// What the sample has become.
struct View {
    applied: Vec<Applied>,
    bindings: Handle,
    cluster_bindings: Handle,
    decisions: windlass_controllers::scheduler::Decisions,
    deployments: Handle,
}

/// One look at it.
struct Seen {
    rows: Vec<Row>,
    /// What is not ready, in words.
    missing: Vec<String>,
}

impl View {
    fn new(plane: &Plane, applied: Vec<Applied>) -> Self {
        let informers = Informers::new(plane.control.clone());
        Self {
            applied,
            bindings: informers.watch(Gvr::new("work.karmada.io", "v1alpha2", "resourcebindings")),
            cluster_bindings: informers.watch(Gvr::new(
                "work.karmada.io",
                "v1alpha2",
                "clusterresourcebindings",
            )),
            deployments: informers.watch(Gvr::new("apps", "v1", "deployments")),
            decisions: plane.decisions.clone(),
        }
    }

    fn look(&self) -> Seen {
        let mut seen = Seen { rows: Vec::new(), missing: Vec::new() };
        for object in self.applied.iter().filter(|object| object.is_template()) {
            let name = windlass_api::names::binding(&object.gvk.kind, &object.name);
            let label = format!("{}/{}", object.gvk.kind.to_lowercase(), object.name);
            let handle = if object.namespace.is_empty() { &self.cluster_bindings } else { &self.bindings };
            let Some(binding) = handle.get(&object.namespace, &name) else {
                seen.missing.push(format!("{label}: no policy has selected it yet"));
                continue;
            };
            let rows = table::rows(&binding, &self.decisions);
            let placed = rows.iter().filter(|row| row.state != "refused").count();
            for row in rows.iter().filter(|row| !matches!(row.state, "ready" | "refused")) {
                seen.missing.push(match row.cluster.as_str() {
                    "" => format!("{label}: {}", row.why),
                    cluster => format!("{label} in {cluster}: {}", row.why),
                });
            }
            if placed == 0 {
                seen.missing.push(format!("{label}: no cluster fits"));
            }
            if !condition::is_true(condition::of(&binding), "FullyApplied") {
                seen.missing.push(format!("{label}: not fully applied"));
            }
            if list_at(&binding, &["status", "aggregatedStatus"]).len()
                != list_at(&binding, &["spec", "clusters"]).len()
            {
                seen.missing.push(format!("{label}: not all clusters have reported"));
            }
            seen.rows.extend(rows);
            if object.gvk.kind == "Deployment"
                && let Some(live) = self.deployments.get(&object.namespace, &object.name)
                && i64_at(&live, &["status", "readyReplicas"]).unwrap_or(0)
                    < i64_at(&live, &["spec", "replicas"]).unwrap_or(1)
            {
                seen.missing.push(format!("{label}: its status is not aggregated yet"));
            }
        }
        self.expect_custom_resources(&mut seen);
        seen
    }

    /// A custom resource is where its definition is: until both clusters serve the kind it is only half there.
    fn expect_custom_resources(&self, seen: &mut Seen) {
        for definition in self.applied.iter().filter(|object| object.gvk.kind == "CustomResourceDefinition") {
            let name = windlass_api::names::binding(&definition.gvk.kind, &definition.name);
            let Some(binding) = self.cluster_bindings.get("", &name) else { continue };
            let wanted = list_at(&binding, &["spec", "clusters"]).len();
            let group = definition.name.split_once('.').map(|(_, group)| group).unwrap_or_default();
            for object in self.applied.iter().filter(|object| object.gvk.group == group) {
                let name = windlass_api::names::binding(&object.gvk.kind, &object.name);
                let there = self.bindings.get(&object.namespace, &name);
                if there.is_some_and(|binding| list_at(&binding, &["spec", "clusters"]).len() < wanted) {
                    seen.missing.push(format!(
                        "{}/{}: its kind is not served everywhere yet",
                        object.gvk.kind.to_lowercase(),
                        object.name
                    ));
                }
            }
        }
    }

    /// Shows it until it is ready; with a deadline returns then (false: not all is ready), without serves on.
    async fn show(&self, args: &Up, deadline: Option<Duration>) -> bool {
        let begun = Instant::now();
        for handle in [&self.bindings, &self.cluster_bindings, &self.deployments] {
            handle.synced().await;
        }
        let mut changes = self.bindings.subscribe();
        let mut cluster_changes = self.cluster_bindings.subscribe();
        let mut deployment_changes = self.deployments.subscribe();
        let mut screen = Screen::new(args.output);
        let mut announced = false;
        loop {
            let seen = self.look();
            let ready = seen.missing.is_empty();
            screen.draw(&seen, ready);
            if ready && !announced {
                announced = true;
                screen.ready(begun.elapsed(), deadline.is_some());
                if deadline.is_some() {
                    return true;
                }
            }
            let left = deadline.map(|deadline| deadline.saturating_sub(begun.elapsed()));
            if left.is_some_and(|left| left.is_zero()) {
                screen.late(&seen.missing);
                return false;
            }
            let wait = left.unwrap_or(Duration::from_secs(3600));
            tokio::select! {
                _ = changes.recv() => {}
                _ = cluster_changes.recv() => {}
                _ = deployment_changes.recv() => {}
                () = tokio::time::sleep(wait) => {}
            }
            tokio::time::sleep(REDRAW).await;
            while changes.try_recv().is_ok() {}
            while cluster_changes.try_recv().is_ok() {}
            while deployment_changes.try_recv().is_ok() {}
        }
    }
}

/// Where it is drawn: over itself on a terminal, else only when it is ready.
struct Screen {
    output: Output,
    terminal: bool,
    lines: usize,
    last: Vec<Row>,
}

impl Screen {
    fn new(output: Output) -> Self {
        Self { output, terminal: std::io::stdout().is_terminal(), lines: 0, last: Vec::new() }
    }

    fn draw(&mut self, seen: &Seen, ready: bool) {
        if seen.rows == self.last && !ready {
            return;
        }
        let fresh = seen.rows != self.last;
        self.last.clone_from(&seen.rows);
        if !fresh {
            return;
        }
        match self.output {
            Output::Json => {
                let rows: Vec<Value> = seen.rows.iter().map(Row::json).collect();
                anstream::println!(
                    "{}",
                    json!({"event": "state", "ready": ready, "rows": rows, "missing": seen.missing})
                );
            }
            Output::Table if self.terminal => {
                let text = table::render(&seen.rows, true);
                if self.lines > 0 {
                    anstream::print!("\u{1b}[{}A\u{1b}[J", self.lines);
                }
                self.lines = text.lines().count();
                anstream::print!("{text}");
            }
            Output::Table => {}
        }
    }

    fn ready(&mut self, took: Duration, ends: bool) {
        self.lines = 0;
        match self.output {
            Output::Json => {
                let milliseconds = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
                anstream::println!("{}", json!({"event": "ready", "milliseconds": milliseconds}));
            }
            Output::Table => {
                if !self.terminal && !self.last.is_empty() {
                    anstream::print!("{}", table::render(&self.last, false));
                }
                let then = if ends { "" } else { " Serving until Ctrl-C." };
                anstream::println!("\nReady after {:.2} s.{then}", took.as_secs_f64());
            }
        }
    }

    fn late(&self, missing: &[String]) {
        match self.output {
            Output::Json => anstream::println!("{}", json!({"event": "deadline", "missing": missing})),
            Output::Table => {
                anstream::eprintln!("windlass: the deadline has passed; still missing:");
                for line in missing {
                    anstream::eprintln!("  {line}");
                }
            }
        }
    }
}
