//! How soon members follow a change: of the policy, the template, its scale, a cluster's label; and how soon what somebody
//! does in a member is put right.

use super::figures::Figures;
use super::start::{Folder, options};
use crate::plane::Plane;
use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::UnboundedReceiver;
use windlass_apiserver::identity::Identity;
use windlass_object::gvk::Gvr;
use windlass_object::meta::Meta;
use windlass_object::path::i64_at;
use windlass_runtime::client::in_process;
use windlass_runtime::objects::Propagation;
use windlass_runtime::{Change, Handle, Informers, Objects};

/// How often each change is made.
const ROUNDS: usize = 20;

/// Members that there are.
const MEMBERS: usize = 3;

/// Where it all happens.
const NAMESPACE: &str = "follow";

/// The application, and its policy.
const NAME: &str = "web";

/// The label that a policy asks for.
const LABEL: &str = "follow.windlass.io/here";

/// After this something is stuck.
const DEADLINE: Duration = Duration::from_secs(30);

/// Between two changes, so that none meets what is left of another.
const PAUSE: Duration = Duration::from_millis(300);

/// A copy in each member, or none.
type Copies = [Option<Arc<Value>>];

/// Looks at the application's copies in all members.
struct Members {
    deployments: Vec<Objects>,
    handles: Vec<Handle>,
    changes: Vec<UnboundedReceiver<Change>>,
}

impl Members {
    async fn of(plane: &Plane) -> Self {
        let gvr = Gvr::new("apps", "v1", "deployments");
        let mut members = Self { deployments: Vec::new(), handles: Vec::new(), changes: Vec::new() };
        for member in &plane.members {
            let client = in_process(member.server().service(Identity::system()), NAMESPACE);
            let handle = Informers::new(client.clone()).watch(&gvr);
            handle.synced().await;
            members.deployments.push(Objects::new(client, &gvr));
            members.changes.push(handle.subscribe());
            members.handles.push(handle);
        }
        members
    }

    /// How long it takes until all copies are as wanted.
    async fn until(&mut self, begun: Instant, wanted: impl Fn(&Copies) -> bool) -> anyhow::Result<Duration> {
        loop {
            let copies: Vec<Option<Arc<Value>>> =
                self.handles.iter().map(|handle| handle.get(NAMESPACE, NAME)).collect();
            if wanted(&copies) {
                return Ok(begun.elapsed());
            }
            let next =
                futures::future::select_all(self.changes.iter_mut().map(|changes| Box::pin(changes.recv())));
            let left = DEADLINE.saturating_sub(begun.elapsed());
            if tokio::time::timeout(left, next).await.is_err() {
                bail!("the members did not follow within {} s", DEADLINE.as_secs());
            }
        }
    }
}

/// Everything that changes are made with, and how long they took.
struct Bench {
    templates: Objects,
    policies: Objects,
    clusters: Objects,
    members: Members,
    times: Vec<(&'static str, Vec<Duration>)>,
}

pub(super) async fn run() -> anyhow::Result<Figures> {
    let folder = Folder::new("follow")?;
    let plane = Plane::start(options(MEMBERS, folder.path())).await?;
    let objects = |group: &str, version: &str, resource: &str| {
        Objects::new(plane.control.clone(), &Gvr::new(group, version, resource))
    };
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}});
    objects("", "v1", "namespaces").create(&namespace).await?;
    let mut bench = Bench {
        templates: objects("apps", "v1", "deployments"),
        policies: objects("policy.karmada.io", "v1alpha1", "propagationpolicies"),
        clusters: objects("cluster.karmada.io", "v1alpha1", "clusters"),
        members: Members::of(&plane).await,
        times: Vec::new(),
    };
    bench.all().await?;
    let mut figures = Figures::new(format!(
        "follow: {MEMBERS} members follow {ROUNDS} changes of each kind (durable store, real pods; median, longest)"
    ));
    for (title, times) in &mut bench.times {
        times.sort_unstable();
        let show = |time: Option<&Duration>| time.map_or(0, Duration::as_millis);
        let (median, longest) = (show(times.get(times.len() / 2)), show(times.last()));
        figures.target(*title, format!("{median}, {longest} ms"), "1 s");
    }
    plane.stop().await;
    Ok(figures)
}

/// Whether the copies are just there.
fn on(copies: &Copies, members: &[usize]) -> bool {
    copies.iter().enumerate().all(|(place, copy)| copy.is_some() == members.contains(&(place + 1)))
}

/// Whether all copies that there are have this many replicas.
fn replicas(copies: &Copies, count: i64) -> bool {
    copies.iter().flatten().all(|copy| i64_at(copy, &["spec", "replicas"]) == Some(count))
}

