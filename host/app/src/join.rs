//! `windlass join`, and the same for simulated members: a service account in the member, its token in the
//! control plane, and the Cluster object that names both.

use crate::cli::Join;
use anyhow::{Context as _, bail};
use kube::Client;
use kube::config::{KubeConfigOptions, Kubeconfig};
use serde_json::{Value, json};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;
use windlass_api::labels::{IMPERSONATOR, LABEL_SYSTEM, SECRET_CA_BUNDLE, SECRET_TOKEN, VALUE_TRUE};
use windlass_api::names;
use windlass_object::gvk::Gvr;
use windlass_object::meta::Meta;
use windlass_runtime::Objects;
use windlass_runtime::objects::{is_already_exists, is_not_found};

/// How long a member may take to fill in a token.
const TOKEN_WAIT: Duration = Duration::from_secs(30);

/// How often it is asked meanwhile.
const TOKEN_POLL: Duration = Duration::from_millis(100);

/// What joins.
pub(crate) struct Spec {
    /// The Cluster's name.
    pub(crate) name: String,
    /// Namespace of accounts and secrets, on both sides.
    pub(crate) namespace: String,
    /// The rest of `spec` of the Cluster: endpoint, provider, region, …
    pub(crate) cluster: Value,
}

fn core(resource: &str) -> Gvr {
    Gvr::new("", "v1", resource)
}

fn rbac(resource: &str) -> Gvr {
    Gvr::new("rbac.authorization.k8s.io", "v1", resource)
}

async fn ensure(client: &Client, gvr: &Gvr, object: Value) -> Result<Value, kube::Error> {
    let objects = Objects::new(client.clone(), gvr);
    match objects.create(&object).await {
        Err(error) if is_already_exists(&error) => {
            let held = objects.get(object.namespace(), object.name()).await?;
            Ok(held.unwrap_or(object))
        }
        other => other,
    }
}

fn namespace(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": {"name": name, "labels": {LABEL_SYSTEM: VALUE_TRUE}},
    })
}

/// The account's token Secret, once the member has filled it in.
async fn token(member: &Client, namespace: &str, account: &str) -> anyhow::Result<Value> {
    ensure(
        member,
        &core("serviceaccounts"),
        json!({
            "apiVersion": "v1", "kind": "ServiceAccount",
            "metadata": {"name": account, "namespace": namespace, "labels": {LABEL_SYSTEM: VALUE_TRUE}},
        }),
    )
    .await
    .with_context(|| format!("service account {namespace}/{account} in the member"))?;
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/service-account-token",
        "metadata": {
            "name": account, "namespace": namespace, "labels": {LABEL_SYSTEM: VALUE_TRUE},
            "annotations": {"kubernetes.io/service-account.name": account},
        },
    });
    ensure(member, &core("secrets"), secret)
        .await
        .with_context(|| format!("secret {namespace}/{account} in the member"))?;
    let secrets = Objects::new(member.clone(), &core("secrets"));
    let filled = async {
        loop {
            match secrets.get(namespace, account).await {
                Ok(Some(secret)) if secret.pointer("/data/token").is_some() => return Ok(secret),
                Ok(_) => tokio::time::sleep(TOKEN_POLL).await,
                Err(error) => return Err(error),
            }
        }
    };
    match tokio::time::timeout(TOKEN_WAIT, filled).await {
        Ok(secret) => Ok(secret?),
        Err(_) => bail!("the member did not fill in a token for {namespace}/{account} within {TOKEN_WAIT:?}"),
    }
}

async fn rights(member: &Client, namespace: &str, account: &str) -> anyhow::Result<()> {
    let role = names::role(account);
    let labels = json!({LABEL_SYSTEM: VALUE_TRUE});
    let rules = json!([
        {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]},
        {"nonResourceURLs": ["*"], "verbs": ["get"]},
    ]);
    let api = "rbac.authorization.k8s.io/v1";
    let object = json!({"apiVersion": api, "kind": "ClusterRole", "metadata": {"name": role, "labels": labels}, "rules": rules});
    ensure(member, &rbac("clusterroles"), object)
        .await
        .with_context(|| format!("cluster role {role} in the member"))?;
    let object = json!({
        "apiVersion": api, "kind": "ClusterRoleBinding", "metadata": {"name": role, "labels": labels},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": namespace}],
    });
    ensure(member, &rbac("clusterrolebindings"), object)
        .await
        .with_context(|| format!("cluster role binding {role} in the member"))?;
    Ok(())
}

