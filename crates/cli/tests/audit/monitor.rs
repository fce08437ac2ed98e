//! A monitor over HTTP.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::audit::site::Site;
use crate::audit::{Logged, deployment, log_key};
use crate::common::{Said, milepost, run};

fn look(site: &Site, state: &Path, more: &[&str]) -> Said {
    let (key, state) = (log_key(), state.to_str().unwrap().to_owned());
    run(&[&["monitor", &site.url, "--key", &key, "--state", &state, "--once"], more].concat())
}

/// The same origin and key, another past.
fn other_face(leaves: usize) -> deployment::Deployment {
    let mut other = deployment::Deployment::new();
    other.publish(&vec![b"another history".to_vec(); leaves]);
    other
}

#[test]
fn a_log_that_grows_is_fine() {
    let mut logged = Logged::new();
    let state = logged.deployment.folder.path().join("seen");
    let site = Site::start(logged.folder());
    assert!(look(&site, &state, &[]).ends(0).stdout.contains("for the first time"));
    assert_eq!(std::fs::read_to_string(&state).unwrap(), logged.deployment.checkpoint());
    logged.grow(600);
    let grown: Value = look(&site, &state, &["-o", "json"]).ends(0).json();
    assert_eq!(grown, json!({ "ok": true, "from": 6, "size": 606 }));
    assert!(look(&site, &state, &[]).ends(0).stdout.contains("606 leaves, as before"));
}

#[test]
fn a_rewritten_past_a_lost_tail_and_a_second_face_are_shouted_about() {
    let mut logged = Logged::new();
    let state = logged.deployment.folder.path().join("seen");
    let site = Site::start(logged.folder());
    logged.grow(300);
    look(&site, &state, &[]).ends(0);
    let seen = logged.deployment.checkpoint();
    for leaves in [400, 306, 5] {
        let other = other_face(leaves);
        site.serve(other.folder.path().join("log"));
        let said = look(&site, &state, &["-o", "json"]).ends(1);
        assert!(said.stderr.starts_with("ALARM: "), "{leaves}: {}", said.stderr);
        let told = said.json();
        assert_eq!((&told["before"], &told["now"]), (&json!(seen), &json!(other.checkpoint())));
        assert_eq!(std::fs::read_to_string(&state).unwrap(), seen, "what was seen stays remembered");
        let shown = other.checkpoint().lines().all(|line| said.stderr.contains(line));
        assert!(shown, "{}", said.stderr);
    }
    site.serve(logged.folder());
    look(&site, &state, &[]).ends(0);
}

#[test]
fn a_log_that_cannot_be_reached_is_no_alarm_and_a_forged_one_is() {
    let logged = Logged::new();
    let state = logged.deployment.folder.path().join("seen");
    let site = Site::start(logged.folder());
    look(&site, &state, &[]).ends(0);
    site.answer("/tile/0/000.p/6", 503, "later");
    look(&site, &state, &[]).ends(6);
    site.answer("/tile/0/000.p/6", 200, vec![0; 32 * 6]);
    assert!(look(&site, &state, &[]).ends(1).stderr.starts_with("ALARM: "));
    site.answer("/checkpoint", 200, logged.deployment.checkpoint().replace("\n6\n", "\n7\n"));
    assert!(look(&site, &state, &[]).ends(1).stderr.starts_with("ALARM: "));
}

#[test]
fn a_monitor_that_runs_goes_on_until_something_is_wrong() {
    let mut logged = Logged::new();
    let state = logged.deployment.folder.path().join("seen");
    let site = Site::start(logged.folder());
    let (key, state) = (log_key(), state.to_str().unwrap().to_owned());
    let args = ["monitor", &site.url, "--key", &key, "--state", &state, "--every", "20ms", "-o", "json"];
    let mut child = milepost(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    assert_eq!(next()["size"], 6);
    // A log that is away for a while comes back.
    site.answer("/checkpoint", 500, "down");
    logged.grow(10);
    site.answer("/checkpoint", 200, logged.deployment.checkpoint());
    assert_eq!(next(), json!({ "ok": true, "from": 6, "size": 16 }));
    let other = other_face(50);
    site.serve(other.folder.path().join("log"));
    site.answer("/checkpoint", 200, other.checkpoint());
    assert_eq!(next()["ok"], false);
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

#[test]
fn a_monitor_takes_its_token_from_the_environment_and_trusts_whom_it_is_told_to() {
    let logged = Logged::new();
    let state = logged.deployment.folder.path().join("seen");
    let site = Site::start(logged.folder());
    let mut command =
        milepost(&["monitor", &site.url, "--key", &log_key(), "--state", state.to_str().unwrap(), "--once"]);
    Said::from(command.env("MILEPOST_TOKEN", "of-the-environment").output().unwrap()).ends(0);
    assert_eq!(site.asked().last().unwrap().token.as_deref(), Some("Bearer of-the-environment"));
    let no_certificate = logged.file("none.pem", "nothing");
    let said = look(&site, &state, &["--ca", no_certificate.to_str().unwrap()]).ends(2);
    assert!(said.stderr.contains("there is no certificate"), "{}", said.stderr);
}
