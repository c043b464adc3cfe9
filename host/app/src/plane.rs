//! A whole control plane in this process: store, API servers, simulated members, controllers, listener.

use crate::admission::Rules;
use crate::meter::Meter;
use crate::plugins::{self, Loaded};
use crate::{fleet, join};
use anyhow::Context as _;
use kube::Client;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use windlass_api::labels;
use windlass_apiserver::auth::{Es256, TokenIssuer};
use windlass_apiserver::identity::Identity;
use windlass_apiserver::server::{Profile, Server, ServerOptions};
use windlass_apiserver::tls::{self, Authority, Context as KubeContext, Routes, Tls};
use windlass_controllers::scheduler::{Decisions, SchedulerPlugins};
use windlass_members::Connector;
use windlass_object::condition;
use windlass_object::gvk::Gvr;
use windlass_object::meta::Meta;
use windlass_object::path::{list_at, str_at};
use windlass_runtime::admin::{self, Readiness};
use windlass_runtime::client::in_process;
use windlass_runtime::metrics::Metrics;
use windlass_runtime::{Informers, Objects, Shutdown};
use windlass_simulator::{Member, Options as MemberOptions};
use windlass_store::{Database, Options as StoreOptions};

/// How long tasks may take to end.
const DRAIN: Duration = Duration::from_secs(3);

/// How long simulated members may take to be ready before the start goes on without them.
const SETTLING: Duration = Duration::from_secs(10);

/// Members that are started at once.
const STARTING: usize = 16;

/// What a plane is made of.
pub(crate) struct Options {
    /// Simulated members.
    pub(crate) members: usize,
    /// What they are like.
    pub(crate) member: MemberOptions,
    /// What operators have set.
    pub(crate) controllers: windlass_controllers::Options,
    /// Where everything is kept; in memory if nowhere.
    pub(crate) data_dir: Option<PathBuf>,
    /// Where the API is served.
    pub(crate) listen: SocketAddr,
    /// Where metrics and health are served.
    pub(crate) admin: SocketAddr,
}

/// A running control plane.
pub(crate) struct Plane {
    /// A client of the control plane that may do everything.
    pub(crate) control: Client,
    /// The control plane's API server.
    pub(crate) server: Server,
    /// Simulated members.
    pub(crate) members: Vec<Member>,
    /// Why the schedulers decide as they do.
    pub(crate) decisions: Decisions,
    /// Where the API is served.
    pub(crate) address: SocketAddr,
    /// Where metrics and health are served.
    pub(crate) admin: SocketAddr,
    /// What was written through `control`.
    pub(crate) meter: Meter,
    /// Everything that runs.
    pub(crate) shutdown: Shutdown,
    authority: Authority,
    database: Database,
}

