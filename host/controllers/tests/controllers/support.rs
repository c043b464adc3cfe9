//! A whole control plane in a test: API servers over a store in memory, simulated members, controllers, and whatever
//! plugins the test wants. No socket is opened.

use crate::meter::{Meter, metered};
use crate::plugins::SHIPPED;
use kube::Client;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};
use windlass_apiserver::admission::{Admission, Denied, Operation, Review};
use windlass_apiserver::identity::Identity;
use windlass_apiserver::server::{Profile as ServerProfile, Server, ServerOptions};
use windlass_controllers::scheduler::{Build, Decisions, SchedulerPlugins};
use windlass_controllers::{Context, Options};
use windlass_interpret::{Chain, Interpreter};
use windlass_members::Connector;
use windlass_object::gvk::{Gvk, Gvr};
use windlass_object::meta::Meta;
use windlass_object::{condition, path};
use windlass_policy::Transform;
use windlass_runtime::admin::Readiness;
use windlass_runtime::client::in_process;
use windlass_runtime::objects::Propagation;
use windlass_runtime::{Objects, Shutdown};
use windlass_schedule::Profile;
use windlass_schedule::plugin::{DEFAULT_FILTERS, DEFAULT_SCORES};
use windlass_simulator::{Fault, Member};
use windlass_store::Database;

/// How long a test waits for what must come. Nothing takes a tenth of it, but machines are busy.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// How often it looks meanwhile.
const POLL: Duration = Duration::from_millis(20);

/// What a control plane is to be like.
pub(crate) struct Setup {
    pub(crate) members: usize,
    pub(crate) interpreters: Vec<Arc<dyn Interpreter>>,
    pub(crate) transform: Arc<dyn Transform>,
    pub(crate) profile: Profile,
    /// Instead of the profile: whatever SchedulerProfiles ask for.
    pub(crate) build: Option<Build>,
    pub(crate) options: Options,
}

impl Setup {
    /// All as shipped; members' statuses are collected often, and count soon.
    pub(crate) fn shipped(members: usize) -> Self {
        let options = Options {
            status_interval: Duration::from_millis(200),
            status_threshold: Duration::from_millis(500),
            ..Options::default()
        };
        Self {
            members,
            interpreters: SHIPPED.interpreters(),
            transform: Arc::new(SHIPPED.transformers()),
            profile: SHIPPED.profile(&DEFAULT_FILTERS, &DEFAULT_SCORES).expect("all shipped plugins"),
            build: None,
            options,
        }
    }

    /// Starts it; all members are ready then.
    pub(crate) async fn start(self) -> Plane {
        Plane::start(self).await
    }
}

/// A running control plane.
pub(crate) struct Plane {
    pub(crate) control: Cluster,
    /// What controllers write to it.
    pub(crate) meter: Meter,
    /// `member1`, `member2`, …
    members: Vec<(Member, Cluster)>,
    /// Why the scheduler decided as it did.
    pub(crate) decisions: Decisions,
    server: Server,
    shutdown: Shutdown,
    database: Database,
}

impl Plane {
    async fn start(setup: Setup) -> Self {
        let shutdown = Shutdown::new();
        let database = Database::memory(windlass_store::Options::default());
        let store = database.keyspace("control").unwrap();
        let mut server_options = ServerOptions::new("control", store);
        server_options.admission.push(Arc::new(Rules));
        let server = Server::start(server_options).await.unwrap();
        let control = Cluster { client: in_process(server.service(Identity::system()), "default") };
        let meter = Meter::default();
        let client = in_process(metered(server.service(Identity::system()), &meter), "default");
        for definition in windlass_api::crds() {
            control.create(definition).await;
        }
        let connector = Connector::new(&client);
        let context = Context::new(
            client,
            connector.clone(),
            Chain::new(setup.interpreters),
            setup.transform,
            shutdown.clone(),
            Readiness::new(),
            setup.options,
        );
        let plugins = match setup.build {
            Some(build) => SchedulerPlugins::Loaded(build),
            None => setup.profile.into(),
        };
        let decisions = windlass_controllers::start(&context, plugins).decisions;
        let mut plane = Self { control, meter, members: Vec::new(), decisions, server, shutdown, database };
        for number in 1..=setup.members {
            plane.join(&format!("member{number}"), &connector).await;
        }
        for number in 1..=setup.members {
            plane.ready(&format!("member{number}"), "True").await;
        }
        plane
    }

