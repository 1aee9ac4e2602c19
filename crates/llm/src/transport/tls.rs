//! The one place where the process gets its cryptography.

/// Makes ring the process's provider. A provider that was installed earlier stays.
pub(crate) fn install() {
    // An error means that one is installed already, which is all we want.
    let _ = rustls::crypto::ring::default_provider().install_default();
}
