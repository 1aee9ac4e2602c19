//! Whom the link trusts when it is not on this computer: whom the computer trusts, and nobody else.

use std::io;
use std::sync::{Arc, LazyLock};

use rustls::{CertificateError, ClientConfig, Error};
use rustls_platform_verifier::BuilderVerifierExt as _;

/// The computer is asked once whom it trusts: reading its certificates takes a while.
static CLIENT_CONFIG: LazyLock<Result<Arc<ClientConfig>, Error>> = LazyLock::new(|| {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_platform_verifier()?
        .with_no_client_auth();
    Ok(Arc::new(config))
});

/// The verifier of a hub's certificate; else why there is none.
pub(crate) fn client_config() -> Result<Arc<ClientConfig>, String> {
    CLIENT_CONFIG.as_ref().map(Arc::clone).map_err(ToString::to_string)
}

/// Why a certificate is not trusted, in a few words, if that is what went wrong.
pub(crate) fn certificate_error(error: &io::Error) -> Option<String> {
    let Error::InvalidCertificate(why) = tls_error(error)? else { return None };
    Some(match why {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "it has expired".to_owned()
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "it is for another address".to_owned()
        }
        CertificateError::UnknownIssuer => "it isn’t signed by a trusted authority".to_owned(),
        other => other.to_string(),
    })
}

/// Whether the server does not speak TLS.
pub(crate) fn is_not_tls(error: &io::Error) -> bool {
    tls_error(error).is_some()
}

fn tls_error(error: &io::Error) -> Option<&Error> {
    error.get_ref()?.downcast_ref()
}
