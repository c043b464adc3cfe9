//! Which server a request on the shared listener is for: `/members/<name>/…`
//! goes to that member with the prefix taken off, everything else to the
//! control plane.

use std::collections::BTreeMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
use axum::body::Body;
use futures::future::BoxFuture;
use http::uri::PathAndQuery;
use http::{Request, Response, Uri};

/// The first path segment of requests to members.
pub const MEMBERS: &str = "/members/";

/// Something that answers requests: a server, or a stand-in.
pub trait Endpoint: Send + Sync {
    /// Answers one request. An [`Identity`](crate::identity::Identity) among its
    /// extensions is that of the client certificate.
    fn call(&self, request: Request<Body>) -> BoxFuture<'static, Response<Body>>;
}

/// The endpoints behind one listener; members come and go while it runs.
#[derive(Clone)]
pub struct Routes {
    control: Arc<dyn Endpoint>,
    members: Arc<ArcSwap<BTreeMap<String, Arc<dyn Endpoint>>>>,
}

impl Routes {
    /// Everything goes to `control` until members are added.
    pub fn new(control: Arc<dyn Endpoint>) -> Self {
        Self { control, members: Arc::default() }
    }

    /// Serves a member under `/members/<name>/`, replacing one of the same name.
    pub fn insert(&self, name: &str, member: Arc<dyn Endpoint>) {
        self.members.rcu(|members| {
            let mut members = BTreeMap::clone(members);
            members.insert(name.to_owned(), member.clone());
            members
        });
    }

    /// Stops serving a member.
    pub fn remove(&self, name: &str) {
        self.members.rcu(|members| {
            let mut members = BTreeMap::clone(members);
            members.remove(name);
            members
        });
    }

    /// The path at which a member is served.
    pub fn member_path(name: &str) -> String {
        format!("{MEMBERS}{name}")
    }

    /// The endpoint for a request, whose address loses the member's prefix.
    /// `Err`: the name of a member that is not here.
    pub fn select<B>(&self, request: &mut Request<B>) -> Result<Arc<dyn Endpoint>, String> {
        let Some(rest) = request.uri().path().strip_prefix(MEMBERS) else {
            return Ok(self.control.clone());
        };
        let name = rest.split('/').next().unwrap_or_default();
        let member = self.members.load().get(name).cloned().ok_or_else(|| name.to_owned())?;
        let prefix = MEMBERS.len() + name.len();
        let tail =
            request.uri().path_and_query().and_then(|whole| whole.as_str().get(prefix..)).unwrap_or("/");
        let tail = if tail.starts_with('/') { tail.to_owned() } else { format!("/{tail}") };
        // A tail of a valid address is one; should it not be, the root answers.
        let stripped = PathAndQuery::try_from(tail).unwrap_or_else(|_| PathAndQuery::from_static("/"));
        let mut parts = std::mem::take(request.uri_mut()).into_parts();
        parts.path_and_query = Some(stripped);
        *request.uri_mut() = Uri::from_parts(parts).unwrap_or_default();
        Ok(member)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Echo(&'static str);

    impl Endpoint for Echo {
        fn call(&self, request: Request<Body>) -> BoxFuture<'static, Response<Body>> {
            let answer = format!("{} {}", self.0, request.uri());
            Box::pin(async move { Response::new(Body::from(answer)) })
        }
    }

    async fn ask(routes: &Routes, uri: &str) -> String {
        let mut request = Request::get(uri).body(Body::empty()).unwrap();
        match routes.select(&mut request) {
            Err(name) => format!("no {name}"),
            Ok(endpoint) => {
                let body = endpoint.call(request).await.into_body();
                String::from_utf8(axum::body::to_bytes(body, 1000).await.unwrap().to_vec()).unwrap()
            }
        }
    }

    #[tokio::test]
    async fn members_are_found_by_their_prefix() {
        let routes = Routes::new(Arc::new(Echo("control")));
        routes.insert("m1", Arc::new(Echo("one")));
        for (uri, answer) in [
            ("/api/v1/pods?limit=5", "control /api/v1/pods?limit=5"),
            ("/members/m1/api/v1/pods?limit=5", "one /api/v1/pods?limit=5"),
            ("/members/m1", "one /"),
            ("/members/m1?x=y", "one /?x=y"),
            ("/members/m2/api", "no m2"),
            ("/membersonly", "control /membersonly"),
            ("https://host:1/members/m1/version", "one https://host:1/version"),
        ] {
            assert_eq!(ask(&routes, uri).await, answer);
        }
        routes.remove("m1");
        assert_eq!(ask(&routes, "/members/m1/api").await, "no m1");
    }
}
