//! The site list by the program itself: as a site owner, and as an operator.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::{Said, Server, milepost, run};

const SIGNERS: &str = r#"[{"identity":"ada@example.com","issuer":"https://accounts.google.com"}]"#;

fn check(folder: &Path, host: &str, csp: &str, more: &[&str]) -> Said {
    let head = folder.join("head.txt");
    let text = format!(
        "HTTP/2 200\r\nX-Sigstore-Signers: {SIGNERS}\r\nx-sigstore-threshold: 1\r\nx-webcat-action: ADD\r\n\
         content-security-policy: {csp}\r\n\r\n"
    );
    std::fs::write(&head, text).unwrap();
    let mut command = milepost(&["site-list", "check", host, "--headers", head.to_str().unwrap()]);
    command.args(["-o", "json"]).args(more).output().unwrap().into()
}

#[test]
fn a_site_owner_checks_a_saved_head_and_is_told_by_code() {
    let folder = TempDir::new().unwrap();
    let at = |csp| check(folder.path(), "example.com", csp, &[]);
    let fine = at("default-src 'none'").ends(0).json();
    let policy = json!({ "x-sigstore-signers": [{ "identity": "ada@example.com", "issuer": "https://accounts.google.com" }], "x-sigstore-threshold": 1 });
    assert_eq!(fine, json!({ "ok": true, "code": null, "message": null, "policy": policy }));
    let refused = at("default-src 'none'; script-src 'unsafe-inline'").ends(1).json();
    let keys: Vec<&str> = refused.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys.len(), 4, "{refused}");
    assert_eq!((&refused["ok"], &refused["code"]), (&json!(false), &json!("csp-source")));
    assert_eq!(refused["policy"], Value::Null);
    let enrolled = folder.path().join("enrolled.txt");
    std::fs::write(&enrolled, "example.com\n").unwrap();
    let there = check(
        folder.path(),
        "example.com",
        "default-src 'none'",
        &["--enrolled", enrolled.to_str().unwrap()],
    );
    assert_eq!(there.ends(1).json()["code"], "list-present");
    assert_eq!(
        check(folder.path(), "127.0.0.1", "default-src 'none'", &[]).ends(1).json()["code"],
        "host-address"
    );
    run(&["site-list", "check", "example.com", "--headers", "nothing-there"]).ends(2);
}

#[test]
fn a_key_is_made_once() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("key");
    let made = || run(&["site-list", "new-key", "list.example/log", "--out", file.to_str().unwrap()]);
    let key = made().ends(0).stdout;
    assert!(key.starts_with("list.example/log+"), "{key}");
    let secret = std::fs::read_to_string(&file).unwrap();
    assert!(secret.starts_with("PRIVATE+KEY+list.example/log+"), "it is not what a signer reads");
    made().ends(2);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), secret);
    run(&["site-list", "new-key", "no name", "--out", "x"]).ends(2);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_runs_a_list_with_a_listener_of_its_own() {
    let folder = TempDir::new().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let key = run(&["site-list", "new-key", "list.example/log", "--out", &file("key")]).ends(0).stdout;
    let settings = format!(
        "[system.site-list]\nlog-key-file = '{}'\nlog-folder = '{}'\nlisten = '127.0.0.1:0'\n\
         [params.site-list]\nwaiting_delay = '1d'\n",
        file("key"),
        file("log")
    );
    std::fs::write(file("milepost.toml"), settings).unwrap();
    let server = Server::start_with(&[], &["--config".to_owned(), file("milepost.toml")], &[]);
    let own = {
        let log = server.log.lock().unwrap();
        let line = log.iter().find(|line| line.contains("a system listens here")).expect("it says where");
        let address = line.split("address=").nth(1).and_then(|rest| rest.split_whitespace().next());
        format!("http://{}", address.expect("it has an address"))
    };
    let get = |url: String| async move {
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let answer = client.get(url).send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    };
    assert_eq!(get(format!("{own}/")).await, (200, r#"{"status":"OK"}"#.to_owned()));
    let (status, text) = get(format!("{own}/v1/submissions")).await;
    assert_eq!(status, 404);
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap()["status"], "KO");
    // A list without sites is built, verified and served, too.
    let (log, out) = (file("log"), file("list"));
    let key = key.trim();
    server.run(&["site-list", "build", "--log", &log, "--log-key", key, "--out", &out]).ends(0);
    run(&["site-list", "verify", &out, "--log-key", key, "--log", &log]).ends(0);
    let latest: Value =
        serde_json::from_str(&std::fs::read_to_string(Path::new(&out).join("update.json")).unwrap()).unwrap();
    let bin = format!("{out}/{}.bin", latest["latest"].as_str().unwrap());
    run(&["site-list", "lookup", "example.com", "--list", &bin]).ends(1);
    let mut serving = milepost(&["site-list", "serve", &out, "--listen", "127.0.0.1:0"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(serving.stderr.take().unwrap()).lines();
    let said = lines.next().unwrap().unwrap();
    let at = said.strip_prefix("listening on ").expect("it says where").to_owned();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let update = client.get(format!("{at}/update.json")).send().await.unwrap();
    let tag = update.headers()["etag"].clone();
    assert_eq!(update.json::<Value>().await.unwrap(), latest);
    let again = client.get(format!("{at}/update.json")).header("if-none-match", tag).send().await.unwrap();
    assert_eq!(again.status().as_u16(), 304);
    assert_eq!(get(format!("{at}/..%2Fkey")).await.0, 404);
    assert_eq!(get(format!("{at}/../key")).await.0, 404);
    assert_eq!(client.post(format!("{at}/update.json")).send().await.unwrap().status().as_u16(), 405);
    serving.kill().unwrap();
    serving.wait().unwrap();
    run(&["site-list", "serve", folder.path().to_str().unwrap()]).ends(2);
}