    async fn join(&mut self, name: &str, connector: &Connector) {
        let store = self.database.keyspace(name).unwrap();
        let mut options = ServerOptions::new(name, store.clone());
        options.profile = ServerProfile::Member;
        let server = Server::start(options).await.unwrap();
        let behaviour = windlass_simulator::Options {
            ready_after: Duration::from_millis(50),
            ..windlass_simulator::Options::default()
        };
        let member = Member::start(server, store, behaviour, self.shutdown.token()).await.unwrap();
        let client = in_process(member.service(Identity::system()), "default");
        let endpoint = format!("https://{name}.test");
        connector.register(&endpoint, client);
        // Tests look behind the door that faults stand in.
        let behind = in_process(member.server().service(Identity::system()), "default");
        self.members.push((member, Cluster { client: behind }));
        let cluster = json!({
            "apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster", "metadata": {"name": name},
            "spec": {"apiEndpoint": endpoint, "syncMode": "Push"},
        });
        self.control.create(cluster).await;
    }

    fn member(&self, name: &str) -> &(Member, Cluster) {
        self.members.iter().find(|(member, _)| member.name() == name).expect("a member of this name")
    }

    /// What is in a member.
    pub(crate) fn in_member(&self, name: &str) -> &Cluster {
        &self.member(name).1
    }

    /// Switches a member's fault on or off.
    pub(crate) fn fault(&self, name: &str, fault: Fault) {
        self.member(name).0.faults().set(fault);
    }

    /// Waits until a Cluster's condition `Ready` has this status, and taints are as it calls for.
    pub(crate) async fn ready(&self, name: &str, status: &str) -> Value {
        self.until(&format!("cluster {name} is Ready={status}"), async || {
            let cluster = self.control.get("Cluster", "", name).await?;
            let tainted = path::list_at(&cluster, &["spec", "taints"])
                .iter()
                .any(|taint| path::str_at(taint, &["key"]).starts_with("cluster.karmada.io/"));
            let held = condition::status(condition::of(&cluster), "Ready") == Some(status);
            (held && tainted == (status != "True")).then_some(cluster)
        })
        .await
    }

