//! The certificate authority of one process: its own root, certificates for the
//! listener, and client certificates, whose common name is the user and whose
//! organisation is the group.

use std::path::Path;
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};
use rustls::RootCertStore;
use rustls::server::WebPkiClientVerifier;
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

use super::files::write_private;

/// Names by which a listener on this machine, or the `kubernetes` Service, is reached.
const SERVER_NAMES: [&str; 7] = [
    "localhost",
    "127.0.0.1",
    "::1",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
];
/// How long the root is good for; long, since clients keep it in their kubeconfigs.
const ROOT_YEARS: i32 = 10;
/// How long the other certificates are good for; they are made anew at each start.
const LEAF_YEARS: i32 = 1;

/// Why certificates cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// Reading or writing a file failed.
    #[error("cannot read or write {path:?}")]
    File {
        /// The file.
        path: String,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// Making or reading a certificate failed.
    #[error("cannot make or read a certificate; if the files of the authority are damaged, remove both")]
    Certificate(#[from] rcgen::Error),
    /// rustls refused keys or certificates.
    #[error("cannot set up TLS")]
    Rustls(#[from] rustls::Error),
    /// Client certificates cannot be checked.
    #[error("cannot set up the checking of client certificates")]
    Verifier(#[from] rustls::client::VerifierBuilderError),
    /// Not PEM.
    #[error("cannot read PEM: {0}")]
    Pem(String),
}

/// A certificate and its key, both in PEM form.
#[derive(Clone, Debug)]
pub struct ClientCertificate {
    /// The certificate.
    pub certificate: String,
    /// Its private key.
    pub key: String,
}

/// A certificate authority.
pub struct Authority {
    certificate: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    /// A new authority, forgotten with the process.
    pub fn generate() -> Result<Self, TlsError> {
        let (certificate, key) = new_root()?;
        Self::from_pem(certificate, &key)
    }

    /// The authority kept as `ca.crt` and `ca.key` in a directory, made on first use.
    pub fn load_or_create(directory: &Path) -> Result<Self, TlsError> {
        let (certificate_path, key_path) = (directory.join("ca.crt"), directory.join("ca.key"));
        let read = |path: &Path| match std::fs::read_to_string(path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(TlsError::File { path: path.display().to_string(), source }),
        };
        if let (Some(certificate), Some(key)) = (read(&certificate_path)?, read(&key_path)?) {
            return Self::from_pem(certificate, &key);
        }
        let (certificate, key) = new_root()?;
        for (path, text) in [(&key_path, &key), (&certificate_path, &certificate)] {
            write_private(path, text.as_bytes())
                .map_err(|source| TlsError::File { path: path.display().to_string(), source })?;
        }
        Self::from_pem(certificate, &key)
    }

    fn from_pem(certificate: String, key: &str) -> Result<Self, TlsError> {
        let issuer = Issuer::from_ca_cert_pem(&certificate, KeyPair::from_pem(key)?)?;
        Ok(Self { certificate, issuer })
    }

    /// The root certificate in PEM form, for clients' `certificate-authority-data`.
    pub fn certificate_pem(&self) -> &str {
        &self.certificate
    }

    /// A client certificate for a user in a group (none if empty).
    pub fn client(&self, user: &str, group: &str) -> Result<ClientCertificate, TlsError> {
        let mut params = leaf(Vec::new(), ExtendedKeyUsagePurpose::ClientAuth)?;
        params.distinguished_name.push(DnType::CommonName, user);
        if !group.is_empty() {
            params.distinguished_name.push(DnType::OrganizationName, group);
        }
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &self.issuer)?.pem();
        Ok(ClientCertificate { certificate, key: key.serialize_pem() })
    }

    /// What a listener needs: a certificate for the loopback names and `extra`
    /// ones, and client certificates of this authority welcome but not demanded.
    pub fn server(&self, extra: &[String]) -> Result<Arc<rustls::ServerConfig>, TlsError> {
        let mut names: Vec<String> = SERVER_NAMES.iter().map(|name| (*name).to_owned()).collect();
        names.extend(extra.iter().filter(|name| !SERVER_NAMES.contains(&name.as_str())).cloned());
        let mut params = leaf(names, ExtendedKeyUsagePurpose::ServerAuth)?;
        params.distinguished_name.push(DnType::CommonName, "windlass");
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &self.issuer)?;
        let root = CertificateDer::from_pem_slice(self.certificate.as_bytes())
            .map_err(|error| TlsError::Pem(error.to_string()))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut roots = RootCertStore::empty();
        roots.add(root)?;
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone())
            .allow_unauthenticated()
            .build()?;
        let mut config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_client_cert_verifier(verifier)
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der())),
            )?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }
}

fn new_root() -> Result<(String, String), TlsError> {
    let mut params = CertificateParams::new(Vec::new())?;
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages =
        vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign, KeyUsagePurpose::DigitalSignature];
    params.distinguished_name.push(DnType::CommonName, "windlass-ca");
    set_life(&mut params, ROOT_YEARS);
    let key = KeyPair::generate()?;
    Ok((params.self_signed(&key)?.pem(), key.serialize_pem()))
}

fn leaf(names: Vec<String>, usage: ExtendedKeyUsagePurpose) -> Result<CertificateParams, TlsError> {
    let mut params = CertificateParams::new(names)?;
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyEncipherment];
    params.extended_key_usages = vec![usage];
    params.use_authority_key_identifier_extension = true;
    set_life(&mut params, LEAF_YEARS);
    Ok(params)
}

/// From yesterday (clocks differ) for some years.
fn set_life(params: &mut CertificateParams, years: i32) {
    let yesterday = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date().yesterday();
    let date = yesterday.unwrap_or_else(|_| jiff::civil::date(2025, 1, 1));
    // Days past the 28th don't exist in every month and year.
    let (month, day) = (date.month().unsigned_abs(), date.day().unsigned_abs().min(28));
    params.not_before = date_time_ymd(i32::from(date.year()), month, day);
    params.not_after = date_time_ymd(i32::from(date.year()) + years, month, day);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_authority_still_signs_for_its_own_clients() {
        let directory = std::env::temp_dir().join(format!("windlass-ca-{}", uuid::Uuid::new_v4()));
        let first = Authority::load_or_create(&directory).unwrap();
        let again = Authority::load_or_create(&directory).unwrap();
        assert_eq!(first.certificate_pem(), again.certificate_pem());
        let client = again.client("admin", "system:masters").unwrap();
        let der = CertificateDer::from_pem_slice(client.certificate.as_bytes()).unwrap();
        let identity = super::super::peer::identity(&der).unwrap();
        assert_eq!(identity.user, "admin");
        assert!(identity.is_master());
        assert!(again.server(&["example.test".to_owned()]).is_ok());
        std::fs::remove_dir_all(directory).unwrap();
    }
}
