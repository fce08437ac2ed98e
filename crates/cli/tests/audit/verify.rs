//! Evidence and folders, offline.

use serde_json::json;

use crate::audit::deployment::{self, Deployment};
use crate::audit::{Logged, verify, verify_source, verify_with_input};
use crate::common;

#[test]
fn evidence_holds_and_the_report_says_what_was_checked() {
    let logged = Logged::new();
    let file = logged.file("evidence.json", logged.evidence());
    let said = verify(&file, &[]).ends(0);
    for part in ["holds", "5 events", "SENT", "checked", "guards", deployment::ORIGIN] {
        assert!(said.stdout.contains(part), "{part} is missing:\n{}", said.stdout);
    }
    let told = verify(&file, &["-o", "json"]).ends(0).json();
    assert_eq!((&told["ok"], &told["events"], &told["state"]), (&json!(true), &json!(5), &json!("SENT")));
    assert_eq!(told["guards"], json!({ "checked": 2, "unknown": 0 }));
    assert_eq!(told["submission"], json!(logged.story.row().id));
    let root = logged.deployment.checkpoint().lines().nth(2).unwrap().to_owned();
    assert_eq!(told["root"], json!(root), "as the checkpoint spells it");
    let piped = verify_with_input(&file, &["-o", "json"]).ends(0).json();
    assert_eq!(piped["last_leaf"], told["last_leaf"]);
}

