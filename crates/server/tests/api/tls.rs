use std::path::{Path, PathBuf};

use reqwest::Certificate;
use server::Tls;

use crate::server::Server;

/// A certificate for localhost of an authority made for these tests, good for a hundred years, and a second one.
fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tls").join(name)
}

fn client(trusts: bool) -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let ca = Certificate::from_pem(&std::fs::read(fixture("ca.pem")).unwrap()).unwrap();
    let certs: Vec<_> = trusts.then_some(ca).into_iter().collect();
    let builder = reqwest::Client::builder().no_proxy().tls_certs_only(certs).tls_info(true);
    // A connection of its own for each request: they show the certificate anew.
    builder.pool_max_idle_per_host(0).build().unwrap()
}

async fn shown(client: &reqwest::Client, url: &str) -> Vec<u8> {
    let answer = client.get(format!("{url}/readyz")).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    let info = answer.extensions().get::<reqwest::tls::TlsInfo>().unwrap();
    info.peer_certificate().unwrap().to_vec()
}

#[tokio::test]
async fn a_server_with_a_certificate_talks_tls_only_and_reads_it_again() {
    let folder = tempfile::TempDir::new().unwrap();
    let (cert, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    let put = |prefix: &str| {
        std::fs::copy(fixture(&format!("{prefix}cert.pem")), &cert).unwrap();
        std::fs::copy(fixture(&format!("{prefix}key.pem")), &key).unwrap();
    };
    put("");
    let tls = Tls::load(&cert, &key).unwrap();
    let server = Server::with(&[], |options| options.tls = Some(tls.clone())).await;
    let url = server.url.replace("http://127.0.0.1", "https://localhost");
    let first = shown(&client(true), &url).await;
    assert!(client(false).get(format!("{url}/readyz")).send().await.is_err(), "an unknown authority");
    assert!(server.request("GET", "/readyz").send().await.is_err(), "nothing without TLS");
    put("second-");
    tls.reload().unwrap();
    let second = shown(&client(true), &url).await;
    assert_ne!(first, second);
    std::fs::write(&cert, "nonsense").unwrap();
    assert!(tls.reload().is_err());
    assert_eq!(shown(&client(true), &url).await, second, "the old one stays");
}

#[test]
fn files_that_do_not_fit_are_named() {
    let load = |cert: &str, key: &str| Tls::load(&fixture(cert), &fixture(key)).unwrap_err().to_string();
    assert!(load("cert.pem", "missing.pem").contains("missing.pem"));
    assert!(load("key.pem", "key.pem").contains("there is no certificate"));
    assert!(load("cert.pem", "second-key.pem").contains("cert.pem"));
}
