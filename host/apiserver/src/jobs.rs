//! New Jobs get a selector and labels of their own uid, unless they bring a selector.

use serde_json::{Value, json};
use windlass_object::meta::Meta as _;
use windlass_object::path;

pub(crate) fn complete(job: &mut Value) {
    select(job);
    // Without labels of its own it has its pods'.
    let labels = path::get(job, &["spec", "template", "metadata", "labels"]).cloned();
    let own = path::get(job, &["metadata", "labels"]).and_then(Value::as_object);
    if own.is_none_or(|own| own.is_empty())
        && let Some(labels) = labels
    {
        path::set(job, &["metadata", "labels"], labels);
    }
}

fn select(job: &mut Value) {
    if path::bool_at(job, &["spec", "manualSelector"]) {
        return;
    }
    let (uid, name) = (job.uid().to_owned(), job.name().to_owned());
    for (key, value) in [
        ("controller-uid", &uid),
        ("batch.kubernetes.io/controller-uid", &uid),
        ("job-name", &name),
        ("batch.kubernetes.io/job-name", &name),
    ] {
        path::set(job, &["spec", "template", "metadata", "labels", key], json!(value));
    }
    path::set(job, &["spec", "selector", "matchLabels", "batch.kubernetes.io/controller-uid"], json!(uid));
}
