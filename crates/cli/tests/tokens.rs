//! Tokens as people handle them.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use crate::common::{Server, listening, milepost, run};
use tempfile::TempDir;

#[test]
fn tokens_are_made_listed_rotated_and_revoked() {
    let server = Server::with_own_pipelines();
    let refused = server.run(&["tokens", "create", "ci", "--role", "submitter"]).ends(4);
    assert!(refused.stderr.contains("admin-first"), "{}", refused.stderr);
    let admin = server.run(&["tokens", "create", "root", "--role", "admin"]).ends(0).stdout;
    let admin = admin.trim_end();
    server.run(&["list"]).ends(5);
    let with = |token: &str, args: &[&str]| {
        let mut all = args.to_vec();
        all.extend(["--token", token]);
        server.run(&all)
    };
    let args = ["tokens", "create", "ci", "--role", "viewer", "--pipeline", "skill-review", "-o", "json"];
    let made = with(admin, &args).ends(0).json();
    let (viewer, id) = (made["token"].as_str().unwrap(), made["id"].as_str().unwrap());
    with(viewer, &["list"]).ends(0);
    with(viewer, &["list", "--pipeline", "ledger-batch"]).ends(5);
    with(viewer, &["tokens", "list"]).ends(5);
    let listed = with(admin, &["tokens", "list"]).ends(0).stdout;
    assert!(listed.contains("pipeline=skill-review") && listed.contains("everything"), "{listed}");
    assert!(!listed.contains(viewer) && !listed.contains(admin), "{listed}");
    let newer = with(admin, &["tokens", "rotate", id, "--grace", "0s"]).ends(0).stdout;
    with(viewer, &["list"]).ends(5);
    with(newer.trim_end(), &["list"]).ends(0);
    with(admin, &["tokens", "revoke", id]).ends(0);
    with(admin, &["tokens", "revoke", id]).ends(3);
    let log = server.log.lock().expect("the log is read").join("\n");
    assert!(log.contains("a token was made") && !log.contains("mp_"), "{log}");
}

#[test]
fn a_server_for_others_makes_its_first_token_once() {
    let folder = TempDir::new().expect("a temporary folder");
    let (data, file) = (folder.path().join("data"), folder.path().join("admin.token"));
    let refused = run(&["serve", "--data", data.to_str().unwrap(), "--listen", "0.0.0.0:0"]).ends(4);
    assert!(refused.stderr.contains("--first-token FILE"), "{}", refused.stderr);
    let mut first = String::new();
    for _ in 0..2 {
        let log = Arc::default();
        let mut command = milepost(&["serve", "--listen", "127.0.0.1:0", "--data"]);
        command.arg(&data).arg("--first-token").arg(&file);
        let (mut child, url) = listening(command, &log);
        let token = std::fs::read_to_string(&file).unwrap();
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        run(&["tokens", "list", "--server", &url]).ends(5);
        run(&["tokens", "list", "--server", &url, "--token", token.trim_end()]).ends(0);
        assert!(first.is_empty() || first == token, "made once");
        child.kill().and_then(|()| child.wait()).unwrap();
        assert!(!log.lock().unwrap().join("\n").contains("mp_"));
        first = token;
    }
}
