//! Certificates and keys of test clusters; all clusters share them.

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use std::path::{Path, PathBuf};

/// Files in PEM form.
pub(crate) struct Pki {
    folder: PathBuf,
}

impl Pki {
    /// Makes everything in `<folder>/pki`.
    pub(crate) fn make(folder: &Path) -> Self {
        let pki = Self { folder: folder.join("pki") };
        std::fs::create_dir_all(&pki.folder).unwrap();
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "real-clusters");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        let key = KeyPair::generate().unwrap();
        pki.write("ca.crt", &params.self_signed(&key).unwrap().pem());
        pki.write("ca.key", &key.serialize_pem());
        let authority = Issuer::new(params, key);
        pki.leaf("server", "server", None, &authority);
        pki.leaf("admin", "admin", Some("system:masters"), &authority);
        let accounts = KeyPair::generate().unwrap();
        pki.write("accounts.key", &accounts.serialize_pem());
        pki.write("accounts.pub", &accounts.public_key_pem());
        pki
    }

    /// What is in a folder already.
    pub(crate) fn of(folder: &Path) -> Self {
        Self { folder: folder.to_path_buf() }
    }

    /// The path of a file: `ca.crt`, `server.key`, …
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn leaf(&self, file: &str, user: &str, group: Option<&str>, authority: &Issuer<'_, KeyPair>) {
        let names = ["127.0.0.1", "localhost", "kubernetes.default.svc"].map(str::to_owned);
        let mut params = CertificateParams::new(names).unwrap();
        params.distinguished_name.push(DnType::CommonName, user);
        if let Some(group) = group {
            params.distinguished_name.push(DnType::OrganizationName, group);
        }
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        params.use_authority_key_identifier_extension = true;
        let key = KeyPair::generate().unwrap();
        self.write(&format!("{file}.crt"), &params.signed_by(&key, authority).unwrap().pem());
        self.write(&format!("{file}.key"), &key.serialize_pem());
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }
}
