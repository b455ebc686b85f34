//! HTTPS: key and certificate from PEM files, HTTP/2 and HTTP/1.1 by ALPN.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::ServerConfig;
use rustls_pki_types::pem::{self, PemObject};
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

use super::TlsFiles;

/// Why key and certificate cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("cannot read the {what} {}: {source}", path.display())]
    Unreadable { what: &'static str, path: PathBuf, source: std::io::Error },
    #[error("{} holds no {what} in PEM form; `aduana cert` makes a key and a certificate", path.display())]
    Nothing { what: &'static str, path: PathBuf },
    #[error("{} is no proper PEM file: {reason}", path.display())]
    Malformed { path: PathBuf, reason: String },
    #[error("the key {} does not belong to the certificate {}", key.display(), cert.display())]
    Mismatch { key: PathBuf, cert: PathBuf },
    #[error("cannot use the key {} with the certificate {}: {reason}", key.display(), cert.display())]
    Unusable { key: PathBuf, cert: PathBuf, reason: rustls::Error },
}

/// # Errors
/// [`TlsError`] names the file at fault.
pub fn load(files: &TlsFiles) -> Result<Arc<ServerConfig>, TlsError> {
    let key_pem = read(&files.key, "key")?;
    let cert_pem = read(&files.cert, "certificate")?;
    let key = PrivateKeyDer::from_pem_slice(&key_pem).map_err(|e| pem_error(e, "private key", &files.key))?;
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(&cert_pem)
        .collect::<Result<_, _>>()
        .map_err(|e| pem_error(e, "certificate", &files.cert))?;
    if chain.is_empty() {
        return Err(pem_error(pem::Error::NoItemsFound, "certificate", &files.cert));
    }
    config(chain, key).map_err(|reason| match reason {
        rustls::Error::InconsistentKeys(_) => {
            TlsError::Mismatch { key: files.key.clone(), cert: files.cert.clone() }
        }
        reason => TlsError::Unusable { key: files.key.clone(), cert: files.cert.clone(), reason },
    })
}

fn read(path: &Path, what: &'static str) -> Result<Vec<u8>, TlsError> {
    std::fs::read(path).map_err(|source| TlsError::Unreadable { what, path: path.to_owned(), source })
}

fn pem_error(error: pem::Error, what: &'static str, path: &Path) -> TlsError {
    match error {
        pem::Error::NoItemsFound => TlsError::Nothing { what, path: path.to_owned() },
        error => TlsError::Malformed { path: path.to_owned(), reason: error.to_string() },
    }
}

fn config(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> Result<Arc<ServerConfig>, rustls::Error> {
    // The provider is named here, not installed for the process: a library's user may have another.
    let mut config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(dir: &Path, name: &str, text: &str) -> PathBuf {
        let path = dir.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    #[test]
    fn each_unusable_file_is_named_with_the_reason() {
        let dir = tempfile::tempdir().unwrap();
        let one = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let two = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let key = write(dir.path(), "key.pem", &one.signing_key.serialize_pem());
        let cert = write(dir.path(), "cert.pem", &one.cert.pem());
        let other = write(dir.path(), "other.pem", &two.cert.pem());
        let empty = write(dir.path(), "empty.pem", "nothing\n");
        let missing = dir.path().join("missing.pem");

        assert!(load(&TlsFiles { key: key.clone(), cert: cert.clone() }).is_ok());
        for (key, cert, expected) in [
            (&key, &other, "does not belong"),
            (&missing, &cert, "cannot read the key"),
            (&key, &missing, "cannot read the certificate"),
            (&empty, &cert, "holds no private key"),
            (&key, &empty, "holds no certificate"),
            (&cert, &cert, "holds no private key"),
        ] {
            let error = load(&TlsFiles { key: key.clone(), cert: cert.clone() }).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
