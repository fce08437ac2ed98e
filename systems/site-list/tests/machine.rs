use std::collections::BTreeMap;

use client::{Filter, Page};
use model::pipeline::{Kind, Source};
use site_list::leaf::Leaf;
use site_list::list::{Distribution, Replay};
use system::System as _;
use tlog::follow::FolderStore;
use tlog::tiles::{Entries, Shelf, TilePath, read_bundle};
use wire::api::{HoldBody, SubmitBody};

use crate::support::dns::Says;
use crate::support::running::{Running, Setup};
use crate::support::sigsum::{Bad, SigsumLog, hex};
use crate::support::web::{Answers, Shows};
use crate::support::{World, good, host, policy};

/// The document's table: phase, state, final, needs investigation, description, next state, state of its error.
const TABLE: &[(&str, &str, bool, bool, &str, &str, &str)] = &[
    (
        "Submission",
        "SUBMITTED",
        false,
        false,
        "Request received and saved.",
        "PRELIMINARY_VALIDATION_IN_PROGRESS",
        "-",
    ),
    (
        "Preliminary Validation",
        "PRELIMINARY_VALIDATION_IN_PROGRESS",
        false,
        false,
        "Initial checks in progress.",
        "PRELIMINARY_VALIDATION_OK",
        "PRELIMINARY_VALIDATION_ERROR",
    ),
    (
        "Preliminary Validation",
        "PRELIMINARY_VALIDATION_OK",
        false,
        false,
        "Initial validation successful.",
        "SUBMISSION_TO_LOG_IN_PROGRESS",
        "-",
    ),
    (
        "Preliminary Validation",
        "PRELIMINARY_VALIDATION_ERROR",
        true,
        false,
        "Configuration error during initial validation; change discarded.",
        "-",
        "-",
    ),
    (
        "Submission to Log",
        "SUBMISSION_TO_LOG_IN_PROGRESS",
        false,
        false,
        "Sending to Transparency API.",
        "SUBMISSION_TO_LOG_OK",
        "SUBMISSION_TO_LOG_ERROR",
    ),
    (
        "Submission to Log",
        "SUBMISSION_TO_LOG_OK",
        false,
        false,
        "Submission accepted by Transparency API.",
        "LOG_INCLUSION_OK",
        "-",
    ),
    (
        "Submission to Log",
        "SUBMISSION_TO_LOG_ERROR",
        true,
        true,
        "Transparency API rejected submission; change discarded.",
        "-",
        "-",
    ),
    (
        "Log Inclusion",
        "LOG_INCLUSION_OK",
        false,
        false,
        "Transparency API returned a valid log inclusion proof; merge successful.",
        "WAITING_DELAY",
        "-",
    ),
    (
        "Log Inclusion",
        "LOG_INCLUSION_ERROR",
        true,
        true,
        "Log inclusion proof failed; change discarded.",
        "-",
        "-",
    ),
    (
        "Waiting Period",
        "WAITING_DELAY",
        false,
        false,
        "All steps successful; waiting period before secondary validation.",
        "SECOND_VALIDATION_IN_PROGRESS",
        "-",
    ),
    (
        "Secondary Validation",
        "SECOND_VALIDATION_IN_PROGRESS",
        false,
        false,
        "Secondary checks in progress.",
        "SECOND_VALIDATION_OK",
        "SECOND_VALIDATION_ERROR",
    ),
    (
        "Secondary Validation",
        "SECOND_VALIDATION_OK",
        false,
        false,
        "Secondary validation successful; configuration matches the first validation.",
        "SECOND_SUBMISSION_TO_LOG_IN_PROGRESS",
        "-",
    ),
    (
        "Secondary Validation",
        "SECOND_VALIDATION_ERROR",
        true,
        false,
        "Secondary validation failed; configuration mismatch or error; change discarded.",
        "-",
        "-",
    ),
    (
        "Second Submission to Log",
        "SECOND_SUBMISSION_TO_LOG_IN_PROGRESS",
        false,
        false,
        "Sending results of secondary validation to Transparency API.",
        "SECOND_SUBMISSION_TO_LOG_OK",
        "SECOND_SUBMISSION_TO_LOG_ERROR",
    ),
    (
        "Second Submission to Log",
        "SECOND_SUBMISSION_TO_LOG_OK",
        false,
        false,
        "Second submission accepted by Transparency API.",
        "SECOND_LOG_INCLUSION_OK",
        "-",
    ),
    (
        "Second Submission to Log",
        "SECOND_SUBMISSION_TO_LOG_ERROR",
        true,
        true,
        "Transparency API rejected second submission; change discarded.",
        "-",
        "-",
    ),
    (
        "Second Log Inclusion",
        "SECOND_LOG_INCLUSION_OK",
        false,
        false,
        "Transparency API returned a valid log inclusion proof; merge successful.",
        "COMPLETED",
        "-",
    ),
    (
        "Second Log Inclusion",
        "SECOND_LOG_INCLUSION_ERROR",
        true,
        true,
        "Log inclusion proof failed during second inclusion; change discarded.",
        "-",
        "-",
    ),
    (
        "Completion",
        "COMPLETED",
        true,
        false,
        "Process completed successfully; change included in the next list distribution.",
        "-",
        "-",
    ),
];

