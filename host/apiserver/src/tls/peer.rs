//! The identity in a client certificate: common name and organisations.

use rustls_pki_types::CertificateDer;
use x509_parser::prelude::{FromDer as _, X509Certificate};

use crate::identity::Identity;

/// Reads user (CN) and groups (O) from a certificate that TLS has verified.
/// `None`: it has no common name, so it says nobody.
pub fn identity(certificate: &CertificateDer<'_>) -> Option<Identity> {
    let (_, certificate) = X509Certificate::from_der(certificate).ok()?;
    let subject = certificate.subject();
    let user = subject.iter_common_name().next()?.as_str().ok().filter(|name| !name.is_empty())?;
    let groups: Vec<&str> = subject.iter_organization().filter_map(|name| name.as_str().ok()).collect();
    Some(Identity::new(user, &groups))
}