    /// Waits until something can be seen.
    pub(crate) async fn until<T>(&self, what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
        let begun = Instant::now();
        loop {
            if let Some(seen) = look().await {
                return seen;
            }
            if begun.elapsed() > PATIENCE {
                panic!("waited in vain: {what}\n{}", self.dump().await);
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// Waits until an object of the control plane is as wanted; gives it.
    pub(crate) async fn object(
        &self,
        kind: &str,
        at: &str,
        what: &str,
        wanted: impl Fn(&Value) -> bool,
    ) -> Value {
        let (namespace, name) = split(at);
        self.until(&format!("{kind} {at}: {what}"), async || {
            self.control.get(kind, namespace, name).await.filter(|object| wanted(object))
        })
        .await
    }

    /// Waits until an object of a member is as wanted; gives it.
    pub(crate) async fn copy(
        &self,
        member: &str,
        kind: &str,
        at: &str,
        what: &str,
        wanted: impl Fn(&Value) -> bool,
    ) -> Value {
        let (namespace, name) = split(at);
        self.until(&format!("{kind} {at} in {member}: {what}"), async || {
            self.in_member(member).get(kind, namespace, name).await.filter(|object| wanted(object))
        })
        .await
    }

    /// Waits until a member has no such object.
    pub(crate) async fn no_copy(&self, member: &str, kind: &str, at: &str) {
        let (namespace, name) = split(at);
        self.until(&format!("no {kind} {at} in {member}"), async || {
            self.in_member(member).get(kind, namespace, name).await.is_none().then_some(())
        })
        .await;
    }

    /// Waits for an event about an object; gives its message.
    pub(crate) async fn event(&self, kind: &str, at: &str, reason: &str, part: &str) -> String {
        let (namespace, name) = split(at);
        let space = if namespace.is_empty() { "default" } else { namespace };
        self.until(&format!("event {reason} on {kind} {at} with {part:?}"), async || {
            let events = self.control.list("Event", space).await;
            let found = events.into_iter().find(|event| {
                path::str_at(event, &["involvedObject", "kind"]) == kind
                    && path::str_at(event, &["involvedObject", "name"]) == name
                    && path::str_at(event, &["reason"]) == reason
                    && path::str_at(event, &["message"]).contains(part)
            })?;
            Some(path::str_at(&found, &["message"]).to_owned())
        })
        .await
    }

    /// Waits until a binding's (or Work's) condition is so; gives its message.
    pub(crate) async fn condition(
        &self,
        kind: &str,
        at: &str,
        type_: &str,
        status: &str,
        reason: &str,
    ) -> String {
        let what = format!("{type_}={status} {reason}");
        let object = self
            .object(kind, at, &what, |object| {
                let found = condition::find(condition::of(object), type_);
                found.is_some_and(|found| {
                    path::str_at(found, &["status"]) == status && path::str_at(found, &["reason"]) == reason
                })
            })
            .await;
        let found = condition::find(condition::of(&object), type_).unwrap();
        path::str_at(found, &["message"]).to_owned()
    }

    /// Everything that a test's author would look at.
    async fn dump(&self) -> String {
        let mut text = String::new();
        for kind in ["Cluster", "ResourceBinding", "ClusterResourceBinding", "Work"] {
            for object in self.control.list(kind, "").await {
                let place = windlass_api::names::namespaced(object.namespace(), object.name());
                let clusters = object.pointer("/spec/clusters").unwrap_or(&Value::Null);
                let conditions: Vec<String> = condition::of(&object)
                    .iter()
                    .map(|held| {
                        let part = |key: &str| path::str_at(held, &[key]).to_owned();
                        format!("{}={} {}: {}", part("type"), part("status"), part("reason"), part("message"))
                    })
                    .collect();
                let items = object.pointer("/status/aggregatedStatus").unwrap_or(&Value::Null);
                let _ = writeln!(text, "{kind} {place} {clusters} {conditions:?} {items}");
            }
        }
        for event in self.control.list("Event", "").await {
            let about = format!("{} {}", event["involvedObject"]["kind"], event["involvedObject"]["name"]);
            let _ = writeln!(text, "event {about}: {} {}", event["reason"], event["message"]);
        }
        text
    }
}

impl Drop for Plane {
    fn drop(&mut self) {
        self.shutdown.cancel();
        self.server.stop();
        for (member, _) in &self.members {
            member.server().stop();
        }
    }
}

fn split(at: &str) -> (&str, &str) {
    at.split_once('/').unwrap_or(("", at))
}

/// One API server, as its user sees it.
pub(crate) struct Cluster {
    client: Client,
}

impl Cluster {
    fn objects(&self, kind: &str) -> Objects {
        let (group, version, resource) = match kind {
            "Cluster" => ("cluster.karmada.io", "v1alpha1", "clusters"),
            "PropagationPolicy" => ("policy.karmada.io", "v1alpha1", "propagationpolicies"),
            "ClusterPropagationPolicy" => ("policy.karmada.io", "v1alpha1", "clusterpropagationpolicies"),
            "OverridePolicy" => ("policy.karmada.io", "v1alpha1", "overridepolicies"),
            "ResourceBinding" => ("work.karmada.io", "v1alpha2", "resourcebindings"),
            "ClusterResourceBinding" => ("work.karmada.io", "v1alpha2", "clusterresourcebindings"),
            "Work" => ("work.karmada.io", "v1alpha1", "works"),
            "SchedulerProfile" => ("plugins.windlass.io", "v1alpha1", "schedulerprofiles"),
            "Namespace" => ("", "v1", "namespaces"),
            "ConfigMap" => ("", "v1", "configmaps"),
            "Service" => ("", "v1", "services"),
            "Event" => ("", "v1", "events"),
            "Pod" => ("", "v1", "pods"),
            "Deployment" => ("apps", "v1", "deployments"),
            "CustomResourceDefinition" => ("apiextensions.k8s.io", "v1", "customresourcedefinitions"),
            "Misbehaving" => ("test.windlass.io", "v1", "misbehavings"),
            other => panic!("the harness does not know the resource of {other}"),
        };
        Objects::new(self.client.clone(), &Gvr::new(group, version, resource))
    }

    pub(crate) async fn create(&self, object: Value) -> Value {
        let gvk: Gvk = object.gvk();
        let objects = self.objects(&gvk.kind);
        objects.create(&object).await.unwrap_or_else(|why| panic!("create {gvk} {}: {why}", object.name()))
    }

    pub(crate) async fn get(&self, kind: &str, namespace: &str, name: &str) -> Option<Value> {
        self.objects(kind).get(namespace, name).await.unwrap_or_else(|why| panic!("get {kind} {name}: {why}"))
    }

    pub(crate) async fn list(&self, kind: &str, namespace: &str) -> Vec<Value> {
        self.objects(kind).list(namespace, "").await.unwrap_or_else(|why| panic!("list {kind}: {why}"))
    }

    /// A merge patch.
    pub(crate) async fn patch(&self, kind: &str, at: &str, patch: Value) -> Value {
        let (namespace, name) = split(at);
        let objects = self.objects(kind);
        objects
            .patch_merge(namespace, name, &patch)
            .await
            .unwrap_or_else(|why| panic!("patch {kind} {at}: {why}"))
    }

    pub(crate) async fn delete(&self, kind: &str, at: &str) {
        let (namespace, name) = split(at);
        let gone = self.objects(kind).delete(namespace, name, None, Propagation::Background).await;
        gone.unwrap_or_else(|why| panic!("delete {kind} {at}: {why}"));
    }
}

/// The rules of our kinds, as the app puts them into the API server.
struct Rules;

impl Admission for Rules {
    fn admit(&self, review: &mut Review) -> Result<(), Denied> {
        use windlass_validate as rules;
        if !review.subresource.is_empty() {
            return Ok(());
        }
        let operation = match review.operation {
            Operation::Create => rules::Operation::Create,
            Operation::Update => rules::Operation::Update,
            Operation::Delete => rules::Operation::Delete,
        };
        let old = review.old.clone();
        let mut gone = old.as_deref().cloned().unwrap_or_default();
        let object = review.object.as_mut().unwrap_or(&mut gone);
        match rules::admit(operation, &review.gvk, object, old.as_deref()) {
            Ok(_) => Ok(()),
            Err(denied) => Err(Denied { code: denied.code, message: denied.for_clients() }),
        }
    }
}

/// A ConfigMap of the namespace `shop`.
pub(crate) fn settings(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "shop"},
        "data": {"currency": "EUR"},
    })
}

/// A Deployment of the namespace `shop`.
pub(crate) fn deployment(name: &str, replicas: i64) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": "shop"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "main", "image": "registry.example/web:1"}]},
            },
        },
    })
}

/// A policy of the namespace `shop` for objects of a kind, of one name unless that is empty.
pub(crate) fn policy(
    name: &str,
    (api_version, kind, selected): (&str, &str, &str),
    placement: Value,
) -> Value {
    let mut selector = json!({"apiVersion": api_version, "kind": kind});
    if !selected.is_empty() {
        selector["name"] = json!(selected);
    }
    json!({
        "apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"resourceSelectors": [selector], "placement": placement},
    })
}

/// The namespace `shop`.
pub(crate) fn shop() -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}})
}

/// A placement onto these clusters.
pub(crate) fn onto(clusters: &[&str]) -> Value {
    json!({"clusterAffinity": {"clusterNames": clusters}})
}