/// Lets a member join. Whatever is there already is used; a Cluster of the name must not be there.
pub(crate) async fn join(control: &Client, member: &Client, spec: &Spec) -> anyhow::Result<()> {
    let Spec { name, namespace: space, .. } = spec;
    windlass_validate::check_cluster_name(name)
        .map_err(|why| anyhow::anyhow!("cluster name {name:?}: {why}"))?;
    let clusters = Objects::new(control.clone(), &Gvr::new("cluster.karmada.io", "v1alpha1", "clusters"));
    let system = Objects::new(member.clone(), &core("namespaces")).get("", "kube-system").await;
    let system = system.context("the member can't be asked for its namespace kube-system")?;
    let id = system.as_ref().map(|namespace| namespace.uid().to_owned()).unwrap_or_default();
    let held = clusters.list("", "").await.context("the control plane's Clusters can't be listed")?;
    let same_id = |held: &Value| {
        !id.is_empty() && held.pointer("/spec/id").and_then(Value::as_str) == Some(id.as_str())
    };
    if held.iter().any(|held| held.name() == name || same_id(held)) {
        bail!("the cluster ID {id} or the cluster name {name} has been registered");
    }
    for client in [member, control] {
        ensure(client, &core("namespaces"), namespace(space))
            .await
            .with_context(|| format!("namespace {space}"))?;
    }
    let account = names::service_account(name);
    let impersonator = token(member, space, IMPERSONATOR).await?;
    rights(member, space, &account).await?;
    let credentials = token(member, space, &account).await?;

    let data =
        |secret: &Value, key: &str| secret.pointer(&format!("/data/{}", key.replace('/', "~1"))).cloned();
    let secret = |secret_name: &str, data: Value| {
        json!({
            "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
            "metadata": {"name": secret_name, "namespace": space, "labels": {LABEL_SYSTEM: VALUE_TRUE}},
            "data": data,
        })
    };
    let impersonation = names::impersonation_secret(name);
    let secrets = [
        secret(&impersonation, json!({SECRET_TOKEN: data(&impersonator, "token")})),
        secret(
            name,
            json!({SECRET_TOKEN: data(&credentials, "token"), SECRET_CA_BUNDLE: data(&credentials, "ca.crt")}),
        ),
    ];
    for object in &secrets {
        ensure(control, &core("secrets"), object.clone())
            .await
            .with_context(|| format!("secret {space}/{}", object.name()))?;
    }
    let mut cluster = json!({
        "apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster", "metadata": {"name": name},
        "spec": spec.cluster,
    });
    let reference = |secret: &str| json!({"namespace": space, "name": secret});
    if let Some(fields) = cluster.get_mut("spec").and_then(Value::as_object_mut) {
        fields.insert("id".into(), json!(id));
        fields.insert("syncMode".into(), json!("Push"));
        fields.insert("secretRef".into(), reference(name));
        fields.insert("impersonatorSecretRef".into(), reference(&impersonation));
    }
    let made = clusters.create(&cluster).await.with_context(|| format!("cluster {name}"))?;
    // The secrets go with the Cluster.
    let owner = json!({"metadata": {"ownerReferences": [{
        "apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster", "name": name, "uid": made.uid(),
        "controller": true, "blockOwnerDeletion": true,
    }]}});
    let objects = Objects::new(control.clone(), &core("secrets"));
    for object in &secrets {
        match objects.patch_merge(space, object.name(), &owner).await {
            Err(error) if !is_not_found(&error) => return Err(error).context("the secret's owner"),
            _ => {}
        }
    }
    Ok(())
}

/// How a kubeconfig says that a server is reached.
pub(crate) async fn config(
    file: Option<&Path>,
    context: Option<&str>,
    preferred: Option<&str>,
) -> anyhow::Result<kube::Config> {
    let held = match file {
        Some(file) => {
            Kubeconfig::read_from(file).with_context(|| format!("kubeconfig {}", file.display()))?
        }
        None => Kubeconfig::read().context("kubeconfig: give --kubeconfig or set KUBECONFIG")?,
    };
    let known = |name: &&str| held.contexts.iter().any(|context| context.name == **name);
    let context = context.or(preferred.filter(known)).map(str::to_owned);
    let options = KubeConfigOptions { context, ..KubeConfigOptions::default() };
    Ok(kube::Config::from_custom_kubeconfig(held, &options).await?)
}

/// `windlass join`.
pub(crate) async fn run(args: Join) -> anyhow::Result<ExitCode> {
    let control = config(args.kubeconfig.as_deref(), args.context.as_deref(), Some("windlass")).await?;
    let member = config(Some(&args.cluster_kubeconfig), args.cluster_context.as_deref(), None).await?;
    let mut cluster = json!({"apiEndpoint": member.cluster_url.to_string().trim_end_matches('/')});
    if let Some(fields) = cluster.as_object_mut() {
        let mut set = |field: &str, value: Value| fields.insert(field.to_owned(), value);
        if member.accept_invalid_certs {
            set("insecureSkipTLSVerification", json!(true));
        }
        if let Some(proxy) = &member.proxy_url {
            set("proxyURL", json!(proxy.to_string()));
        }
        if let Some(provider) = &args.cluster_provider {
            set("provider", json!(provider));
        }
        if let Some(region) = &args.cluster_region {
            set("region", json!(region));
        }
        if !args.cluster_zones.is_empty() {
            set("zones", json!(args.cluster_zones));
        }
    }
    let spec = Spec { name: args.name.clone(), namespace: args.cluster_namespace, cluster };
    join(&Client::try_from(control)?, &Client::try_from(member)?, &spec).await?;
    anstream::println!("cluster({}) is joined successfully", args.name);
    Ok(ExitCode::SUCCESS)
}
