//! Service-account tokens: compact JWS signed with ES256 on ring, in the shape
//! that Kubernetes gives its own (issuer, subject, audiences, bound objects).

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as B64;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _, UnparsedPublicKey,
};
use serde_json::{Value, json};

/// The issuer and default audience of our tokens.
pub const ISSUER: &str = "https://kubernetes.default.svc.cluster.local";
/// How far clocks may differ between the one who issued a token and us, in seconds.
const LEEWAY_SECONDS: i64 = 10;
/// Longer texts are no tokens of ours; checked before any decoding.
const MAX_TOKEN_BYTES: usize = 16 * 1024;

/// Why a token is not accepted.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum TokenError {
    /// Not three base64url parts of JSON, or another algorithm.
    #[error("the token is not a compact ES256 JWS")]
    Malformed,
    /// Another key signed it, or it was changed.
    #[error("the token's signature does not match this server's key")]
    Signature,
    /// Issued by someone else.
    #[error("the token's issuer is {0:?}, expected {ISSUER:?}")]
    Issuer(String),
    /// Past its end.
    #[error("the token expired at {0} (seconds since 1970); ask for a new one")]
    Expired(i64),
    /// Before its start.
    #[error("the token is not valid before {0} (seconds since 1970)")]
    NotYet(i64),
    /// Meant for others.
    #[error("the token is for the audiences {0:?}, not for this server")]
    Audience(Vec<String>),
    /// The object that the token was bound to is gone or another one.
    #[error("the token's {0} no longer exists")]
    Gone(String),
}

/// Why a signing key cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// Reading or writing the file failed.
    #[error("cannot read or write the token signing key {path:?}")]
    File {
        /// The file.
        path: String,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// Not a P-256 key in PKCS#8 form.
    #[error(
        "the token signing key is not a P-256 key in PKCS#8 form; remove the file to have a new one made"
    )]
    Unusable,
}

/// Makes and checks tokens. The seam for keys held elsewhere.
pub trait TokenIssuer: Send + Sync {
    /// Signs a set of claims.
    fn issue(&self, claims: &Value) -> Result<String, TokenError>;
    /// Checks signature, issuer and times, and gives the claims. Audiences and
    /// bound objects are the caller's to check.
    fn verify(&self, token: &str) -> Result<Value, TokenError>;
}

/// The built-in issuer: one P-256 key.
pub struct Es256 {
    key: EcdsaKeyPair,
    random: SystemRandom,
    header: String,
}

impl Es256 {
    /// A new key, forgotten with the process.
    pub fn generate() -> Result<Self, KeyError> {
        Self::from_pkcs8(&Self::new_pkcs8()?)
    }

    /// The key kept in a file (mode 0600), made on first use.
    pub fn load_or_create(path: &Path) -> Result<Self, KeyError> {
        let file = |source| KeyError::File { path: path.display().to_string(), source };
        match std::fs::read(path) {
            Ok(der) => Self::from_pkcs8(&der),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let der = Self::new_pkcs8()?;
                crate::tls::files::write_private(path, &der).map_err(file)?;
                Self::from_pkcs8(&der)
            }
            Err(error) => Err(file(error)),
        }
    }

    fn new_pkcs8() -> Result<Vec<u8>, KeyError> {
        let document = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new())
            .map_err(|_| KeyError::Unusable)?;
        Ok(document.as_ref().to_vec())
    }

    fn from_pkcs8(der: &[u8]) -> Result<Self, KeyError> {
        let random = SystemRandom::new();
        let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, der, &random)
            .map_err(|_| KeyError::Unusable)?;
        let digest = ring::digest::digest(&ring::digest::SHA256, key.public_key().as_ref());
        let header = json!({"alg": "ES256", "kid": B64.encode(digest.as_ref())}).to_string();
        Ok(Self { key, random, header: B64.encode(header) })
    }
}

impl TokenIssuer for Es256 {
    fn issue(&self, claims: &Value) -> Result<String, TokenError> {
        let signed = format!("{}.{}", self.header, B64.encode(claims.to_string()));
        let signature = self.key.sign(&self.random, signed.as_bytes()).map_err(|_| TokenError::Malformed)?;
        Ok(format!("{signed}.{}", B64.encode(signature.as_ref())))
    }