impl Plane {
    /// Starts everything; returns once the API is served and all members have joined.
    pub(crate) async fn start(options: Options) -> anyhow::Result<Self> {
        let shutdown = Shutdown::new();
        let gates = options.controllers.gates;
        let loaded = tokio::task::spawn_blocking(move || plugins::load_for(gates));
        let (database, authority, issuer) = open(options.data_dir.as_deref())?;
        let listener = TcpListener::bind(options.listen)
            .await
            .with_context(|| format!("--listen {}: is the port taken?", options.listen))?;
        let address = listener.local_addr()?;
        let base = ServerBase { authority: &authority, issuer, address };

        let control_store = database.keyspace("control").context("the control plane's store")?;
        let mut server_options = base.options("control", control_store, Profile::Control);
        server_options.admission.push(Arc::new(Rules));
        let server = Server::start(server_options).await?;
        let meter = Meter::default();
        let control = in_process(meter.over(server.service(Identity::system())), "default");
        let routes = Routes::new(Arc::new(server.clone()));
        let tls = Tls { config: authority.server(&[])? };
        shutdown.spawn(tls::serve(listener, tls, routes.clone(), shutdown.token()));
        install_crds(&control).await?;

        let connector = Connector::new(&control);
        // Before the controllers: after a restart the Clusters still name the port of the time before.
        let mut members = Vec::with_capacity(options.members);
        let numbers: Vec<usize> = (1..=options.members).collect();
        for chunk in numbers.chunks(STARTING) {
            let starts = chunk.iter().map(|number| {
                let shape = fleet::shape(*number);
                let store = database.keyspace(&shape.name);
                let server_options =
                    store.map(|store| (store.clone(), base.options(&shape.name, store, Profile::Member)));
                start_member(
                    &control,
                    &connector,
                    &routes,
                    shape,
                    server_options,
                    &options.member,
                    address,
                    &shutdown,
                )
            });
            for member in futures::future::join_all(starts).await {
                members.push(member?);
            }
        }
        let loaded = loaded.await??;
        let build = loaded.build();
        let Loaded { plugins, interpreters, transform, .. } = loaded;
        let (metrics, readiness) = (Metrics::new(), Readiness::new());
        let context = windlass_controllers::Context::new(
            control.clone(),
            connector.clone(),
            interpreters,
            transform,
            shutdown.clone(),
            readiness.clone(),
            options.controllers,
        );
        crate::faults::follow(&context, &members);
        let running = windlass_controllers::start(&context, SchedulerPlugins::Loaded(Arc::new(build)));
        crate::metrics::register(&metrics, plugins, meter.clone());
        let admin = admin::serve(options.admin, metrics, readiness.clone(), &shutdown)
            .await
            .with_context(|| format!("--admin-listen {}: is the port taken?", options.admin))?;

        all_ready(&control, &members).await;
        Ok(Self {
            control,
            server,
            members,
            decisions: running.decisions,
            address,
            admin,
            meter,
            shutdown,
            authority,
            database,
        })
    }

    /// A kubeconfig with a context for the control plane and for each simulated member.
    pub(crate) fn kubeconfig(&self) -> anyhow::Result<Value> {
        let client = self.authority.client("windlass-admin", "system:masters")?;
        let server = |path: &str| format!("https://{}{path}", self.address);
        let mut contexts = vec![KubeContext { name: "windlass".into(), server: server("") }];
        for member in &self.members {
            let path = Routes::member_path(member.name());
            contexts.push(KubeContext { name: member.name().to_owned(), server: server(&path) });
        }
        Ok(tls::kubeconfig(&self.authority, "windlass-admin", &client, &contexts))
    }

    /// Stops everything and closes the store.
    pub(crate) async fn stop(self) {
        self.server.stop();
        for member in &self.members {
            member.server().stop();
        }
        self.shutdown.drain(DRAIN).await;
        let database = self.database;
        // Closing waits for the writer's last commit. That it can't be joined would mean it panicked.
        let _ = tokio::task::spawn_blocking(move || database.close()).await;
    }
}

/// What all servers of the process have in common.
struct ServerBase<'a> {
    authority: &'a Authority,
    issuer: Arc<dyn TokenIssuer>,
    address: SocketAddr,
}

impl ServerBase<'_> {
    fn options(&self, name: &str, store: Arc<dyn windlass_store::Store>, profile: Profile) -> ServerOptions {
        let mut options = ServerOptions::new(name, store);
        options.profile = profile;
        options.front.issuer = Some(self.issuer.clone());
        options.ca = Some(self.authority.certificate_pem().to_owned());
        options.advertise = Some(self.address);
        options
    }
}

/// The store, the authority and the signer of tokens that a folder holds; new ones in memory without.
pub(crate) fn open(folder: Option<&Path>) -> anyhow::Result<(Database, Authority, Arc<dyn TokenIssuer>)> {
    let Some(folder) = folder else {
        let database = Database::memory(StoreOptions::default());
        return Ok((database, Authority::generate()?, Arc::new(Es256::generate()?)));
    };
    let pki = folder.join("pki");
    std::fs::create_dir_all(&pki).with_context(|| format!("data folder {}", folder.display()))?;
    let database = Database::open(folder.join("windlass.redb"), StoreOptions::default())
        .with_context(|| format!("store in {}", folder.display()))?;
    let authority = Authority::load_or_create(&pki)?;
    let issuer = Es256::load_or_create(&pki.join("tokens.key"))?;
    Ok((database, authority, Arc::new(issuer)))
}

