//! Permission: the seam where role-based rules will stand, and the default:
//! who has signed in may do everything, others may look at the front door.

use crate::identity::Identity;

/// The group of everyone who has not said who they are.
pub const UNAUTHENTICATED: &str = "system:unauthenticated";

/// What someone wants to do.
#[derive(Clone, Copy, Debug)]
pub struct Attributes<'a> {
    /// The verb, in lower case.
    pub verb: &'a str,
    /// Set for resources; otherwise `path` counts.
    pub resource: Option<ResourceAttributes<'a>>,
    /// The URL path of a request that is not about a resource.
    pub path: &'a str,
}

/// The resource part of [`Attributes`]; names as in the request's address.
#[derive(Clone, Copy, Debug, Default)]
pub struct ResourceAttributes<'a> {
    /// API group.
    pub group: &'a str,
    /// Version.
    pub version: &'a str,
    /// Plural resource.
    pub resource: &'a str,
    /// Part below the object.
    pub subresource: &'a str,
    /// Namespace, empty for cluster-wide.
    pub namespace: &'a str,
    /// Name, empty for collections.
    pub name: &'a str,
}

/// An authorizer's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Go on.
    Allow,
    /// No rule allows it; with a reason for the user.
    Deny(String),
}

/// Says who may do what.
pub trait Authorizer: Send + Sync {
    /// Decides about one request.
    fn authorize(&self, who: &Identity, what: &Attributes<'_>) -> Decision;
}

/// Documents that everyone may read, signed in or not.
const PUBLIC: [&str; 8] =
    ["/healthz", "/livez", "/readyz", "/version", "/healthz/", "/livez/", "/readyz/", "/version/"];

/// Everyone who has signed in may do everything; nobody else may do more than
/// look at health and version.
#[derive(Clone, Copy, Debug, Default)]
pub struct Authenticated;

impl Authorizer for Authenticated {
    fn authorize(&self, who: &Identity, what: &Attributes<'_>) -> Decision {
        let public = what.resource.is_none()
            && matches!(what.verb, "get" | "head")
            && PUBLIC
                .iter()
                .any(|path| what.path == *path || (path.ends_with('/') && what.path.starts_with(path)));
        if public || !is_anonymous(who) {
            Decision::Allow
        } else {
            Decision::Deny("sign in with a client certificate or a bearer token".to_owned())
        }
    }
}

/// Whether the caller has not said who they are.
pub fn is_anonymous(who: &Identity) -> bool {
    who.groups.iter().any(|group| group == UNAUTHENTICATED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strangers_see_the_front_door_only() {
        let (me, nobody) = (Identity::new("me", &[]), Identity::anonymous());
        let pods = ResourceAttributes { version: "v1", resource: "pods", ..Default::default() };
        for (who, verb, resource, path, allowed) in [
            (&me, "list", Some(pods), "", true),
            (&nobody, "list", Some(pods), "", false),
            (&nobody, "get", None, "/version", true),
            (&nobody, "get", None, "/livez/ping", true),
            (&nobody, "post", None, "/livez", false),
            (&nobody, "get", None, "/healthzzz", false),
            (&nobody, "get", None, "/apis", false),
            (&me, "get", None, "/apis", true),
        ] {
            let decision = Authenticated.authorize(who, &Attributes { verb, resource, path });
            assert_eq!(decision == Decision::Allow, allowed, "{} {verb} {path}", who.user);
        }
    }
}
