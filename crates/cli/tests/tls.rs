//! A server with a certificate, and commands that know whose it must be.

use crate::common;

use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::{listening, milepost, run};
use engine::clock;
use tempfile::TempDir;

fn fixture(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../server/tests/tls").join(name);
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_server_talks_tls_and_reads_its_certificate_again_at_sighup() {
    let folder = TempDir::new().unwrap();
    let mut command = milepost(&["serve", "--listen", "127.0.0.1:0", "--data"]);
    command.arg(folder.path().join("data"));
    command.args(["--tls-cert", &fixture("cert.pem"), "--tls-key", &fixture("key.pem")]);
    let log: Arc<Mutex<Vec<String>>> = Arc::default();
    let (mut child, url) = listening(command, &log);
    assert!(url.starts_with("https://127.0.0.1:"), "{url}");
    let ca = fixture("ca.pem");
    run(&["list", "--server", &url, "--ca", &ca]).ends(0);
    run(&["list", "--server", &url.replace("127.0.0.1", "localhost"), "--ca", &ca]).ends(0);
    run(&["list", "--server", &url, "--ca", &fixture("second-cert.pem")]).ends(6);
    run(&["list", "--server", &url, "--ca", &fixture("key.pem")]).ends(2);
    let key = run(&["audit", "key", "--server", &url, "--ca", &ca]).ends(0).stdout;
    let state = folder.path().join("seen");
    let look = ["monitor", &url, "--key", key.trim(), "--state", state.to_str().unwrap(), "--once"];
    // The first checkpoint comes when it comes.
    while run(&[&look[..], &["--ca", &ca]].concat()).code == 3 {}
    run(&[&look[..], &["--ca", &ca]].concat()).ends(0);
    run(&["verify", &url, "--key", key.trim(), "--ca", &ca]).ends(0);
    run(&look).ends(6);
    let plain = url.replace("https://", "http://");
    let said = run(&["list", "--server", &plain]).ends(6).stderr;
    assert!(said.contains(&format!("the server at {plain} talks TLS: use https://")), "{said}");
    assert!(!said.contains("milepost serve"), "{said}");
    let sent = Command::new("kill").args(["-HUP", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let deadline = clock::instant() + Duration::from_secs(20);
    while !log.lock().unwrap().iter().any(|line| line.contains("the certificate was read again")) {
        assert!(clock::instant() < deadline, "{log:?}");
        std::thread::yield_now();
    }
    run(&["list", "--server", &url, "--ca", &ca]).ends(0);
    child.kill().and_then(|()| child.wait()).unwrap();
}

#[test]
fn a_server_without_tls_says_so_to_whoever_tries() {
    let server = common::Server::start(&[]);
    let secret = server.url.replace("http://", "https://");
    let said = run(&["list", "--server", &secret]).ends(6).stderr;
    assert!(said.contains(&format!("the server at {secret} does not talk TLS: use http://")), "{said}");
    assert!(!said.contains("milepost serve"), "{said}");
}

#[test]
fn a_certificate_needs_its_key() {
    run(&["serve", "--tls-cert", &fixture("cert.pem")]).ends(2);
    let (cert, key) = (fixture("cert.pem"), fixture("second-key.pem"));
    run(&["serve", "--tls-cert", &cert, "--tls-key", &key]).ends(2);
}