#[test]
fn changed_evidence_is_wrong_with_its_fault_and_place() {
    let logged = Logged::new();
    let changed = logged.evidence().replacen(r#"\"pages\":120"#, r#"\"pages\":121"#, 1);
    let file = logged.file("changed.json", changed);
    let told = verify(&file, &["-o", "json"]).ends(1).json();
    assert_eq!(
        (&told["ok"], &told["fault"], &told["index"], &told["revision"]),
        (&json!(false), &json!("document"), &json!(1), &json!(1))
    );
    let said = verify(&file, &[]).ends(1);
    for part in ["is wrong", "document (", "log index   1", "revision    1"] {
        assert!(said.stdout.contains(part), "{part} is missing:\n{}", said.stdout);
    }
    let cut = logged.file("cut.json", &logged.evidence().as_bytes()[..150]);
    assert_eq!(verify(&cut, &["-o", "json"]).ends(1).json()["fault"], "malformed");
}

#[test]
fn evidence_under_another_key_or_about_another_submission_is_refused() {
    let logged = Logged::new();
    let file = logged.file("evidence.json", logged.evidence());
    let file = file.to_str().unwrap();
    let other = deployment::key(deployment::ORIGIN, 9).verifier().to_string();
    let told = common::run(&["verify", file, "--key", &other, "-o", "json"]).ends(1).json();
    assert_eq!(told["fault"], "signature");
    let id = "0197a8c5-7f1c-7d3a-9b1e-2f6c8d0e4a57";
    assert!(verify_source(file, &["--submission", id]).ends(1).stderr.contains("not 0197a8c5"));
    let own = logged.story.row().id.to_string();
    verify_source(file, &["--submission", &own]).ends(0);
    common::run(&["verify", file]).ends(2);
    common::run(&["verify", file, "--key", "nonsense"]).ends(2);
    common::run(&["verify", "no-such-file", "--key", &other]).ends(2);
    let none = logged.file("none.json", "nope");
    let said = common::run(&["verify", none.to_str().unwrap(), "--key", &other]).ends(1);
    assert!(said.stdout.contains("not evidence: it is not JSON: expected a value"), "{}", said.stdout);
}

#[test]
fn keys_come_from_files_and_old_ones_stay_good_beside_new_ones() {
    let logged = Logged::new();
    let file = logged.file("evidence.json", logged.evidence());
    let new = deployment::key(deployment::ORIGIN, 9).verifier();
    let keys = logged.file("keys", format!("# the new one first\n{new}\n\n{}\n", crate::audit::log_key()));
    let keys = format!("@{}", keys.display());
    common::run(&["verify", file.to_str().unwrap(), "--key", &keys]).ends(0);
    let bare = keys.trim_start_matches('@');
    let said = common::run(&["verify", file.to_str().unwrap(), "--key", bare]).ends(2);
    assert!(said.stderr.contains(&format!("next: `{bare}` is a file: write `@{bare}`")), "{}", said.stderr);
    let witness = deployment::witness_key("witness.example/w1", 5).verifier().to_string();
    let said = common::run(&["verify", file.to_str().unwrap(), "--key", &witness]).ends(2);
    assert!(said.stderr.contains("the key of a witness"), "{}", said.stderr);
}

#[test]
fn a_policy_asks_for_witnesses_that_have_not_seen_it() {
    let logged = Logged::new();
    let file = logged.file("evidence.json", logged.evidence());
    let witness = deployment::witness_key("witness.example/w1", 5).verifier();
    let policy = format!("log {}\nwitness w1 {witness}\nquorum w1\n", crate::audit::log_key());
    let policy = logged.file("policy", policy);
    let args = ["verify", file.to_str().unwrap(), "--policy", policy.to_str().unwrap(), "-o", "json"];
    assert_eq!(common::run(&args).ends(1).json()["fault"], "witness");
    let none = logged.file("none", format!("log {}\nquorum none\n", crate::audit::log_key()));
    common::run(&["verify", file.to_str().unwrap(), "--policy", none.to_str().unwrap()]).ends(0);
}

#[test]
fn a_whole_log_holds_and_ends_where_the_evidence_does() {
    let mut logged = Logged::new();
    let evidence = logged.file("evidence.json", logged.evidence());
    logged.grow(600);
    let id = logged.story.row().id.to_string();
    let told = verify(&logged.folder(), &["--submission", &id, "-o", "json"]).ends(0).json();
    assert_eq!((&told["kind"], &told["events"], &told["size"]), (&json!("log"), &json!(5), &json!(606)));
    let last_leaf = verify(&evidence, &["-o", "json"]).ends(0).json()["last_leaf"].clone();
    assert_eq!(
        told["ends"],
        json!([{ "submission": id, "revision": 5, "state": "SENT", "last_leaf": last_leaf }])
    );
    let said = verify(&logged.folder(), &[]).ends(0);
    assert!(said.stdout.contains("5, in 1 submission\n"), "{}", said.stdout);
    let absent = "0197a8c5-7f1c-7d3a-9b1e-2f6c8d0e4a57";
    let told = verify(&logged.folder(), &["--submission", absent, "-o", "json"]).ends(1).json();
    assert_eq!(told["ok"], false);
    let elsewhere = logged.deployment.folder.path().to_owned();
    assert!(verify(&elsewhere, &[]).ends(2).stderr.contains("holds no log"));
}

#[test]
fn a_log_goes_on_from_the_checkpoint_that_was_saved_or_is_wrong() {
    let mut logged = Logged::new();
    let seen = logged.file("seen", logged.deployment.checkpoint());
    logged.grow(300);
    let since = ["--since", seen.to_str().unwrap(), "-o", "json"];
    assert_eq!(verify(&logged.folder(), &since).ends(0).json()["since"], 6);
    let late = logged.file("late", logged.deployment.checkpoint());

    let mut other = Logged::new();
    let since_late = ["--since", late.to_str().unwrap(), "-o", "json"];
    let told = verify(&other.folder(), &since_late).ends(1).json();
    assert_eq!(told["fault"], "consistency", "its tail was cut off");
    other.deployment.publish(&vec![b"another history".to_vec(); 400]);
    assert_eq!(verify(&other.folder(), &since_late).ends(1).json()["fault"], "consistency");
    let no_checkpoint = logged.file("nothing", "nothing");
    verify(&logged.folder(), &["--since", no_checkpoint.to_str().unwrap()]).ends(2);
}

#[test]
fn a_changed_entry_and_an_illegal_move_are_named_by_their_index() {
    let mut logged = Logged::new();
    logged.grow(600);
    let bundle = logged.folder().join("tile/entries/001");
    let bytes = std::fs::read(&bundle).unwrap();
    let mut changed = bytes.clone();
    let place = changed.len() - 20;
    changed[place] ^= 1;
    std::fs::write(&bundle, changed).unwrap();
    let told = verify(&logged.folder(), &["-o", "json"]).ends(1).json();
    assert_eq!((&told["fault"], &told["index"]), (&json!("tile"), &json!(511)));

    // A log whose operator signs a move that no edge allows.
    let story = deployment::eventful();
    let mut lying = Deployment::new();
    lying.apply(&story.pipeline);
    let mut leaf = story.events[1].leaf.clone();
    leaf.to = story.events[4].leaf.to.clone();
    lying.publish(&[story.events[0].leaf.bytes(), leaf.bytes()]);
    let told = verify(&lying.folder.path().join("log"), &["-o", "json"]).ends(1).json();
    assert_eq!((&told["fault"], &told["index"], &told["revision"]), (&json!("move"), &json!(2), &json!(2)));
}
