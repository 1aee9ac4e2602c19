//! The link over TLS to servers that do not prove who they are. `H-handshake-…` are the scenarios by
//! their ids. That one which does is talked to is a test of the whole program (`tls`).

use std::net::SocketAddr;
use std::sync::Arc;

use hub::{LinkConfig, Token};
use protocol::HubState;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};
use tokio::io::AsyncReadExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

use crate::fixtures::{RunningLink, within_timeout};

/// A server's part of TLS with this certificate, of an authority of its own.
fn server(parameters: &CertificateParams) -> ServerConfig {
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer = Issuer::new(authority, KeyPair::generate().unwrap());
    let key = KeyPair::generate().unwrap();
    let certificate = parameters.signed_by(&key, &issuer).unwrap();
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate.der().clone()],
            PrivateKeyDer::Pkcs8(key.serialize_der().into()),
        )
        .unwrap()
}

fn over_tls(address: SocketAddr) -> LinkConfig {
    let url = format!("wss://localhost:{}", address.port());
    let config = LinkConfig::new(&url, "Notes", "Keeps my notes.").unwrap();
    config.with_token(Token::new("s3cret").unwrap())
}

#[tokio::test]
async fn who_does_not_prove_to_be_the_hub_is_told_nothing_and_dialled_again_only_by_the_user() {
    // H-handshake-17, -18 and -19
    let own = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let mut expired = own.clone();
    expired.not_before = date_time_ymd(2020, 1, 1);
    expired.not_after = date_time_ymd(2020, 2, 1);
    let other = CertificateParams::new(vec!["hub.example".to_owned()]).unwrap();
    for certificate in [own, expired, other] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(server(&certificate)));
        let mut link = RunningLink::start(over_tls(listener.local_addr().unwrap()));
        let (stream, _) = within_timeout(listener.accept()).await.unwrap();
        assert!(
            within_timeout(acceptor.accept(stream)).await.is_err(),
            "it leaves before it says anything"
        );
        let trouble = link.trouble(HubState::Refused).await;
        assert!(
            trouble.contains("has a certificate that this computer doesn’t trust"),
            "{trouble}"
        );
        assert!(trouble.ends_with("then connect again."), "{trouble}");
        assert!(!trouble.contains("s3cret"), "{trouble}");
        link.handle.wake();
        link.handle.retry();
        within_timeout(listener.accept()).await.unwrap();
    }
}

#[tokio::test]
async fn a_server_without_tls_gets_no_token() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut link = RunningLink::start(over_tls(listener.local_addr().unwrap()));
    let (mut stream, _) = within_timeout(listener.accept()).await.unwrap();
    let heard = hello(&mut stream).await;
    tokio::io::AsyncWriteExt::write_all(&mut stream, b"HTTP/1.1 400 Bad Request\r\n\r\n")
        .await
        .unwrap();
    let trouble = link.trouble(HubState::Waiting).await;
    assert!(trouble.contains("isn’t a hub"), "{trouble}");
    assert!(!heard.windows(6).any(|part| part == b"s3cret"), "{heard:?}");
}

/// The first bytes of a client.
async fn hello(stream: &mut TcpStream) -> Vec<u8> {
    let mut heard = vec![0; 4096];
    let length = within_timeout(stream.read(&mut heard)).await.unwrap();
    heard.truncate(length);
    assert_eq!(heard.first(), Some(&0x16), "a handshake of TLS: {heard:?}");
    heard
}
