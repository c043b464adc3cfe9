//! Policies that select nothing: most often a slip of the pen, so their authors are told, and told why.

use super::{Detector, PolicyKey};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use windlass_object::gvk::Gvk;
use windlass_object::meta::Meta;
use windlass_object::path::{list_at, str_at};
use windlass_policy::Claim;
use windlass_policy::detect::PolicyChange;
use windlass_policy::matching::{Level, selector_level};
use windlass_runtime::Action;

/// Objects are often made right after their policy: so long they are waited for.
const GRACE: Duration = Duration::from_secs(5);

/// Why the event is written.
const NOTHING_SELECTED: &str = "NothingSelected";

impl Detector {
    /// A policy that had no objects when it was looked at last, and has some now: they came after it, and know it.
    pub(super) fn has_found_objects(
        &self,
        key: &PolicyKey,
        policy: &Value,
        change: &PolicyChange<'_>,
    ) -> bool {
        if change.requeue.is_empty() || !change.wake.is_empty() || !change.releases.is_empty() {
            return false;
        }
        self.idle().remove(key) == Some(policy.generation())
    }

    /// What a policy comes to that has no objects: it is looked at again, and then told about, once for each generation.
    pub(super) fn without_objects(&self, key: &PolicyKey, policy: &Value) -> Action {
        let generation = policy.generation();
        if self.idle().insert(key.clone(), generation) != Some(generation) {
            return Action::After(GRACE, "its objects may be on their way");
        }
        let reasons: Vec<String> = list_at(policy, &["spec", "resourceSelectors"])
            .iter()
            .map(|selector| {
                let gvk =
                    Gvk::from_api_version(str_at(selector, &["apiVersion"]), str_at(selector, &["kind"]));
                let served = self.context.apis.table().resolve(&gvk).is_some();
                let objects = served.then(|| self.watches.of_kind(&gvk).unwrap_or_default());
                why(policy, selector, objects.as_deref())
            })
            .collect();
        let message =
            format!("The policy has no objects: {}. It takes effect as soon as it has.", reasons.join("; "));
        self.recorder.warning(policy, NOTHING_SELECTED, message);
        Action::Done
    }
}

/// Why one selector gets nothing, given all objects of its kind (`None`: the kind isn't served).
fn why(policy: &Value, selector: &Value, objects: Option<&[Arc<Value>]>) -> String {
    let kind = format!("{} {}", str_at(selector, &["apiVersion"]), str_at(selector, &["kind"]));
    let Some(objects) = objects else {
        return format!(
            "the control plane does not serve {kind}: check the selector, or install its definition"
        );
    };
    let is_meant = |object: &&Arc<Value>| {
        let in_reach = policy.namespace().is_empty() || object.namespace() == policy.namespace();
        in_reach && selector_level(selector, object) > Level::None
    };
    let Some(held) = objects.iter().find(is_meant) else {
        let what = match str_at(selector, &["name"]) {
            "" => "that the selector means".to_owned(),
            name => format!("named {name}"),
        };
        let place = match (policy.namespace(), str_at(selector, &["namespace"])) {
            ("", "") => String::new(),
            ("", namespace) | (namespace, _) => format!(" in namespace {namespace}"),
        };
        return format!("there is no {kind} {what}{place}");
    };
    let name = windlass_api::names::namespaced(held.namespace(), held.name());
    match Claim::on(held) {
        Some(claim) => {
            let holder = windlass_api::names::namespaced(&claim.namespace, &claim.name);
            format!("{kind} {name} belongs to the policy {holder}")
        }
        None => format!("{kind} {name} is not propagated"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_reason_fits() {
        let policy = json!({"metadata": {"name": "p", "namespace": "shop"}});
        let selector = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "web"});
        let object = |namespace: &str, annotations: Value| {
            let metadata = json!({"name": "web", "namespace": namespace, "annotations": annotations});
            Arc::new(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}))
        };
        let elsewhere = [object("other", json!({}))];
        for (objects, expected) in [
            (
                None,
                "the control plane does not serve v1 ConfigMap: check the selector, or install its definition",
            ),
            (Some(&[][..]), "there is no v1 ConfigMap named web in namespace shop"),
            (Some(&elsewhere[..]), "there is no v1 ConfigMap named web in namespace shop"),
            (Some(&[object("shop", json!({}))][..]), "v1 ConfigMap shop/web is not propagated"),
        ] {
            assert_eq!(why(&policy, &selector, objects), expected);
        }
    }
}
