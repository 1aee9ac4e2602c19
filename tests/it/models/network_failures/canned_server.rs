//! A server that takes connections and does with each what a test says, over TCP or TLS.

use std::net::SocketAddr;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

use crate::harness::test_app::TEST_TIMEOUT;

/// The answer to a request: these bytes, and then the connection ends or stays.
#[derive(Debug, Clone)]
pub(super) enum CannedResponse {
    Whole(String),
    /// The same where the body is no text.
    Binary(Vec<u8>),
    AndThenSilence(String),
}

/// The data that came so far.
#[derive(Debug, Clone, Default)]
pub(super) struct ServerLog {
    pub(super) connections: usize,
    /// Request lines and headers.
    pub(super) heads: Vec<String>,
    /// Which protocol was agreed on in TLS; empty where none was negotiated.
    pub(super) protocols: Vec<String>,
    /// How many clients left before the answer was over.
    pub(super) closed_by_client: usize,
}

/// A certificate for this computer, and the authority that stands for it.
pub(crate) struct TestCertificate {
    pub(crate) authority: String,
    pub(crate) server: ServerConfig,
}

pub(super) struct CannedServer {
    pub(super) address: SocketAddr,
    seen: watch::Sender<ServerLog>,
    _serving: JoinSet<()>,
}

impl CannedServer {
    /// Meets the n-th connection with the n-th answer, and each later one with the last.
    pub(super) async fn over_tcp(answers: Vec<CannedResponse>) -> Self {
        Self::start(answers, None).await
    }

    /// The same behind TLS.
    pub(super) async fn over_tls(
        answers: Vec<CannedResponse>,
        certificate: &TestCertificate,
    ) -> Self {
        let acceptor = TlsAcceptor::from(Arc::new(certificate.server.clone()));
        Self::start(answers, Some(acceptor)).await
    }

    async fn start(answers: Vec<CannedResponse>, tls: Option<TlsAcceptor>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let address = listener.local_addr().expect("its address");
        let seen = watch::Sender::new(ServerLog::default());
        let (shared, mut serving) = (seen.clone(), JoinSet::new());
        serving.spawn(async move {
            let mut open = JoinSet::new();
            for number in 0.. {
                let (stream, _) = listener.accept().await.expect("a connection");
                shared.send_modify(|seen| seen.connections += 1);
                let answer = answers.get(number).or(answers.last()).expect("an answer").clone();
                let (seen, tls) = (shared.clone(), tls.clone());
                open.spawn(async move {
                    let Some(tls) = tls else { return serve(stream, answer, &seen).await };
                    // A client that does not trust the certificate leaves here.
                    let Ok(stream) = tls.accept(stream).await else { return };
                    let agreed = stream.get_ref().1.alpn_protocol().unwrap_or_default();
                    let agreed = String::from_utf8_lossy(agreed).into_owned();
                    seen.send_modify(|seen| seen.protocols.push(agreed));
                    serve(stream, answer, &seen).await;
                });
            }
        });
        Self { address, seen, _serving: serving }
    }

    pub(super) fn url(&self, scheme: &str) -> String {
        format!("{scheme}://localhost:{}", self.address.port())
    }

    pub(super) fn log(&self) -> ServerLog {
        self.seen.borrow().clone()
    }

    /// Resolves once `is_so` holds of what came.
    pub(super) async fn wait_until(&self, is_so: impl Fn(&ServerLog) -> bool) {
        let mut seen = self.seen.subscribe();
        let so = tokio::time::timeout(TEST_TIMEOUT, seen.wait_for(|seen| is_so(seen))).await;
        assert!(so.is_ok(), "it did not come to that: {:?}", self.log());
    }
}

async fn serve(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    answer: CannedResponse,
    seen: &watch::Sender<ServerLog>,
) {
    let Some(head) = read_request(&mut stream).await else { return };
    seen.send_modify(|seen| seen.heads.push(head));
    let (bytes, stays) = match answer {
        CannedResponse::Whole(text) => (text.into_bytes(), false),
        CannedResponse::Binary(bytes) => (bytes, false),
        CannedResponse::AndThenSilence(text) => (text.into_bytes(), true),
    };
    let written = stream.write_all(&bytes).await.and(stream.flush().await);
    if stays || written.is_err() {
        let _ = stream.read(&mut [0; 64]).await;
        seen.send_modify(|seen| seen.closed_by_client += 1);
    }
    // Dropped, the connection just ends, without a close of TLS.
}

/// The head of a request, once its body has come too.
async fn read_request(stream: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
            });
            if body.len() >= length.unwrap_or(0) {
                return Some(head.to_owned());
            }
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}

/// For `localhost` and this computer's address; nobody trusts its authority unless told to. The
/// server would speak HTTP/2.
pub(crate) fn make_certificate() -> TestCertificate {
    let mut authority = CertificateParams::new(Vec::new()).expect("parameters");
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().expect("a key");
    let own = authority.self_signed(&key).expect("a certificate").pem();
    let issuer = Issuer::new(authority, key);
    let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
    let server_key = KeyPair::generate().expect("a key");
    let server = CertificateParams::new(names).expect("parameters");
    let server = server.signed_by(&server_key, &issuer).expect("a certificate");
    let private = PrivateKeyDer::Pkcs8(server_key.serialize_der().into());
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions of TLS")
        .with_no_client_auth()
        .with_single_cert(vec![server.der().clone()], private);
    let mut config = config.expect("the certificate is of the key");
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    TestCertificate { authority: own, server: config }
}