/// The document leaves these two states of failure without a way to them.
const MISSING_IN_THE_TABLE: [(&str, &str); 2] = [
    ("SUBMISSION_TO_LOG_OK", "LOG_INCLUSION_ERROR"),
    ("SECOND_SUBMISSION_TO_LOG_OK", "SECOND_LOG_INCLUSION_ERROR"),
];

#[test]
fn the_machine_is_the_documents_table_in_all_its_columns() {
    let file = site_list::system().pipelines().remove(0);
    let named = file.named.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
    let source = Source { files: named.collect(), ..Source::new(file.file, file.toml) };
    let pipeline =
        model::pipeline::load(&source).unwrap_or_else(|problems| panic!("{}", problems.render(&source)));
    let mut ways: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for one in pipeline.moves() {
        ways.entry(one.from.as_deref().unwrap_or("-").to_owned()).or_default().push(one.to.to_string());
    }
    assert_eq!(pipeline.states.len(), TABLE.len());
    for (state, row) in pipeline.states.iter().zip(TABLE) {
        let (phase, name, is_final, investigate, title, next, error) = *row;
        assert_eq!((state.phase.as_deref(), &*state.name), (Some(phase), name));
        assert_eq!(state.title.as_deref(), Some(title), "{name}");
        assert_eq!(matches!(state.kind, Kind::Final { .. }), is_final, "{name}");
        assert_eq!(state.investigate().is_some(), investigate, "{name}");
        let mut found = ways.remove(name).unwrap_or_default();
        found.sort();
        found.dedup();
        let missing = MISSING_IN_THE_TABLE.iter().find(|(from, _)| *from == name).map(|(_, to)| *to);
        let mut expected: Vec<&str> =
            [next, error].into_iter().filter(|to| *to != "-").chain(missing).collect();
        expected.sort_unstable();
        assert_eq!(found, expected, "{name}");
    }
    assert_eq!(ways.remove("-").unwrap().first().map(String::as_str), Some("SUBMITTED"));
    assert!(ways.is_empty());
}

/// The site of all these tests, answering in these ways: the second from its second visit on.
pub(crate) fn site(world: &World, answers: Answers) {
    world.site("site.example", Shows::Good, answers);
}

pub(crate) fn ada(action: &str) -> Answers {
    Answers::Bytes(good(action, &["ada@example.com"], 1))
}

