//! Bearer tokens: a table of fixed ones, then our own service-account tokens,
//! which count only while what they are bound to exists.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use windlass_object::meta::Meta as _;

use super::jws::{Es256, ISSUER, TokenError, TokenIssuer};
use super::service_account::{Bearer, Reference};
use crate::error::ApiError;
use crate::identity::Identity;
use crate::server::Server;

/// How long an accepted token is not looked at again. Also how long one outlives its account.
const REMEMBER: Duration = Duration::from_secs(10);
/// How many accepted tokens are remembered; reaching it forgets all, which costs one check each.
const REMEMBERED: usize = 1024;

type Digest = [u8; 32];

/// Tokens are kept and compared by their digests, so that neither memory nor timing tells them.
fn digest(token: &str) -> Digest {
    let mut out = Digest::default();
    let digest = ring::digest::digest(&ring::digest::SHA256, token.as_bytes());
    out.iter_mut().zip(digest.as_ref()).for_each(|(to, from)| *to = *from);
    out
}

/// Says who bears a token.
pub struct Tokens {
    fixed: HashMap<Digest, Identity>,
    issuer: OnceLock<Option<Arc<dyn TokenIssuer>>>,
    accepted: Mutex<HashMap<Digest, (Identity, Instant)>>,
}

impl Tokens {
    /// A table of fixed tokens, and an issuer; without one a key is made on first use.
    pub fn new<'a>(
        fixed: impl IntoIterator<Item = (&'a String, &'a Identity)>,
        issuer: Option<Arc<dyn TokenIssuer>>,
    ) -> Self {
        Self {
            fixed: fixed.into_iter().map(|(token, identity)| (digest(token), identity.clone())).collect(),
            issuer: issuer.map_or_else(OnceLock::new, |issuer| OnceLock::from(Some(issuer))),
            accepted: Mutex::default(),
        }
    }

    /// The issuer of service-account tokens.
    pub fn issuer(&self) -> Result<Arc<dyn TokenIssuer>, ApiError> {
        let make = || Es256::generate().ok().map(|key| Arc::new(key) as Arc<dyn TokenIssuer>);
        self.issuer
            .get_or_init(make)
            .clone()
            .ok_or_else(|| ApiError::internal("cannot make a token signing key"))
    }

    /// The bearer of a token meant for this server.
    pub async fn identify(&self, server: &Server, token: &str) -> Result<Identity, ApiError> {
        let key = digest(token);
        if let Some(identity) = self.fixed.get(&key) {
            return Ok(identity.clone());
        }
        if let Some((identity, until)) =
            self.accepted.lock().unwrap_or_else(PoisonError::into_inner).get(&key)
            && *until > Instant::now()
        {
            return Ok(identity.clone());
        }
        let bearer = match self.check(server, token, &[ISSUER.to_owned()]).await {
            Ok((bearer, _)) => bearer,
            Err(error) => {
                tracing::debug!(%error, "bearer token refused");
                return Err(ApiError::unauthorized());
            }
        };
        let identity = bearer.identity();
        let mut accepted = self.accepted.lock().unwrap_or_else(PoisonError::into_inner);
        if accepted.len() >= REMEMBERED {
            accepted.clear();
        }
        accepted.insert(key, (identity.clone(), Instant::now() + REMEMBER));
        Ok(identity)
    }

    /// Checks one of our own tokens for any of these audiences (none given: our own),
    /// and gives those that fit.
    pub async fn check(
        &self,
        server: &Server,
        token: &str,
        audiences: &[String],
    ) -> Result<(Bearer, Vec<String>), TokenError> {
        let issuer = self.issuer().map_err(|_| TokenError::Signature)?;
        let bearer = Bearer::read(&issuer.verify(token)?).ok_or(TokenError::Malformed)?;
        let own = [ISSUER.to_owned()];
        let wanted = if audiences.is_empty() { &own } else { audiences };
        let fitting: Vec<String> =
            wanted.iter().filter(|one| bearer.audiences.contains(one)).cloned().collect();
        if fitting.is_empty() {
            return Err(TokenError::Audience(bearer.audiences));
        }
        let bound = [
            ("serviceaccounts", Some(&bearer.account)),
            ("pods", bearer.pod.as_ref()),
            ("secrets", bearer.secret.as_ref()),
        ];
        for (resource, reference) in bound {
            if let Some(reference) = reference
                && !exists(server, resource, &bearer.namespace, reference).await
            {
                return Err(TokenError::Gone(format!("{resource} {:?}", reference.name)));
            }
        }
        Ok((bearer, fitting))
    }

    /// A fixed token's owner.
    pub fn fixed(&self, token: &str) -> Option<&Identity> {
        self.fixed.get(&digest(token))
    }
}

async fn exists(server: &Server, resource: &str, namespace: &str, reference: &Reference) -> bool {
    match crate::front::inside::get(server, ("", "v1", resource), namespace, &reference.name).await {
        // A token in a Secret was made before its Secret had a uid.
        Ok(object) => reference.uid.is_empty() || object.uid() == reference.uid,
        Err(_) => false,
    }
}
