//! Certificates.

use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::setup::{ServeError, Tls};

/// What accepts TLS connections with this certificate.
pub(super) fn acceptor(tls: &Tls) -> Result<TlsAcceptor, ServeError> {
    let error = |what: &dyn std::fmt::Display, path: &std::path::Path| {
        ServeError::Tls(format!("{}: {what}", path.display()))
    };
    let certificates = CertificateDer::pem_file_iter(&tls.certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|reason| error(&reason, &tls.certificate))?;
    let key = PrivateKeyDer::from_pem_file(&tls.key).map_err(|reason| error(&reason, &tls.key))?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(certificates, key))
        .map_err(|reason| error(&reason, &tls.certificate))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