pub(crate) fn leaves(running: &Running) -> Vec<Vec<u8>> {
    let store = FolderStore::open(running.folder.path().join("log"));
    let checkpoint =
        std::fs::read_to_string(running.folder.path().join("log/checkpoint")).expect("there is one");
    let size: u16 = checkpoint.lines().nth(1).and_then(|line| line.parse().ok()).expect("it has a size");
    let bundle = read_bundle(&store, &TilePath { shelf: Shelf::Entries, index: 0, width: size });
    let bundle = bundle.expect("the bundle is there");
    Entries::of(&bundle).map(|entry| entry.expect("it is whole").to_vec()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_is_added_changed_and_leaves_and_the_list_follows_from_the_log() {
    let world = World::start().await;
    let running = Running::start(&world).await;
    site(&world, ada("ADD"));
    let added = running.change("site.example", "ADD").await;
    assert_eq!(&*added.state, "COMPLETED", "{:?}", added.error);
    assert_eq!(
        running.path(added.id).await,
        [
            "SUBMITTED",
            "PRELIMINARY_VALIDATION_IN_PROGRESS",
            "PRELIMINARY_VALIDATION_OK",
            "SUBMISSION_TO_LOG_IN_PROGRESS",
            "SUBMISSION_TO_LOG_OK",
            "LOG_INCLUSION_OK",
            "WAITING_DELAY",
            "SECOND_VALIDATION_IN_PROGRESS",
            "SECOND_VALIDATION_OK",
            "SECOND_SUBMISSION_TO_LOG_IN_PROGRESS",
            "SECOND_SUBMISSION_TO_LOG_OK",
            "SECOND_LOG_INCLUSION_OK",
            "COMPLETED"
        ]
    );
    let name = host("site.example");
    let list = running.list().await;
    let entry = list.entry(&name).unwrap();
    assert_eq!(entry.policy, policy(&["ada@example.com"], 1));
    assert_eq!((entry.submission, entry.contact.as_deref()), (added.id, Some("ada@example.com")));

    site(&world, Answers::Bytes(good("MODIFY", &["ada@example.com", "bob@example.com"], 2)));
    let modified = running.change("site.example", "MODIFY").await;
    assert_eq!(&*modified.state, "COMPLETED", "{:?}", modified.error);
    let list = running.list().await;
    assert_eq!(list.entry(&name).unwrap().policy, policy(&["ada@example.com", "bob@example.com"], 2));

    let mut replay = Replay::default();
    let logged = leaves(&running);
    assert_eq!(logged.len(), 4);
    logged.iter().for_each(|leaf| replay.push(leaf).unwrap());
    assert_eq!(replay.check(&list), Ok(()));
    assert_eq!(Distribution::of_policies(replay.entries()), Distribution::of(&list));

    let leaving = "HTTP/1.1 200 OK\r\nx-webcat-action: DELETE\r\ncontent-length: 0\r\n\r\n";
    site(&world, Answers::Bytes(leaving.to_owned()));
    let gone = running.change("site.example", "DELETE").await;
    assert_eq!(&*gone.state, "COMPLETED", "{:?}", gone.error);
    assert!(running.list().await.is_empty());
    let last = Leaf::read(leaves(&running).last().unwrap()).unwrap();
    assert_eq!((last.domain, last.signers), (name, None));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_that_does_not_meet_the_rules_is_refused_and_its_contact_told_why() {
    let world = World::start().await;
    let running = Running::start(&world).await;
    let two = good("ADD", &["ada@example.com"], 2);
    let cases = [
        ("threshold-range", Shows::Good, Answers::Bytes(two), true),
        ("action-other", Shows::Good, ada("DELETE"), true),
        ("certificate", Shows::Expired, ada("ADD"), false),
    ];
    for (code, shows, answers, is_told) in cases {
        world.site("site.example", shows, answers);
        let refused = running.change("site.example", "ADD").await;
        assert_eq!(&*refused.state, "PRELIMINARY_VALIDATION_ERROR");
        let events = running.admin.events(refused.id, 0).await.unwrap().events;
        let last = events.last().unwrap();
        let metadata: serde_json::Value =
            serde_json::from_str(last.metadata.as_ref().unwrap().as_str()).unwrap();
        assert_eq!(metadata["code"], code);
        assert_eq!(&*refused.error.unwrap().code, code);
        let is_written_to = last.notified.iter().any(|told| told.problem.is_none());
        assert_eq!(is_written_to, is_told, "{:?}", last.notified);
        if is_told {
            let mail = mail_about(&running, refused.id).await;
            assert_eq!(mail["to"], "ada@example.com");
            let (body, message) = (mail["body"].as_str().unwrap(), metadata["message"].as_str().unwrap());
            assert!(body.contains(&format!("Error: {code}: {message}")), "{body}");
        }
    }
    let absent = running.change("nowhere.example", "ADD").await;
    assert_eq!(&*absent.error.unwrap().code, "dns-none");
    assert_eq!(&*running.change("site.example", "MODIFY").await.state, "PRELIMINARY_VALIDATION_ERROR");
}

/// Returns the mail that an end of a submission made: written after it, out of what was committed with it.
async fn mail_about(running: &Running, id: wire::SubmissionId) -> serde_json::Value {
    let filter = client::DeliveryFilter { submission: Some(id), ..Default::default() };
    let made = loop {
        let page = running.owner.deliveries(&filter, &Page::default()).await.expect("the server answers");
        match page.deliveries.first() {
            Some(delivery) => break delivery.id,
            None => tokio::task::yield_now().await,
        }
    };
    let view = running.owner.submission(made).await.expect("it is there");
    serde_json::from_str(view.payload.expect("it has one").as_str()).expect("it is JSON")
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_a_site_changes_during_the_wait_ends_the_change() {
    let world = World::start().await;
    let running = Running::start(&world).await;
    let before = good("ADD", &["ada@example.com", "bob@example.com"], 1);
    let cases = [
        ("signers", good("ADD", &["ada@example.com", "eve@example.com"], 1)),
        ("threshold", good("ADD", &["ada@example.com", "bob@example.com"], 2)),
        ("csp", before.replace("script-src 'self'", "script-src 'none'")),
    ];
    for (difference, after) in cases {
        site(&world, Answers::Then(before.clone(), after));
        let refused = running.change("site.example", "ADD").await;
        assert_eq!(&*refused.state, "SECOND_VALIDATION_ERROR");
        let error = refused.error.unwrap();
        assert_eq!(error.message, format!("not as it was before the wait: {difference}"));
    }
    let other_contact = before.replace("contact: ada@", "contact: bob@");
    site(&world, Answers::Then(before.clone(), before.replace("action: ADD", "action: MODIFY")));
    let refused = running.change("site.example", "ADD").await;
    assert_eq!((&*refused.state, &*refused.error.unwrap().code), ("SECOND_VALIDATION_ERROR", "action-other"));
    site(&world, Answers::Then(before, other_contact));
    assert_eq!(&*running.change("site.example", "ADD").await.state, "COMPLETED");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_emergency_goes_through_while_an_ordinary_change_waits_and_fails_it() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    // Long enough to place a hold meanwhile, which is what keeps the ordinary change waiting.
    let running = Running::with(&world, Setup { waiting_delay: "5s", ..Setup::default() }, folder).await;
    site(&world, ada("ADD"));
    assert_eq!(&*running.change("site.example", "ADD").await.state, "COMPLETED");
    site(&world, Answers::Bytes(good("MODIFY", &["eve@example.com"], 1)));
    let ordinary = running.submit("site.example", "MODIFY").await;
    running.reaches(ordinary, "WAITING_DELAY").await;
    let (labels, reason) = ([("action".to_owned(), "MODIFY".to_owned())].into(), "a test".to_owned());
    let hold = HoldBody { pipeline: Some("site-list".to_owned()), labels, reason, ..HoldBody::default() };
    let hold = running.admin.hold(&hold).await.unwrap();

    let payload = serde_json::json!({ "fqdn": "site.example", "action": "SERVICE_MODIFIED",
        "policy": { "signers": [{ "identity": "Bob@example.com", "issuer": "https://gitlab.com" }], "threshold": 1 } });
    let reason = Some("the key was stolen".to_owned());
    let body = SubmitBody { payload: payload.into(), reason, ..SubmitBody::default() };
    let refused = running.public.submit("site-list", &body, None).await.unwrap_err();
    assert_eq!(refused.code(), Some("role-required"));
    let emergency = running.admin.submit("site-list", &body, None).await.unwrap();
    let emergency = running.end(emergency.id).await;
    assert_eq!(&*emergency.state, "COMPLETED", "{:?}", emergency.error);

    running.admin.release(hold.id.as_ref()).await.unwrap();
    let ordinary = running.end(ordinary).await;
    assert_eq!(&*ordinary.state, "SECOND_VALIDATION_ERROR");
    assert_eq!(ordinary.error.unwrap().message, "not as it was before the wait: entry");
    let list = running.list().await;
    let policy = &list.entry(&host("site.example")).unwrap().policy;
    assert_eq!(policy.signers[0].identity, "bob@example.com");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_domain_that_is_gone_leaves_the_list_and_one_that_is_there_does_not() {
    let world = World::start().await;
    let running = Running::start(&world).await;
    world.site("gone.com", Shows::Good, ada("ADD"));
    assert_eq!(&*running.change("gone.com", "ADD").await.state, "COMPLETED");
    let kept = running.change("gone.com", "DOMAIN_DELETED").await;
    assert_eq!(
        (&*kept.state, &*kept.error.unwrap().code),
        ("PRELIMINARY_VALIDATION_ERROR", "dns-registered")
    );
    assert!(!running.list().await.is_marked(&host("gone.com")));
    world.dns.say("gone.com", Says::NoSuchName("com"));
    assert_eq!(&*running.change("gone.com", "DOMAIN_DELETED").await.state, "COMPLETED");
    assert!(running.list().await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_of_others_takes_a_leaf_late_and_merges_it_later() {
    let world = World::start().await;
    let log = SigsumLog::start(Bad::Never).await;
    let running = with_sigsum(&world, &log).await;
    for (name, size) in [("one.example", 2), ("two.example", 4)] {
        world.site(name, Shows::Good, ada("ADD"));
        let added = running.change(name, "ADD").await;
        assert_eq!(&*added.state, "COMPLETED", "{:?}", added.error);
        assert_eq!(log.size(), size, "one leaf before the wait and one after it");
    }
}

pub(crate) async fn with_sigsum(world: &World, log: &SigsumLog) -> Running {
    let folder = tempfile::tempdir().expect("there is room");
    let key = folder.path().join("key");
    let settings = format!(
        "[sigsum]\nurl = '{}'\nlog-key = '{}'\nkey-file = '{}'\n",
        log.url,
        hex(&log.key),
        key.display()
    );
    Running::with(world, Setup { settings, ..Setup::default() }, folder).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_of_others_that_rejects_or_lies_ends_the_change_and_is_looked_into() {
    let cases = [
        (Bad::Rejects(1), "SUBMISSION_TO_LOG_ERROR"),
        (Bad::Rejects(2), "SECOND_SUBMISSION_TO_LOG_ERROR"),
        (Bad::Signature(1), "LOG_INCLUSION_ERROR"),
        (Bad::Signature(2), "SECOND_LOG_INCLUSION_ERROR"),
        (Bad::Proof(2), "SECOND_LOG_INCLUSION_ERROR"),
        (Bad::Forked(2), "SECOND_LOG_INCLUSION_ERROR"),
    ];
    for (bad, state) in cases {
        let world = World::start().await;
        let log = SigsumLog::start(bad).await;
        let running = with_sigsum(&world, &log).await;
        site(&world, ada("ADD"));
        let ended = running.change("site.example", "ADD").await;
        assert_eq!(&*ended.state, state, "{bad:?}: {:?}", ended.error);
        looked_into(&running, ended.id).await;
    }
}

/// Checks that an end is among the investigations, that the operator is told, and that the list has nothing of it.
pub(crate) async fn looked_into(running: &Running, id: wire::SubmissionId) {
    let open = running.owner.investigations(&Filter::default(), &Page::default()).await;
    let open = open.expect("the server answers").submissions;
    assert!(open.iter().any(|view| view.id == id), "{open:?}");
    let events = running.admin.events(id, 0).await.expect("it is there").events;
    let told: Vec<&str> = events.iter().flat_map(|event| &event.notified).map(|told| &*told.name).collect();
    assert_eq!(told, ["contact", "operator"]);
    assert!(running.list().await.entry(&host("site.example")).is_none());
}
