//! TLS: whose certificate is good, and what is told of it.

use std::net::SocketAddr;
use std::sync::Arc;

use fetch::{Fetch, HeaderMap, Request};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::support::{HERE, LIMITS, Names, code, dripping, fetch, head, ok, pem, policy, sent};

pub(crate) fn acceptor() -> tokio_rustls::TlsAcceptor {
    let certs = CertificateDer::pem_slice_iter(&pem("cert.pem")).collect::<Result<Vec<_>, _>>().unwrap();
    let key = PrivateKeyDer::from_pem_slice(&pem("key.pem")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(certs, key)
        .unwrap();
    tokio_rustls::TlsAcceptor::from(Arc::new(config))
}

/// A server with a certificate for `localhost`, which answers each request with this.
async fn tls_server(answer: String) -> SocketAddr {
    let acceptor = acceptor();
    let listener = TcpListener::bind((HERE, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            if let Ok(mut stream) = acceptor.accept(stream).await {
                reply(&mut stream, &answer).await;
            }
        }
    });
    address
}

async fn reply(stream: &mut (impl AsyncRead + AsyncWrite + Unpin), answer: &str) {
    head(stream).await;
    let _ = stream.write_all(answer.as_bytes()).await;
    let _ = stream.shutdown().await;
}

#[tokio::test]
async fn certificates_are_checked_for_the_name_that_was_asked_for() {
    let port = tls_server(ok("secure")).await.port();
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(&pem("ca.pem")).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let trusting = Fetch::with_tls(policy(&[port]), Names::of(&[&[HERE]]), Arc::new(config));
    let answer = trusting.get(&format!("https://localhost:{port}/"), HeaderMap::new()).await.unwrap();
    assert_eq!(answer.body, b"secure");
    assert_eq!(code(&trusting, &format!("https://other.example:{port}/")).await, "tls");
    assert_eq!(
        code(&fetch(&[port]), &format!("https://localhost:{port}/")).await,
        "tls",
        "not a root of the machine's"
    );
    let plain = dripping("HTTP/1.1 400 Bad Request\r\n\r\n", None).await;
    assert_eq!(code(&fetch(&[plain]), &format!("https://localhost:{plain}/")).await, "tls");
}

fn trusting(ports: &[u16]) -> Fetch {
    fetch(ports).with_roots(&pem("ca.pem")).unwrap()
}

#[tokio::test]
async fn a_private_authority_is_trusted_instead_of_the_machines() {
    let port = tls_server(ok("secure")).await.port();
    let url = format!("https://localhost:{port}/");
    let (head, body) = sent(&trusting(&[port]), Request::get(&url).limits(LIMITS)).await.unwrap();
    let tls = head.tls.unwrap();
    assert_eq!((body.as_slice(), tls.version.as_str()), (&b"secure"[..], "TLSv1_3"));
    assert_eq!(tls.certificates[0], CertificateDer::from_pem_slice(&pem("cert.pem")).unwrap());
    let roots =
        [&b""[..], b"-----BEGIN CERTIFICATE-----\neA==\n-----END CERTIFICATE-----\n", &pem("key.pem")];
    for roots in roots {
        assert!(fetch(&[port]).with_roots(roots).is_err(), "{roots:?}");
    }
}

#[tokio::test]
async fn a_redirect_from_https_to_http_is_refused() {
    let location = "HTTP/1.1 302 Found\r\nlocation: http://localhost/\r\ncontent-length: 0\r\n\r\n";
    let port = tls_server(location.to_owned()).await.port();
    let request = Request::get(format!("https://localhost:{port}/")).limits(LIMITS).following(5);
    assert_eq!(sent(&trusting(&[port, 80]), request).await.unwrap_err(), "refused-scheme");
}

#[tokio::test]
async fn a_handshake_that_does_not_come_is_given_up() {
    let listener = TcpListener::bind((HERE, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let limits = fetch::Limits { idle: std::time::Duration::from_millis(300), ..LIMITS };
    let request = Request::get(format!("https://localhost:{port}/")).limits(limits);
    assert_eq!(sent(&trusting(&[port]), request).await.unwrap_err(), "timeout");
}