pub(crate) async fn install_crds(control: &Client) -> anyhow::Result<()> {
    let definitions =
        Objects::new(control.clone(), &Gvr::new("apiextensions.k8s.io", "v1", "customresourcedefinitions"));
    let applied = windlass_api::crds().into_iter().map(|definition| {
        let definitions = definitions.clone();
        async move {
            let name = definition.name().to_owned();
            definitions
                .apply(&definition, "windlass", true)
                .await
                .with_context(|| format!("definition {name}"))
        }
    });
    for result in futures::future::join_all(applied).await {
        result?;
    }
    Ok(())
}

/// Waits until the members may be scheduled to. Without, what is applied at once goes to those that were the first.
async fn all_ready(control: &Client, members: &[Member]) {
    let informers = Informers::new(control.clone());
    let clusters = informers.watch(Gvr::new("cluster.karmada.io", "v1alpha1", "clusters"));
    clusters.synced().await;
    let mut changes = clusters.subscribe();
    let settled = |member: &Member| {
        clusters.get("", member.name()).is_some_and(|cluster| {
            let waits = |taint: &Value| {
                matches!(str_at(taint, &["key"]), labels::TAINT_NOT_READY | labels::TAINT_UNREACHABLE)
            };
            condition::is_true(condition::of(&cluster), "Ready")
                && !list_at(&cluster, &["status", "apiEnablements"]).is_empty()
                && !list_at(&cluster, &["spec", "taints"]).iter().any(waits)
        })
    };
    let all = async {
        while !members.iter().all(settled) {
            if changes.recv().await.is_none() {
                return;
            }
        }
    };
    if tokio::time::timeout(SETTLING, all).await.is_err() {
        tracing::warn!("not all simulated members are ready; going on without them");
    }
}

#[allow(clippy::too_many_arguments, reason = "called in one place; a struct would only repeat it")]
async fn start_member(
    control: &Client,
    connector: &Connector,
    routes: &Routes,
    shape: fleet::Shape,
    options: Result<(Arc<dyn windlass_store::Store>, ServerOptions), windlass_store::OpenError>,
    behaviour: &MemberOptions,
    address: SocketAddr,
    shutdown: &Shutdown,
) -> anyhow::Result<Member> {
    let name = shape.name.clone();
    let (store, options) = options.with_context(|| format!("store of {name}"))?;
    let server = Server::start(options).await?;
    let member = Member::start(server, store, behaviour.clone(), shutdown.token()).await?;
    routes.insert(&name, Arc::new(member.clone()));
    let endpoint = format!("https://{address}{}", Routes::member_path(&name));
    let client = in_process(member.service(Identity::system()), "default");
    connector.register(&endpoint, client.clone());
    let clusters = Objects::new(control.clone(), &Gvr::new("cluster.karmada.io", "v1alpha1", "clusters"));
    match clusters.get("", &name).await? {
        // From an earlier start: only the port may have changed.
        Some(held)
            if held.pointer("/spec/apiEndpoint").and_then(Value::as_str) != Some(endpoint.as_str()) =>
        {
            clusters.patch_merge("", &name, &json!({"spec": {"apiEndpoint": endpoint}})).await?;
        }
        Some(_) => {}
        None => {
            let cluster = json!({
                "apiEndpoint": endpoint, "provider": shape.provider, "region": shape.region,
                "zones": [shape.zone], "taints": shape.taints,
            });
            let spec = join::Spec { name: name.clone(), namespace: "karmada-cluster".into(), cluster };
            join::join(control, &client, &spec).await.with_context(|| format!("member {name}"))?;
        }
    }
    Ok(member)
}
