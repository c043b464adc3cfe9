//! Acting as someone else (`kubectl --as`): the headers that say so, and whether
//! the caller may.

use std::collections::BTreeMap;

use http::HeaderMap;

use super::authorize::{Attributes, Authorizer, Decision, ResourceAttributes, UNAUTHENTICATED};
use super::service_account::USER_PREFIX;
use crate::error::{ApiError, Target};
use crate::identity::Identity;

const USER: &str = "impersonate-user";
const GROUP: &str = "impersonate-group";
const UID: &str = "impersonate-uid";
const EXTRA: &str = "impersonate-extra-";

/// The identity that counts: the caller's, or the one that the headers name, if
/// the caller may act as the user and each of the groups.
pub fn effective(
    caller: Identity,
    headers: &HeaderMap,
    authorizer: &dyn Authorizer,
) -> Result<Identity, ApiError> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let user = text(USER);
    if user.is_empty() {
        if headers
            .keys()
            .any(|name| name.as_str() == GROUP || name.as_str() == UID || name.as_str().starts_with(EXTRA))
        {
            return Err(ApiError::bad_request(
                "acting as a group, uid or extra needs the header Impersonate-User too",
            ));
        }
        return Ok(caller);
    }
    let mut groups: Vec<String> =
        headers.get_all(GROUP).iter().filter_map(|value| value.to_str().ok()).map(str::to_owned).collect();
    let mut extra: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, value) in headers {
        if let (Some(key), Ok(value)) = (name.as_str().strip_prefix(EXTRA), value.to_str()) {
            extra.entry(key.to_owned()).or_default().push(value.to_owned());
        }
    }
    let account = user.strip_prefix(USER_PREFIX).and_then(|rest| rest.split_once(':'));
    let mut asked = match account {
        Some((namespace, name)) => vec![("serviceaccounts", namespace, name)],
        None => vec![("users", "", user)],
    };
    asked.extend(groups.iter().map(|group| ("groups", "", group.as_str())));
    for (resource, namespace, name) in asked {
        may(&caller, authorizer, resource, namespace, name)?;
    }
    if let (Some((namespace, _)), true) = (account, groups.is_empty()) {
        groups = vec!["system:serviceaccounts".to_owned(), format!("system:serviceaccounts:{namespace}")];
    }
    let uid = text(UID).to_owned();
    let anonymous = Identity::anonymous();
    if user == anonymous.user {
        groups.push(UNAUTHENTICATED.to_owned());
        return Ok(Identity { groups, uid, extra, ..anonymous });
    }
    let groups: Vec<&str> = groups.iter().map(String::as_str).collect();
    Ok(Identity { uid, extra, ..Identity::new(user, &groups) })
}

fn may(
    caller: &Identity,
    authorizer: &dyn Authorizer,
    resource: &str,
    namespace: &str,
    name: &str,
) -> Result<(), ApiError> {
    if caller.is_master() {
        return Ok(());
    }
    let what = ResourceAttributes { resource, namespace, name, version: "v1", ..Default::default() };
    let decision =
        authorizer.authorize(caller, &Attributes { verb: "impersonate", resource: Some(what), path: "" });
    if decision == Decision::Allow {
        return Ok(());
    }
    let detail = format!(
        "User {:?} cannot impersonate resource {resource:?} in API group \"\" at the cluster scope",
        caller.user
    );
    Err(ApiError::forbidden(Target::new("", resource, name), &detail))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::Authenticated;

    fn act(caller: Identity, pairs: &[(&'static str, &str)]) -> Result<Identity, u16> {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, value.parse().unwrap());
        }
        effective(caller, &headers, &Authenticated).map_err(|error| error.code)
    }

    #[test]
    fn callers_become_whom_they_may_be() {
        let me = || Identity::new("me", &[]);
        assert_eq!(act(me(), &[]).unwrap().user, "me");
        let other = act(me(), &[(USER, "you"), (GROUP, "a"), (GROUP, "b")]).unwrap();
        assert_eq!(
            (other.user.as_str(), other.groups.join(",")),
            ("you", "a,b,system:authenticated".to_owned())
        );
        let account = act(me(), &[(USER, "system:serviceaccount:n:s")]).unwrap();
        assert!(account.groups.contains(&"system:serviceaccounts:n".to_owned()));
        assert!(
            !act(me(), &[(USER, "system:anonymous")])
                .unwrap()
                .groups
                .contains(&"system:authenticated".to_owned())
        );
        assert_eq!(act(me(), &[(GROUP, "a")]), Err(400));
        assert_eq!(act(Identity::anonymous(), &[(USER, "you")]), Err(403));
    }
}