    fn verify(&self, token: &str) -> Result<Value, TokenError> {
        if token.len() > MAX_TOKEN_BYTES {
            return Err(TokenError::Malformed);
        }
        let (signed, signature) = token.rsplit_once('.').ok_or(TokenError::Malformed)?;
        let (header, claims) = signed.split_once('.').ok_or(TokenError::Malformed)?;
        let header: Value = decode_json(header)?;
        if header.get("alg").and_then(Value::as_str) != Some("ES256") {
            return Err(TokenError::Malformed);
        }
        let signature = B64.decode(signature).map_err(|_| TokenError::Malformed)?;
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, self.key.public_key().as_ref())
            .verify(signed.as_bytes(), &signature)
            .map_err(|_| TokenError::Signature)?;
        let claims = decode_json(claims)?;
        check_times(&claims, jiff::Timestamp::now().as_second())?;
        let issuer = claims.get("iss").and_then(Value::as_str).unwrap_or_default();
        if issuer != ISSUER {
            return Err(TokenError::Issuer(issuer.to_owned()));
        }
        Ok(claims)
    }
}

/// Checks `nbf` and `exp`; tokens without them (those in Secrets) live for ever.
fn check_times(claims: &Value, now: i64) -> Result<(), TokenError> {
    let second = |name: &str| claims.get(name).and_then(Value::as_i64);
    match (second("nbf"), second("exp")) {
        (Some(start), _) if now + LEEWAY_SECONDS < start => Err(TokenError::NotYet(start)),
        (_, Some(end)) if now - LEEWAY_SECONDS > end => Err(TokenError::Expired(end)),
        _ => Ok(()),
    }
}

fn decode_json(part: &str) -> Result<Value, TokenError> {
    let bytes = B64.decode(part).map_err(|_| TokenError::Malformed)?;
    serde_json::from_slice(&bytes).map_err(|_| TokenError::Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims() -> Value {
        let now = jiff::Timestamp::now().as_second();
        json!({"iss": ISSUER, "sub": "system:serviceaccount:n:s", "aud": [ISSUER], "nbf": now, "exp": now + 3600})
    }

    #[test]
    fn a_token_is_accepted_by_its_own_key_only() {
        let (one, other) = (Es256::generate().unwrap(), Es256::generate().unwrap());
        let token = one.issue(&claims()).unwrap();
        assert_eq!(one.verify(&token).unwrap()["sub"], "system:serviceaccount:n:s");
        assert_eq!(other.verify(&token), Err(TokenError::Signature));
    }

    #[test]
    fn changed_or_foreign_tokens_are_refused() {
        let key = Es256::generate().unwrap();
        let now = jiff::Timestamp::now().as_second();
        let with = |name: &str, value: Value| {
            let mut claims = claims();
            claims[name] = value;
            key.verify(&key.issue(&claims).unwrap()).unwrap_err()
        };
        assert_eq!(with("exp", json!(now - 60)), TokenError::Expired(now - 60));
        assert_eq!(with("nbf", json!(now + 60)), TokenError::NotYet(now + 60));
        assert_eq!(with("iss", json!("x")), TokenError::Issuer("x".to_owned()));
        let token = key.issue(&claims()).unwrap();
        let parts: Vec<&str> = token.split('.').collect();
        let forged = B64.encode(json!({"iss": ISSUER, "sub": "system:admin"}).to_string());
        let none = B64.encode(json!({"alg": "none"}).to_string());
        for (bad, why) in [
            (String::new(), TokenError::Malformed),
            ("a.b.c".to_owned(), TokenError::Malformed),
            (format!("{}.{forged}.{}", parts[0], parts[2]), TokenError::Signature),
            (format!("{none}.{}.{}", parts[1], parts[2]), TokenError::Malformed),
            ("x".repeat(MAX_TOKEN_BYTES + 1), TokenError::Malformed),
        ] {
            assert_eq!(key.verify(&bad), Err(why), "{bad:.40}");
        }
    }

    #[test]
    fn the_key_file_is_made_once_and_kept_private() {
        let dir = std::env::temp_dir().join(format!("windlass-jws-{}", uuid::Uuid::new_v4()));
        let path = dir.join("sa.key");
        let token = Es256::load_or_create(&path).unwrap().issue(&claims()).unwrap();
        assert!(Es256::load_or_create(&path).unwrap().verify(&token).is_ok());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        std::fs::remove_dir_all(dir).unwrap();
    }
}