impl Bench {
    async fn all(&mut self) -> anyhow::Result<()> {
        for member in ["member1", "member2"] {
            self.clusters.patch_merge("", member, &json!({"metadata": {"labels": {LABEL: "yes"}}})).await?;
        }
        self.policies.create(&policy()).await?;
        for _ in 0..ROUNDS {
            let begun = self.begin().await;
            self.templates.create(&template()).await?;
            self.until("create: in two members", begun, |copies| on(copies, &[1, 2])).await?;
            let begun = self.begin().await;
            self.templates.delete(NAMESPACE, NAME, None, Propagation::Background).await?;
            self.until("delete: gone everywhere", begun, |copies| on(copies, &[])).await?;
        }
        self.templates.create(&template()).await?;
        for round in 0..ROUNDS {
            let begun = self.begin().await;
            let mark = round.to_string();
            self.change(json!({"metadata": {"labels": {"round": mark}}})).await?;
            self.until("template: its new label", begun, |copies| {
                on(copies, &[1, 2])
                    && copies.iter().flatten().all(|copy| copy.label("round") == Some(mark.as_str()))
            })
            .await?;
            let begun = self.begin().await;
            let count = 1 + i64::from(round % 2 == 0);
            self.change(json!({"spec": {"replicas": count}})).await?;
            self.until("scale: the new number", begun, |copies| replicas(copies, count)).await?;
            self.in_members(count).await?;
            self.elsewhere(round).await?;
        }
        Ok(())
    }

    /// What somebody does in a member.
    async fn in_members(&mut self, count: i64) -> anyhow::Result<()> {
        let Some(copies) = self.members.deployments.first().cloned() else { bail!("there is no member") };
        let begun = self.begin().await;
        let drifted = copies.patch_merge(NAMESPACE, NAME, &json!({"spec": {"replicas": 7}})).await?;
        // What is put right has a later generation; before, the edit may not even be seen.
        self.until("drift: replicas put right", begun, |copies| {
            let copy = copies.first().and_then(Option::as_ref);
            copy.is_some_and(|copy| copy.generation() > drifted.generation()) && replicas(copies, count)
        })
        .await?;
        let begun = self.begin().await;
        let held = copies.get(NAMESPACE, NAME).await?.unwrap_or_default();
        copies.delete(NAMESPACE, NAME, None, Propagation::Background).await?;
        self.until("loss: made again", begun, |copies| {
            copies.first().and_then(Option::as_ref).is_some_and(|copy| copy.uid() != held.uid())
        })
        .await
    }

    /// What moves the copies.
    async fn elsewhere(&mut self, round: usize) -> anyhow::Result<()> {
        let place = |affinity: Value| json!({"spec": {"placement": {"clusterAffinity": affinity}}});
        let names = |names: &[&str]| place(json!({"clusterNames": names, "labelSelector": null}));
        let labelled = place(json!({"clusterNames": null, "labelSelector": {"matchLabels": {LABEL: "yes"}}}));
        if round.is_multiple_of(2) {
            let begun = self.begin().await;
            self.policies.patch_merge(NAMESPACE, NAME, &names(&["member2", "member3"])).await?;
            self.until("policy: other members", begun, |copies| on(copies, &[2, 3])).await?;
            let begun = self.begin().await;
            self.policies.patch_merge(NAMESPACE, NAME, &names(&["member1", "member2"])).await?;
            return self.until("policy: other members", begun, |copies| on(copies, &[1, 2])).await;
        }
        self.policies.patch_merge(NAMESPACE, NAME, &labelled).await?;
        for (value, members) in [(json!("yes"), &[1, 2, 3][..]), (Value::Null, &[1, 2])] {
            let begun = self.begin().await;
            let label = json!({"metadata": {"labels": {LABEL: value}}});
            self.clusters.patch_merge("", "member3", &label).await?;
            self.until("cluster's label: one member more or less", begun, |copies| on(copies, members))
                .await?;
        }
        Ok(())
    }

    async fn change(&self, patch: Value) -> anyhow::Result<()> {
        self.templates.patch_merge(NAMESPACE, NAME, &patch).await?;
        Ok(())
    }

    async fn begin(&self) -> Instant {
        tokio::time::sleep(PAUSE).await;
        Instant::now()
    }

    async fn until(
        &mut self,
        title: &'static str,
        begun: Instant,
        wanted: impl Fn(&Copies) -> bool,
    ) -> anyhow::Result<()> {
        let took = self.members.until(begun, wanted).await.context(title)?;
        match self.times.iter_mut().find(|(held, _)| *held == title) {
            Some((_, times)) => times.push(took),
            None => self.times.push((title, vec![took])),
        }
        Ok(())
    }
}

fn template() -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": NAME, "namespace": NAMESPACE},
        "spec": {
            "replicas": 1, "selector": {"matchLabels": {"app": NAME}},
            "template": {
                "metadata": {"labels": {"app": NAME}}, "spec": {"containers": [{"name": "c", "image": "i"}]},
            },
        },
    })
}

fn policy() -> Value {
    json!({
        "apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy",
        "metadata": {"name": NAME, "namespace": NAMESPACE},
        "spec": {
            "resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment"}],
            "placement": {
                "clusterAffinity": {"clusterNames": ["member1", "member2"]},
                "clusterTolerations": [{"operator": "Exists"}],
            },
        },
    })
}
