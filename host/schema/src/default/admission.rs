//! Kinds that extend the API server: webhooks, admission policies, CRDs, aggregated services.

use super::Fields;
use serde_json::{Map, Value, json};

type Object = Map<String, Value>;

const HTTPS: i32 = 443;
/// How long a webhook may take.
const WEBHOOK_SECONDS: i32 = 10;

pub(super) fn registration(kind: &str, object: &mut Object) {
    match kind {
        "MutatingWebhookConfiguration" => object.each("webhooks", |hook| {
            webhook(hook);
            hook.set("reinvocationPolicy", "Never");
        }),
        "ValidatingWebhookConfiguration" => object.each("webhooks", webhook),
        "ValidatingAdmissionPolicy" | "MutatingAdmissionPolicy" => {
            let Some(spec) = object.inner("spec") else { return };
            spec.set("failurePolicy", "Fail");
            if let Some(matching) = spec.inner("matchConstraints") {
                match_resources(matching);
            }
        }
        "ValidatingAdmissionPolicyBinding" | "MutatingAdmissionPolicyBinding" => {
            if let Some(matching) = object.inner("spec").and_then(|spec| spec.inner("matchResources")) {
                match_resources(matching);
            }
        }
        _ => {}
    }
}

fn webhook(hook: &mut Object) {
    hook.set("failurePolicy", "Fail");
    hook.set("matchPolicy", "Equivalent");
    hook.set("namespaceSelector", json!({}));
    hook.set("objectSelector", json!({}));
    hook.set("timeoutSeconds", WEBHOOK_SECONDS);
    hook.each("rules", |rule| rule.set("scope", "*"));
    if let Some(service) = hook.inner("clientConfig").and_then(|config| config.inner("service")) {
        service.set("port", HTTPS);
    }
}

fn match_resources(matching: &mut Object) {
    matching.set("matchPolicy", "Equivalent");
    matching.set("namespaceSelector", json!({}));
    matching.set("objectSelector", json!({}));
    for rules in ["resourceRules", "excludeResourceRules"] {
        matching.each(rules, |rule| rule.set("scope", "*"));
    }
}

pub(super) fn crd(object: &mut Object) {
    let spec = object.made("spec");
    let names = spec.made("names");
    let kind = names.text("kind").to_owned();
    if !kind.is_empty() {
        names.fill("singular", kind.to_lowercase());
        names.fill("listKind", format!("{kind}List"));
    }
    let conversion = spec.made("conversion");
    conversion.fill("strategy", "None");
    if let Some(service) = conversion
        .inner("webhook")
        .and_then(|hook| hook.inner("clientConfig"))
        .and_then(|config| config.inner("service"))
    {
        service.set("port", HTTPS);
    }
    // The Python client refuses null here.
    let status = object.made("status");
    status.set("conditions", Value::Array(Vec::new()));
    status.set("storedVersions", Value::Array(Vec::new()));
}

pub(super) fn api_service(object: &mut Object) {
    if let Some(service) = object.inner("spec").and_then(|spec| spec.inner("service")) {
        service.set("port", HTTPS);
    }
}

pub(super) fn flow_schema(object: &mut Object) {
    object.made("spec").fill("matchingPrecedence", 1000);
}

/// Seats and queues of a priority level.
pub(super) fn priority_level(object: &mut Object) {
    let spec = object.made("spec");
    if let Some(exempt) = spec.inner("exempt") {
        exempt.set("nominalConcurrencyShares", 0);
        exempt.set("lendablePercent", 0);
    }
    let Some(limited) = spec.inner("limited") else { return };
    limited.set("nominalConcurrencyShares", 30);
    limited.set("lendablePercent", 0);
    if let Some(queuing) = limited.inner("limitResponse").and_then(|r| r.inner("queuing")) {
        queuing.fill("handSize", 8);
        queuing.fill("queueLengthLimit", 50);
        queuing.fill("queues", 64);
    }
}
