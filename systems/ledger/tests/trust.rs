//! Credentials, certificates and settings.

use std::path::PathBuf;
use std::sync::Arc;

use axum::serve::Listener;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::fake_ledger::{FakeLedger, batch, header, settings};
use crate::world::{World, configured};

const SERVICE: &str = "aaaaa-11111::svc1";

/// A listener that talks TLS, with a certificate that only a private authority knows.
struct Secured {
    listener: TcpListener,
    acceptor: TlsAcceptor,
}

impl Listener for Secured {
    type Io = TlsStream<TcpStream>;
    type Addr = std::net::SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            let (stream, address) = self.listener.accept().await.unwrap();
            if let Ok(stream) = self.acceptor.accept(stream).await {
                return (stream, address);
            }
        }
    }

    fn local_addr(&self) -> std::io::Result<Self::Addr> {
        self.listener.local_addr()
    }
}

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../crates/server/tests/tls").join(name)
}

async fn secured() -> FakeLedger {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let chain =
        CertificateDer::pem_file_iter(fixture("cert.pem")).unwrap().collect::<Result<_, _>>().unwrap();
    let key = PrivateKeyDer::from_pem_file(fixture("key.pem")).unwrap();
    let config = ServerConfig::builder().with_no_client_auth().with_single_cert(chain, key).unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    FakeLedger::serve("https", |listener| Secured { listener, acceptor }).await
}

#[tokio::test]
async fn a_ledger_behind_tls_gets_its_credentials_and_new_ones_without_a_restart() {
    let ledger = secured().await;
    let folder = tempfile::tempdir().unwrap();
    let token = folder.path().join("token");
    std::fs::write(&token, "first\n").unwrap();
    let more = format!("token-file = '{}'\nca-file = '{}'", token.display(), fixture("ca.pem").display());
    let world = World::start(&ledger.settings("sawtooth", &more)).await;
    world.state(world.submit(&batch(SERVICE, &header("a"))).await, "COMMITTED").await;
    std::fs::write(&token, "second").unwrap();
    world.state(world.submit(&batch(SERVICE, &header("b"))).await, "COMMITTED").await;
    let sent: Vec<String> = ledger
        .book()
        .headers
        .iter()
        .map(|headers| headers["authorization"].to_str().unwrap().to_owned())
        .collect();
    assert_eq!(sent, ["Bearer first", "Bearer second"]);
}

#[tokio::test]
async fn a_ledger_whose_certificate_nobody_vouches_for_gets_nothing() {
    let ledger = secured().await;
    let world = World::start(&ledger.settings("sawtooth", "")).await;
    let id = world.submit(&batch(SERVICE, &header("a"))).await;
    world.until(id, |view| view.error.as_ref().is_some_and(|error| &*error.code == "tls")).await;
    assert!(ledger.book().submitted.is_empty());
}

#[tokio::test]
async fn a_user_and_a_password_are_sent_and_an_address_may_be_a_secret() {
    let ledger = FakeLedger::start().await;
    let folder = tempfile::tempdir().unwrap();
    let (password, url) = (folder.path().join("password"), folder.path().join("url"));
    std::fs::write(&password, "open sesame").unwrap();
    std::fs::write(&url, format!("{}/\n", ledger.url)).unwrap();
    let settings =
        settings("", "scabbard", &format!("user = 'ali'\npassword-file = '{}'", password.display()));
    let settings = settings.replace("url = ''", &format!("url-file = '{}'", url.display()));
    let world = World::start(&settings).await;
    world.state(world.submit(&batch(SERVICE, &header("a"))).await, "COMMITTED").await;
    assert_eq!(ledger.book().headers[0]["authorization"], "Basic YWxpOm9wZW4gc2VzYW1l");
}

#[tokio::test]
async fn an_address_that_is_not_public_is_refused_unless_the_ledger_allows_it() {
    let ledger = FakeLedger::start().await;
    let settings = ledger.settings("sawtooth", "").replace("allow-address = ['127.0.0.1']", "");
    let world = World::start(&settings).await;
    let id = world.submit(&batch(SERVICE, &header("a"))).await;
    let view = world.until(id, |view| view.error.is_some()).await;
    let error = view.error.expect("it was waited for");
    assert_eq!(&*error.code, "settings");
    assert!(error.message.contains("127.0.0.1 is not on the public internet"), "{}", error.message);
    assert!(ledger.book().submitted.is_empty());
}

#[test]
fn a_mistake_in_the_settings_is_told_with_what_to_do() {
    let good = settings("http://127.0.0.1:9", "sawtooth", "");
    assert!(configured(&good).is_ok() && configured("").is_ok());
    let with = |from: &str, to: &str| good.replace(from, to);
    for (settings, expected) in [
        (with("'sawtooth'", "'corda'"), "unknown variant `corda`"),
        (with("services = ['*']", "services = []"), "it would get no batch"),
        (with("url =", "urll ="), "urll"),
        (with("url = 'http://127.0.0.1:9'", ""), "set `url`, or `url-file`"),
        (format!("{good}user = 'x'"), "go together"),
        (format!("{good}user = 'x'\npassword-file = 'y'\ntoken-file = 'z'"), "not both"),
        (format!("{good}{good}"), "two ledgers are named `test`"),
        (format!("{good}attempts = 0"), "`attempts` is 0"),
        (format!("{good}unknown-after = 0"), "at least 1"),
        (format!("{good}confirmations = 0"), "at least 1"),
        (
            format!("{good}timeout = '1s'\n").replace("wait = '0s'", "wait = '1s'"),
            "must end before the `timeout`",
        ),
        (format!("at-once = 1\n{good}"), "`at-once` is 1"),
        (with("'test'", "'A b'"), "a name has"),
    ] {
        let fault = configured(&settings).map(|_| ()).unwrap_err();
        assert!(fault.message.contains(expected), "{settings}: {fault}");
    }
}
