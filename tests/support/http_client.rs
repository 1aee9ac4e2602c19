//! The one HTTP client of the testkit.

use std::sync::OnceLock;

/// A client for loopback. It must never go through a proxy that the machine may have.
pub(crate) fn loopback_client() -> reqwest::Client {
    static PROVIDER: OnceLock<()> = OnceLock::new();
    PROVIDER.get_or_init(|| {
        // The workspace's reqwest brings no TLS provider; an error means one is there already.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
    reqwest::Client::builder().no_proxy().build().expect("an HTTP client")
}
