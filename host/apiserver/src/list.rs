//! The verb `list`: one consistent revision, in pages if asked.

use crate::error::{ApiError, Cause, Target};
use crate::handler::{Call, List, Options, Outcome};
use crate::present;
use crate::selection::Selection;
use crate::server::Server;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use windlass_store::{Snapshot, Store};

const EXACT: &str = "Exact";
const NOT_OLDER: &str = "NotOlderThan";

pub(crate) async fn list(server: &Server, call: Call) -> Result<Outcome, ApiError> {
    let resource = call.resource.clone();
    check(&call.options)?;
    let selection = Selection::parse(&resource, &call.options)?;
    let prefix = resource.range(&call.namespace);
    let (snapshot, after) = view(server.store().as_ref(), &call.options, &prefix)?;
    let limit = usize::try_from(call.options.limit).unwrap_or(usize::MAX);
    let mut list = List {
        resource: resource.clone(),
        items: Vec::new(),
        resource_version: snapshot.revision(),
        continue_token: String::new(),
        remaining: None,
    };
    let everything = selection.is_everything();
    let mut last = "";
    let mut rest = snapshot.range(&prefix, after.as_deref());
    for (key, entry) in rest.by_ref() {
        if !everything {
            if selection.name.as_deref().is_some_and(|name| key.rsplit('/').next() != Some(name)) {
                continue;
            }
            if !selection.matches(&entry.json_uncached()) {
                continue;
            }
        }
        if limit > 0 && list.items.len() == limit {
            list.continue_token = token(snapshot.revision(), last.get(prefix.len()..).unwrap_or_default());
            list.remaining = everything.then(|| 1 + rest.count() as u64);
            break;
        }
        last = key;
        list.items.push(present::present(&resource, entry));
    }
    Ok(Outcome::List(list))
}

/// What may be asked together.
fn check(options: &Options) -> Result<(), ApiError> {
    let mut causes = Vec::new();
    if let Some(matching) = options.resource_version_match.as_deref() {
        let field = "resourceVersionMatch";
        if options.resource_version.is_none() {
            causes.push(Cause::forbidden(
                field,
                "resourceVersionMatch is forbidden unless resourceVersion is provided",
            ));
        }
        if options.continue_token.is_some() {
            causes
                .push(Cause::forbidden(field, "resourceVersionMatch is forbidden when continue is provided"));
        }
        if matching != EXACT && matching != NOT_OLDER {
            causes.push(Cause::not_supported(field, &json!(matching), &[EXACT, NOT_OLDER, ""]));
        }
        if matching == EXACT && options.resource_version.as_deref() == Some("0") {
            causes.push(Cause::forbidden(
                field,
                "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"",
            ));
        }
    }
    if options.send_initial_events.is_some() {
        causes.push(Cause::forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
    }
    refuse(causes)
}

/// Faults of list options as an answer.
pub(crate) fn refuse(causes: Vec<Cause>) -> Result<(), ApiError> {
    if causes.is_empty() {
        return Ok(());
    }
    Err(ApiError::invalid(Target::new("meta.k8s.io", "ListOptions", ""), causes))
}

/// A resourceVersion as a number.
pub(crate) fn revision(text: &str) -> Result<u64, ApiError> {
    text.parse().map_err(|_| {
        let cause = Cause::invalid("resourceVersion", &json!(text), "must be a number");
        ApiError::invalid(Target::new("meta.k8s.io", "ListOptions", ""), vec![cause])
    })
}

/// The state to list, and the key after which the page begins.
fn view(store: &dyn Store, options: &Options, prefix: &str) -> Result<(Snapshot, Option<String>), ApiError> {
    if let Some(text) = options.continue_token.as_deref() {
        if options.resource_version.as_deref().is_some_and(|version| version != "0") {
            return Err(ApiError::bad_request(
                "specifying resource version is not allowed when using continue",
            ));
        }
        let (at, start) = read_token(text)?;
        let after = Some(format!("{prefix}{start}"));
        let Some(at) = at else { return Ok((store.snapshot(), after)) };
        return match store.snapshot_at(at) {
            Ok(snapshot) => Ok((snapshot, after)),
            Err(_) => Err(continue_expired(&start)),
        };
    }
    let now = store.snapshot();
    let Some(text) = options.resource_version.as_deref().filter(|text| *text != "0") else {
        return Ok((now, None));
    };
    let asked = revision(text)?;
    if asked > now.revision() {
        return Err(ApiError::too_large_resource_version(asked, now.revision()));
    }
    // A page without a word on matching is of that very revision, as clients of old expect.
    let exact = match options.resource_version_match.as_deref() {
        Some(matching) => matching == EXACT,
        None => options.limit > 0,
    };
    if !exact {
        return Ok((now, None));
    }
    match store.snapshot_at(asked) {
        Ok(snapshot) => Ok((snapshot, None)),
        Err(gone) => Err(ApiError::expired(format!(
            "The provided resource version {asked} is too old: the oldest that can still be listed is {}",
            gone.compacted + 1
        ))),
    }
}

fn token(revision: u64, start: &str) -> String {
    URL_SAFE_NO_PAD.encode(json!({"v": "meta.k8s.io/v1", "rv": revision, "start": start}).to_string())
}

fn read_token(text: &str) -> Result<(Option<u64>, String), ApiError> {
    let bad = || ApiError::bad_request("continue key is not valid: use the token of a list as it was given");
    let bytes = URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).map_err(|_| bad())?;
    let token: Value = serde_json::from_slice(&bytes).map_err(|_| bad())?;
    let start = token.get("start").and_then(Value::as_str).ok_or_else(bad)?;
    match token.get("rv").and_then(Value::as_i64) {
        Some(-1) => Ok((None, start.to_owned())),
        Some(revision) => Ok((Some(u64::try_from(revision).map_err(|_| bad())?), start.to_owned())),
        None => Err(bad()),
    }
}

/// 410 with a token that goes on at the present revision.
fn continue_expired(start: &str) -> ApiError {
    let mut error = ApiError::expired(
        "The provided continue parameter is too old to display a consistent list result. You can start a new list \
         without the continue parameter, or use the continue token in this response to retrieve the remainder of the \
         results. Continuing with the provided token results in an inconsistent list - objects that were created, \
         modified, or deleted between the time the first chunk was returned and now may show up in the list.",
    );
    error.continue_token =
        URL_SAFE_NO_PAD.encode(json!({"v": "meta.k8s.io/v1", "rv": -1, "start": start}).to_string()).into();
    error
}
