//! Tokens of service accounts: what they claim, and whom they stand for.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::jws::ISSUER;
use crate::identity::Identity;

/// What users of service accounts are called: this, namespace, colon, name.
pub const USER_PREFIX: &str = "system:serviceaccount:";
/// The group of all service accounts.
const ALL: &str = "system:serviceaccounts";
/// The claim that holds what Kubernetes adds to the registered ones.
const PRIVATE: &str = "kubernetes.io";
/// Extra attribute that names the credential, for logs.
const CREDENTIAL_ID: &str = "authentication.kubernetes.io/credential-id";

/// A service account, or an object that a token is bound to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reference {
    /// The object's name.
    pub name: String,
    /// The object's uid.
    pub uid: String,
}

/// What a token says about its bearer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bearer {
    /// The account's namespace.
    pub namespace: String,
    /// The account.
    pub account: Reference,
    /// The pod that the token is bound to.
    pub pod: Option<Reference>,
    /// The secret that the token is bound to.
    pub secret: Option<Reference>,
    /// For whom the token is meant.
    pub audiences: Vec<String>,
    /// The token's own id.
    pub id: String,
}

impl Bearer {
    /// The claims of a token valid from `now` (seconds since 1970) for `seconds`; `None`: for ever.
    pub fn claims(&self, now: i64, seconds: Option<i64>) -> Value {
        let reference = |r: &Reference| json!({"name": r.name, "uid": r.uid});
        let mut private = json!({"namespace": self.namespace, "serviceaccount": reference(&self.account)});
        for (key, bound) in [("pod", &self.pod), ("secret", &self.secret)] {
            if let (Some(bound), Some(private)) = (bound, private.as_object_mut()) {
                private.insert(key.to_owned(), reference(bound));
            }
        }
        let mut claims = json!({
            "iss": ISSUER,
            "sub": format!("{USER_PREFIX}{}:{}", self.namespace, self.account.name),
            "aud": self.audiences,
            "iat": now,
            "nbf": now,
            "jti": self.id,
            PRIVATE: private,
        });
        if let (Some(seconds), Some(claims)) = (seconds, claims.as_object_mut()) {
            claims.insert("exp".to_owned(), json!(now + seconds));
        }
        claims
    }

    /// Reads claims. `None`: they are not about a service account.
    pub fn read(claims: &Value) -> Option<Self> {
        let private = claims.get(PRIVATE)?.as_object()?;
        let audiences = match claims.get("aud") {
            Some(Value::String(one)) => vec![one.clone()],
            Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            _ => Vec::new(),
        };
        Some(Self {
            namespace: private.get("namespace")?.as_str()?.to_owned(),
            account: reference(private, "serviceaccount")?,
            pod: reference(private, "pod"),
            secret: reference(private, "secret"),
            audiences,
            id: claims.get("jti").and_then(Value::as_str).unwrap_or_default().to_owned(),
        })
    }

    /// The caller that the token stands for.
    pub fn identity(&self) -> Identity {
        let mut extra = BTreeMap::new();
        if !self.id.is_empty() {
            extra.insert(CREDENTIAL_ID.to_owned(), vec![format!("JTI={}", self.id)]);
        }
        if let Some(pod) = &self.pod {
            extra.insert("authentication.kubernetes.io/pod-name".to_owned(), vec![pod.name.clone()]);
            extra.insert("authentication.kubernetes.io/pod-uid".to_owned(), vec![pod.uid.clone()]);
        }
        let user = format!("{USER_PREFIX}{}:{}", self.namespace, self.account.name);
        let own = format!("{ALL}:{}", self.namespace);
        Identity { uid: self.account.uid.clone(), extra, ..Identity::new(&user, &[ALL, &own]) }
    }
}

fn reference(private: &Map<String, Value>, key: &str) -> Option<Reference> {
    let object = private.get(key)?;
    let text = |name: &str| object.get(name).and_then(Value::as_str).map(str::to_owned);
    Some(Reference { name: text("name")?, uid: text("uid")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_are_read_as_written() {
        let bearer = Bearer {
            namespace: "n".to_owned(),
            account: Reference { name: "s".to_owned(), uid: "u".to_owned() },
            pod: Some(Reference { name: "p".to_owned(), uid: "v".to_owned() }),
            secret: None,
            audiences: vec![ISSUER.to_owned()],
            id: "j".to_owned(),
        };
        let claims = bearer.claims(1000, Some(60));
        assert_eq!(claims["exp"], 1060);
        assert_eq!(Bearer::read(&claims), Some(bearer.clone()));
        let identity = bearer.identity();
        assert_eq!(identity.user, "system:serviceaccount:n:s");
        assert_eq!(
            identity.groups,
            ["system:serviceaccounts", "system:serviceaccounts:n", "system:authenticated"]
        );
        assert!(bearer.claims(1000, None).get("exp").is_none());
    }
}
