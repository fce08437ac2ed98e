//! A server with a certificate, and commands that know whose it must be.
#![allow(clippy::unwrap_used, reason = "a test says what it expects by unwrapping it")]

mod common;

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
fn a_certificate_needs_its_key() {
    run(&["serve", "--tls-cert", &fixture("cert.pem")]).ends(2);
    let (cert, key) = (fixture("cert.pem"), fixture("second-key.pem"));
    run(&["serve", "--tls-cert", &cert, "--tls-key", &key]).ends(2);
}
