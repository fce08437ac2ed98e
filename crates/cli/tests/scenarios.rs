//! The shipped machines against their documents, and `milepost test` itself.
// size: the literal tables of seven documents stand together, so that a missing one is seen

use crate::common;

use std::collections::BTreeSet;

use common::{run, shipped};
use model::Pipeline;
use model::pipeline::{Source, attachments, load};
use tempfile::TempDir;

fn shipped(name: &str) -> Pipeline {
    let file = shipped::file(name);
    let read = |path: &str| std::fs::read_to_string(file.with_file_name(path)).expect("the file is there");
    let mut source = Source::new(format!("{name}.toml"), read(&format!("{name}.toml")));
    source.files = attachments(&source.toml).into_iter().map(|path| (path.clone(), read(&path))).collect();
    load(&source).unwrap_or_else(|problems| panic!("{}", problems.render(&source)))
}

/// Compares every pair of states that some edge connects with those of the machine's document.
#[track_caller]
fn assert_moves(name: &str, document: &[(&str, &[&str])]) {
    let legal: BTreeSet<(String, String)> = shipped(name)
        .moves()
        .into_iter()
        .map(|one| (one.from.as_deref().unwrap_or("(none)").to_owned(), one.to.to_string()))
        .collect();
    let written: BTreeSet<(String, String)> = document
        .iter()
        .flat_map(|(from, to)| to.iter().map(|to| ((*from).to_owned(), (*to).to_owned())))
        .collect();
    let extra: Vec<_> = legal.difference(&written).collect();
    let missing: Vec<_> = written.difference(&legal).collect();
    assert!(extra.is_empty() && missing.is_empty(), "{name}: too many {extra:?}, too few {missing:?}");
}

#[test]
fn every_shipped_machine_walks_every_move_as_its_scenarios_say() {
    let files = shipped::files();
    assert_eq!(files.len(), 10, "{files:?}");
    let paths: Vec<String> = files.iter().map(|path| path.display().to_string()).collect();
    let args: Vec<&str> =
        ["test", "-o", "json"].into_iter().chain(paths.iter().map(String::as_str)).collect();
    let report = run(&args).ends(0).json();
    assert_eq!(report["ok"], true);
    let files = report["files"].as_array().expect("there is one for each");
    assert_eq!(files.len(), 10);
    for file in files {
        assert_eq!(file["coverage"]["required"], true, "{}", file["file"]);
        let missing = file["coverage"]["missing"].as_array().expect("a list");
        assert!(missing.iter().all(|one| one["trigger"] == "guard_error"), "{missing:?}");
        let moves = file["coverage"]["moves"].as_u64().expect("a number");
        let scenarios = file["scenarios"].as_array().map_or(0, Vec::len);
        assert!(scenarios >= 10.min(usize::try_from(moves).expect("few")), "{}", file["file"]);
    }
}

#[test]
fn the_review_of_skills_has_the_moves_of_its_document() {
    assert_moves(
        "skill-review",
        &[
            ("(none)", &["RECEIVED"]),
            ("RECEIVED", &["VENDOR_APPROVED", "TIER1_SCANNING"]),
            ("TIER1_SCANNING", &["TIER2_SCANNING", "TIER1_FAILED"]),
            ("TIER2_SCANNING", &["AUTO_APPROVED", "NEEDS_REVIEW", "REJECTED"]),
            ("AUTO_APPROVED", &["PUBLISHED"]),
            ("NEEDS_REVIEW", &["TIER3_REVIEW", "REJECTED"]),
            ("TIER3_REVIEW", &["PUBLISHED", "REJECTED"]),
            ("VENDOR_APPROVED", &["PUBLISHED"]),
        ],
    );
}

#[test]
fn the_ledgers_queue_has_the_moves_of_its_document() {
    assert_moves(
        "ledger-batch",
        &[
            ("(none)", &["QUEUED"]),
            ("QUEUED", &["SUBMITTING"]),
            // Invalid, because an admin gave up a batch that was dead.
            ("SUBMITTING", &["PENDING", "DELAYED", "INVALID"]),
            // Delayed, because its fee is too low; invalid while delayed, because an admin gave it up.
            ("PENDING", &["UNKNOWN", "DELAYED", "VALID", "COMMITTED", "INVALID"]),
            ("UNKNOWN", &["SUBMITTING"]),
            ("DELAYED", &["SUBMITTING", "INVALID"]),
            ("VALID", &["COMMITTED", "INVALID"]),
            // The chain of an Ethereum went back behind its block.
            ("COMMITTED", &["REORGED"]),
        ],
    );
}

#[test]
fn requests_for_signatures_have_the_moves_of_their_document() {
    assert_moves(
        "sign-request",
        &[
            ("(none)", &["INDEXED"]),
            ("INDEXED", &["SIGNING", "EXPIRED", "DROPPED"]),
            ("SIGNING", &["SIGNED", "AWAITING_FINALITY", "EXPIRED", "DROPPED"]),
            ("AWAITING_FINALITY", &["SIGNED", "EXPIRED", "DROPPED"]),
            ("SIGNED", &["PUBLISHED", "EXPIRED", "DROPPED"]),
        ],
    );
}

#[test]
fn ingest_batches_have_the_moves_of_their_document() {
    assert_moves(
        "ingest-batch",
        &[
            ("(none)", &["PENDING"]),
            ("PENDING", &["HELD", "PROCESSING"]),
            ("HELD", &["PROCESSING", "DELETED"]),
            ("PROCESSING", &["FAILED", "REPORTING"]),
            ("REPORTING", &["FAILED", "COMPLETED"]),
            ("FAILED", &["PROCESSING", "DELETED"]),
        ],
    );
}

#[test]
fn ingest_jobs_have_the_moves_of_their_document() {
    assert_moves(
        "ingest-job",
        &[
            ("(none)", &["PENDING", "FAILED"]),
            ("PENDING", &["HELD", "ESTIMATING"]),
            // Deleted from wherever it is, with its batch; failed before the download, because an admin gave it up.
            ("HELD", &["ESTIMATING", "DELETED"]),
            ("ESTIMATING", &["PROVISIONING", "FAILED", "DELETED"]),
            ("PROVISIONING", &["DOWNLOADING", "FAILED", "DELETED"]),
            ("DOWNLOADING", &["PROCESSING", "FAILED", "DELETED"]),
            ("PROCESSING", &["RECORDING", "FAILED", "DELETED"]),
            ("RECORDING", &["COMPLETED", "FAILED", "DELETED"]),
            ("FAILED", &["ESTIMATING", "PROVISIONING", "DOWNLOADING", "PROCESSING", "RECORDING", "DELETED"]),
        ],
    );
}

#[test]
fn deliveries_go_out_or_end() {
    assert_moves(
        "delivery",
        &[
            ("(none)", &["POSTING", "MAILING"]),
            ("POSTING", &["SENT", "REFUSED", "CANCELLED"]),
            ("MAILING", &["SENT", "REFUSED", "CANCELLED"]),
        ],
    );
}

/// The seven columns of the site list's document: phase, status, final, needs investigation, description, the state
/// after success, the state after an error (`-`: none).
const SITE_LIST: &str = "\
Submission | SUBMITTED | No | No | Request received and saved. | PRELIMINARY_VALIDATION_IN_PROGRESS | -
Preliminary Validation | PRELIMINARY_VALIDATION_IN_PROGRESS | No | No | Initial checks in progress. | PRELIMINARY_VALIDATION_OK | PRELIMINARY_VALIDATION_ERROR
Preliminary Validation | PRELIMINARY_VALIDATION_OK | No | No | Initial validation successful. | SUBMISSION_TO_LOG_IN_PROGRESS | -
Preliminary Validation | PRELIMINARY_VALIDATION_ERROR | Yes | No | Configuration error during initial validation; change discarded. | - | -
Submission to Log | SUBMISSION_TO_LOG_IN_PROGRESS | No | No | Sending to Transparency API. | SUBMISSION_TO_LOG_OK | SUBMISSION_TO_LOG_ERROR
Submission to Log | SUBMISSION_TO_LOG_OK | No | No | Submission accepted by Transparency API. | LOG_INCLUSION_OK | -
Submission to Log | SUBMISSION_TO_LOG_ERROR | Yes | Yes | Transparency API rejected submission; change discarded. | - | -
Log Inclusion | LOG_INCLUSION_OK | No | No | Transparency API returned a valid log inclusion proof; merge successful. | WAITING_DELAY | -
Log Inclusion | LOG_INCLUSION_ERROR | Yes | Yes | Log inclusion proof failed; change discarded. | - | -
Waiting Period | WAITING_DELAY | No | No | All steps successful; waiting period before secondary validation. | SECOND_VALIDATION_IN_PROGRESS | -
Secondary Validation | SECOND_VALIDATION_IN_PROGRESS | No | No | Secondary checks in progress. | SECOND_VALIDATION_OK | SECOND_VALIDATION_ERROR
Secondary Validation | SECOND_VALIDATION_OK | No | No | Secondary validation successful; configuration matches the first validation. | SECOND_SUBMISSION_TO_LOG_IN_PROGRESS | -
Secondary Validation | SECOND_VALIDATION_ERROR | Yes | No | Secondary validation failed; configuration mismatch or error; change discarded. | - | -
Second Submission to Log | SECOND_SUBMISSION_TO_LOG_IN_PROGRESS | No | No | Sending results of secondary validation to Transparency API. | SECOND_SUBMISSION_TO_LOG_OK | SECOND_SUBMISSION_TO_LOG_ERROR
Second Submission to Log | SECOND_SUBMISSION_TO_LOG_OK | No | No | Second submission accepted by Transparency API. | SECOND_LOG_INCLUSION_OK | -
Second Submission to Log | SECOND_SUBMISSION_TO_LOG_ERROR | Yes | Yes | Transparency API rejected second submission; change discarded. | - | -
Second Log Inclusion | SECOND_LOG_INCLUSION_OK | No | No | Transparency API returned a valid log inclusion proof; merge successful. | COMPLETED | -
Second Log Inclusion | SECOND_LOG_INCLUSION_ERROR | Yes | Yes | Log inclusion proof failed during second inclusion; change discarded. | - | -
Completion | COMPLETED | Yes | No | Process completed successfully; change included in the next list distribution. | - | -";

/// The document leaves its two states of failed proofs without a way in; these are the edges it lacks.
const SITE_LIST_BESIDES: [(&str, &str); 2] = [
    ("SUBMISSION_TO_LOG_OK", "LOG_INCLUSION_ERROR"),
    ("SECOND_SUBMISSION_TO_LOG_OK", "SECOND_LOG_INCLUSION_ERROR"),
];

#[test]
fn the_site_list_has_the_nineteen_states_of_its_document() {
    let pipeline = shipped("site-list");
    let rows: Vec<Vec<&str>> = SITE_LIST.lines().map(|line| line.split(" | ").collect()).collect();
    assert_eq!(rows.len(), 19);
    let yes = |truth: bool| if truth { "Yes" } else { "No" };
    let states: Vec<Vec<&str>> = pipeline
        .states
        .iter()
        .map(|state| {
            let investigate = state.investigate().is_some();
            vec![
                state.phase.as_deref().unwrap_or_default(),
                &*state.name,
                yes(state.is_final()),
                yes(investigate),
                state.title.as_deref().unwrap_or_default(),
            ]
        })
        .collect();
    let columns: Vec<Vec<&str>> = rows.iter().map(|row| row[..5].to_vec()).collect();
    assert_eq!(states, columns);

    let mut document: Vec<(&str, &[&str])> = vec![("(none)", &["SUBMITTED"])];
    let next: Vec<(&str, [&str; 2])> = rows.iter().map(|row| (row[1], [row[5], row[6]])).collect();
    for (from, to) in &next {
        let ways = if to[1] == "-" { &to[..1] } else { &to[..] };
        if ways[0] != "-" {
            document.push((from, ways));
        }
    }
    for (from, to) in &SITE_LIST_BESIDES {
        document.push((from, std::slice::from_ref(to)));
    }
    assert_moves("site-list", &document);
}

#[test]
fn no_end_of_the_site_list_can_be_left_and_nothing_in_it_dies() {
    let pipeline = shipped("site-list");
    for state in pipeline.states.iter().filter(|state| state.is_final()) {
        assert!(state.actions.is_empty(), "{} has actions", state.name);
    }
    assert!(pipeline.forbids_dead_letters && pipeline.dead_letters().is_empty());
}

/// A rule of a machine, as it is written and as it must not be. The scenarios have to notice.
const BROKEN: &[(&str, &str, &str)] = &[
    ("ledger-batch", "lane = \"free\"\n", ""),
    ("ledger-batch", "on_dead = \"block\"", "on_dead = \"free\""),
    ("ledger-batch", " : '#' + payload.batch_header\", on_dead", " : ''\", on_dead"),
    ("ledger-batch", "'#' + payload.batch_header", "payload.batch_header"),
    ("ledger-batch", "has(payload.nonce) ? string(payload.nonce) : ", ""),
    ("ledger-batch", "labels.header = \"payload.batch_header\"\n", ""),
    ("ledger-batch", "delay_window = \"15s\"", "delay_window = \"16s\""),
    ("ledger-batch", "lane = { key = \"labels.service\"", "lane = { key = \"payload.batch_header\""),
    ("ledger-batch", "'UNKNOWN' ? 0", "'UNKNOWN' ? 3"),
    ("ledger-batch", ", missed = { notify = \"operator\" }", ""),
    ("ledger-batch", "given == null ? 2 : 2", "given == null ? 2 : given"),
    ("sign-request", "ethereum = \"1500s\"", "ethereum = \"200s\""),
    ("sign-request", "lease = \"keep\"", "lease = \"restart\""),
    ("sign-request", "{ same = \"return\", differs = \"return\" }", "\"reject\""),
    ("sign-request", "{ same = \"return\", differs = \"return\" }", "\"return\""),
    ("skill-review", "{ same = \"return\", differs = \"return\" }", "\"return\""),
    (
        "sign-request",
        "when = \"payload.finalized\" }, \"AWAITING",
        "when = \"!payload.finalized\" }, \"AWAITING",
    ),
    ("ingest-job", "checkpoint = false\n", ""),
    ("ingest-job", "when = \"failed_from != null\"\n", ""),
    ("ingest-job", "when = \"!held\"", "when = \"held\""),
    ("ingest-job", "holds = \"route\"", "holds = \"stop\""),
    ("ingest-batch", "on.reopened = \"PROCESSING\"\n", ""),
    ("ingest-batch", "on.some_failed = \"FAILED\"", "on.some_failed = \"REPORTING\""),
    ("ingest-batch", "when = \"held\" }, \"PROCESSING\"", "when = \"!held\" }, \"PROCESSING\""),
    ("site-list", "waiting_delay = \"7d\"", "waiting_delay = \"6d\""),
    (
        "site-list",
        "['signers', 'threshold', 'csp', 'action', 'entry'].all(",
        "['signers', 'csp', 'action', 'entry'].all(",
    ),
    (
        "site-list",
        "['signers', 'threshold', 'csp', 'action', 'entry'].all(",
        "['signers', 'threshold', 'csp', 'action', 'entry', 'contact'].all(",
    ),
    ("site-list", "error.code = \"'mismatch'\"\n", "error.code = \"'other'\"\n"),
    ("site-list", "role = \"admin\"\n", ""),
    ("site-list", "payload.fqdn + '!'", "payload.fqdn"),
    ("skill-review", "approve_min = 80", "approve_min = 81"),
    ("skill-review", "has(output.high_privilege) && output.high_privilege", "false"),
    ("skill-review", "error.code == 'git-clone'", "error.code == 'timeout'"),
    ("ingest-batch", "notify = \"depositor\"\n", ""),
    ("site-list", "notify = [\"contact\", \"operator\"]", "notify = \"contact\""),
    ("site-list", "to = \"PRELIMINARY_VALIDATION_ERROR\"", "to = \"SUBMISSION_TO_LOG_ERROR\""),
    ("site-list", "metadata = { code = ", "metadata = { kind = "),
    ("site-list", "ok = \"schemas/site-list-found.json\", ", ""),
    ("site-list", "output = \"schemas/site-list-leaf.json\"\n", ""),
    ("site-list", "output = \"schemas/site-list-proof.json\"\n", ""),
    (
        "site-list",
        "on.crashed = \"SUBMISSION_TO_LOG_ERROR\"",
        "on.crashed = { to = \"SUBMISSION_TO_LOG_ERROR\", trigger = \"gone\" }",
    ),
    ("ingest-job", "on.parent_cancelled = \"DELETED\"\n", ""),
    ("ingest-job", "final = \"failure\"\non.parent_cancelled = \"DELETED\"\n", "final = \"failure\"\n"),
    ("ingest-job", "when = \"error != null\"\n", ""),
    ("ingest-job", "code = \"'bad-package'\"", "code = \"'bad'\""),
    (
        "ingest-batch",
        "!(has(outputs.PROCESSING) && has(outputs.PROCESSING.problem))",
        "error == null || error.code != 'corrupt'",
    ),
    ("ingest-batch", "canonical([payload.submitter, payload.profile])", "canonical([payload.profile])"),
    ("ingest-batch", "canonical([payload.submitter, payload.profile])", "canonical([payload.submitter])"),
    ("ingest-batch", "? payload.digest_type + ':' + ", "? "),
    ("ingest-batch", " : null\"\"\"", " : 'none'\"\"\""),
    (
        "ingest-batch",
        "timeout = \"1h\"\nactions.release = { to = \"PROCESSING\", role = \"admin\", when = \"!held\" }\nactions.delete = { to = \"DELETED\", task = \"ingest.clean\", ",
        "actions.release = { to = \"PROCESSING\", role = \"admin\", when = \"!held\" }\nactions.delete = { to = \"DELETED\", ",
    ),
    ("ingest-batch", "retention = \"90d\"", "retention = \"91d\""),
    ("ingest-batch", "output.corrupt = \"schemas/ingest-batch-corrupt.json\"\n", ""),
    (
        "ingest-job",
        "timeout = \"1h\"\nactions.delete = { to = \"DELETED\", task = \"ingest.clean\", ",
        "actions.delete = { to = \"DELETED\", ",
    ),
    ("ingest-job", "retention = \"90d\"", "retention = \"91d\""),
    ("ingest-job", "title = \"Fetching its files\"\nlane = \"free\"\n", "title = \"Fetching its files\"\n"),
    ("ingest-job", "has(payload.ark) ? payload.ark\n  : ", ""),
    ("ingest-job", "canonical([payload.profile, payload.local_id])", "payload.local_id"),
    ("ingest-job", " : null\"\"\"", " : 'none'\"\"\""),
    (
        "ledger-batch",
        "trigger = \"given-up\", role = \"admin\"",
        "trigger = \"given-up\", role = \"submitter\"",
    ),
    ("ledger-batch", "sla = { target = \"10m\", ", "sla = { target = \"11m\", "),
    ("sign-request", "{ transaction = \"output.transaction\"", "{ transaction = \"output.block_height\""),
    ("sign-request", "output.published = \"schemas/sign-request-publication.json\"\n", ""),
    ("sign-request", "output.signed = \"schemas/sign-request-signature.json\"\n", ""),
    ("sign-request", "forget = \"7d\"\n", ""),
    ("skill-review", "host(payload.repo_url))\n  &&", "'github.com')\n  &&"),
    ("skill-review", "repository(payload.repo_url) + '#'", "payload.repo_url + '#'"),
    ("skill-review", "ownerAsWritten(payload.repo_url)", "labels.owner"),
    ("skill-review", "output.pass = \"schemas/skill-review-scan.json\"\n", ""),
    ("skill-review", "output.scored = \"schemas/skill-review-verdict.json\"\n", ""),
    ("skill-review", "output.published = \"schemas/skill-review-publication.json\"\n", ""),
    ("skill-review", "on.error = { notify = \"operator\" }", "on.error = {}"),
    ("skill-review", "notify = \"review\"", "notify = \"received\""),
    ("delivery", "after = \"3d\"", "after = \"4d\""),
    ("delivery", "role = \"admin\", reason = true", "role = \"admin\""),
];

#[test]
fn scenarios_notice_when_a_machine_is_broken() {
    let folder = TempDir::new().expect("a temporary folder");
    shipped::gather(folder.path());
    for (name, rule, broken) in BROKEN {
        let path = folder.path().join(format!("{name}.toml"));
        let text = std::fs::read_to_string(&path).expect("the file is there");
        assert!(text.contains(rule), "{name} does not say {rule:?}");
        std::fs::write(&path, text.replacen(rule, broken, 1)).expect("the file can be written");
        let said = run(&["test", &path.display().to_string()]);
        assert_eq!(
            said.code, 1,
            "nobody notices {broken:?} in place of {rule:?}:\n{}{}",
            said.stdout, said.stderr
        );
        std::fs::write(&path, text).expect("the file can be written");
    }
}

const HELLO: &str = r#"
name = "hello"
version = 1
start = "GREETING"

[states.GREETING]
task = "hello.greet"
on.greeted = "DONE"
actions.stop = "STOPPED"

[states.DONE]
final = "success"

[states.STOPPED]
final = "cancelled"
"#;

/// Writes a pipeline and its scenarios, and runs them.
fn tested(scenarios: &str, args: &[&str]) -> common::Said {
    tested_on(HELLO, scenarios, args)
}

fn tested_on(pipeline: &str, scenarios: &str, args: &[&str]) -> common::Said {
    let folder = TempDir::new().expect("a temporary folder");
    std::fs::create_dir(folder.path().join("scenarios")).expect("the folder can be written");
    std::fs::write(folder.path().join("hello.toml"), pipeline).expect("the folder can be written");
    std::fs::write(folder.path().join("scenarios/hello.toml"), scenarios).expect("the folder can be written");
    let path = folder.path().join("hello.toml").display().to_string();
    let args: Vec<&str> = ["test"].into_iter().chain(args.iter().copied()).chain([path.as_str()]).collect();
    run(&args)
}

const MIXED: &str = r#"pipeline = "../hello.toml"

[[scenario]]
name = "wrong twice"
steps = [
  { submit = {}, state = "GREETING" },
  { answer = "greeted", state = "GREETING", status = "dead" },
]

[[scenario]]
name = "refused"
steps = [
  { submit = {} },
  { answer = "shouted" },
  { state = "NOT LOOKED AT ANY MORE" },
]

[[scenario]]
name = "not refused"
steps = [
  { submit = {} },
  { answer = "greeted", refused = "unknown-outcome" },
]

[[scenario]]
name = "right"
steps = [
  { submit = {} },
  { answer = "greeted", state = "DONE" },
]
"#;

#[test]
fn every_expectation_that_fails_is_told_and_every_scenario_is_run() {
    let said = tested(MIXED, &[]).ends(1);
    for line in [
        "  FAILED  wrong twice\n",
        "step 2, line 7: state: expected \"GREETING\", got \"DONE\"\n",
        "step 2, line 7: status: expected \"dead\", got \"succeeded\"\n",
        "  FAILED  refused\n",
        "step 2, line 14: refused: expected not refused, got unknown-outcome: ",
        "  FAILED  not refused\n",
        "step 2, line 22: refused: expected unknown-outcome, got not refused\n",
        "  ok      right\n",
        "1 ok, 3 failed; 2 of 3 moves walked\n",
    ] {
        assert!(said.stdout.contains(line), "{line:?} is missing from\n{}", said.stdout);
    }
    assert!(!said.stdout.contains("NOT LOOKED AT"), "{}", said.stdout);
    assert!(!said.stdout.contains("never walked"), "{}", said.stdout);
}

const LIMITED: &str = r#"
name = "hello"
version = 1
labels = { owner = "payload.owner" }
limits.owner = 1
start = "GREETING"
[states.GREETING]
task = "hello.greet"
on.greeted = "DONE"
[states.DONE]
final = "success"
"#;

#[test]
fn limits_keep_from_workers_what_is_one_too_many_and_nothing_else() {
    let said = tested_on(
        LIMITED,
        r#"pipeline = "../hello.toml"
[[scenario]]
name = "limits"
steps = [
  { submit = { owner = "ada" }, as = "one" },
  { submit = { owner = "ada" }, as = "two" },
  { of = "two", answer = "greeted", state = "DONE" },
  { claim = "hello.greet", gets = ["one"], waits_for = "lease" },
  { submit = { owner = "ada" }, as = "three" },
  { submit = { owner = "bob" }, as = "four" },
  { claim = "hello.greet", max = 9, gets = ["four"] },
  { of = "three", waits_for = "limit" },
  { of = "one", give_back = true, waits_for = "worker", history = ["submit"] },
  { of = "three", waits_for = "worker" },
  { hold = { labels = { owner = "ada" } } },
  { claim = "hello.greet", max = 9, gets = [] },
  { of = "three", waits_for = "hold" },
]

[[scenario]]
name = "one too many"
steps = [
  { submit = { owner = "ada" }, as = "one" },
  { claim = "hello.greet" },
  { submit = { owner = "ada" }, as = "two" },
  { of = "two", answer = "greeted" },
]
"#,
        &[],
    )
    .ends(1);
    assert!(said.stdout.contains("  ok      limits\n"), "{}", said.stdout);
    let why = "the limit keeps it from workers: 1 with owner ada are with some already";
    assert!(said.stdout.contains(why), "{}", said.stdout);
}

#[test]
fn results_are_told_as_json() {
    let report = tested(MIXED, &["-o", "json"]).ends(1).json();
    assert_eq!(report["ok"], false);
    let file = &report["files"][0];
    assert_eq!(file["scenarios"][3]["ok"], true);
    let failure = &file["scenarios"][0]["failures"][1];
    assert_eq!((&failure["step"], &failure["line"]), (&2.into(), &7.into()));
    assert_eq!((&failure["what"], &failure["actual"]), (&"status".into(), &"\"succeeded\"".into()));
    let missing = &file["coverage"]["missing"];
    assert_eq!((&missing[0]["from"], &missing[0]["trigger"]), (&"GREETING".into(), &"stop".into()));
}

#[test]
fn moves_that_nobody_walked_are_listed_when_asked_for_and_fail_when_required() {
    let walked = MIXED.split_once("[[scenario]]\nname = \"right\"").expect("the last one is right").1;
    let one = format!("pipeline = \"../hello.toml\"\n[[scenario]]\nname = \"right\"{walked}");
    tested(&one, &[]).ends(0);
    let said = tested(&one, &["--coverage"]).ends(0);
    assert!(said.stdout.contains("never walked: GREETING -> STOPPED (stop)\n"), "{}", said.stdout);
    let said = tested(&format!("require_full_coverage = true\n{one}"), &[]).ends(1);
    assert!(said.stdout.contains("never walked: GREETING -> STOPPED (stop)\n"), "{}", said.stdout);
}

#[test]
fn mistakes_of_a_scenario_file_are_shown_with_line_and_caret() {
    let text = r#"pipeline = "../hello.toml"
sample = 1
[[scenario]]
name = "a"
steps = [
  { submit = {}, stat = "GREETING" },
  { submit = {}, answer = "greeted" },
  { submit = "nobody" },
  { pass = "soon" },
  { answer = "greeted", reason = "r" },
  { refused = "nonsense", act = "stop" },
]
"#;
    let said = tested(text, &[]).ends(2);
    for (place, message) in [
        (":2:1", "a scenario file has no key `sample`"),
        (":6:18", "a step has no key `stat`"),
        (":7:3", "a step does one thing, not `submit` and `answer`"),
        (":8:14", "there is no sample `nobody`"),
        (":9:12", "error[bad-span]"),
        (":10:25", "`answer` has no `reason`"),
        (":11:15", "nothing is refused with the code `nonsense`"),
    ] {
        assert!(said.stderr.contains(&format!("hello.toml{place}\n")), "{place}:\n{}", said.stderr);
        assert!(said.stderr.contains(message), "{message}:\n{}", said.stderr);
    }
    assert!(said.stderr.contains("  |                  ^^^^\n"), "{}", said.stderr);
    assert_eq!(said.stdout, "");
}

#[test]
fn a_file_that_cannot_be_used_does_not_keep_the_others_from_being_run() {
    let good = shipped::file("delivery").display().to_string();
    let said = run(&["test", "no/such/file.toml", &good]).ends(2);
    assert!(said.stderr.contains("cannot read no/such/file.toml"), "{}", said.stderr);
    assert!(said.stdout.contains("0 failed"), "{}", said.stdout);
}

#[test]
fn a_pipeline_without_scenarios_is_a_wrong_usage() {
    let folder = TempDir::new().expect("a temporary folder");
    let path = folder.path().join("hello.toml");
    std::fs::write(&path, HELLO).expect("the folder can be written");
    let said = run(&["test", &path.display().to_string()]).ends(2);
    assert!(said.stderr.contains("scenarios/hello.toml, the scenarios of"), "{}", said.stderr);
}

#[test]
fn a_pipeline_that_goes_in_circles_is_told_and_does_not_hang() {
    let circle = r#"
name = "circle"
version = 1
start = "A"
[defaults]
actions.stop = "DONE"
[states.A]
wait = "0s"
next = "B"
[states.B]
wait = "0s"
next = "A"
[states.DONE]
final = "success"
"#;
    let folder = TempDir::new().expect("a temporary folder");
    let scenarios = folder.path().join("scenarios.toml");
    std::fs::write(folder.path().join("circle.toml"), circle).expect("the folder can be written");
    let text = "pipeline = \"circle.toml\"\n[[scenario]]\nname = \"a\"\nsteps = [{ submit = {} }]\n";
    std::fs::write(&scenarios, text).expect("the folder can be written");
    let said = run(&["test", &scenarios.display().to_string()]).ends(1);
    assert!(said.stdout.contains("goes in circles without time passing"), "{}", said.stdout);
}

#[test]
fn a_pipeline_with_mistakes_is_not_tested() {
    let said = tested("pipeline = \"hello.toml\"\n[[scenario]]\nname = \"a\"\nsteps = []\n", &[]).ends(2);
    assert!(said.stderr.contains("error["), "{}", said.stderr);
}

const PARCEL: &str = r#"
name = "parcel"
version = 1
start = "COLLECTING"

[states.COLLECTING]
task = "parcel.collect"
join = "order"
on.all_succeeded = "SENT"
on.some_failed = "LOST"

[states.SENT]
final = "success"

[states.LOST]
final = "failure"
"#;

#[test]
fn examples_of_the_documentation_are_true() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/scenarios.md");
    let page = std::fs::read_to_string(page).expect("the page is there");
    let blocks = page.split("```toml").skip(1).filter_map(|rest| rest.split_once('\n'));
    let examples: Vec<&str> =
        blocks.map(|(_, block)| block.split("```").next().unwrap_or_default()).collect();
    let folder = TempDir::new().expect("a temporary folder");
    let write = |path: &str, text: &str| {
        std::fs::write(folder.path().join(path), text).expect("the folder can be written");
        folder.path().join(path).display().to_string()
    };
    std::fs::create_dir(folder.path().join("scenarios")).expect("the folder can be written");
    write("parcel.toml", PARCEL);
    let (pipelines, scenarios): (Vec<_>, Vec<_>) =
        examples.iter().partition(|text| text.starts_with("name ="));
    assert_eq!((pipelines.len(), scenarios.len()), (1, 3));
    write("order.toml", pipelines[0]);
    for (index, scenario) in scenarios.into_iter().enumerate() {
        let path = write(&format!("scenarios/{index}.toml"), scenario);
        let said = run(&["test", &path]).ends(0);
        if index == 0 {
            let shown = page.split("```text\n").nth(1).unwrap_or_default().split("```").next();
            let told: String = said.stdout.lines().skip(1).map(|line| format!("{line}\n")).collect();
            assert_eq!(shown.and_then(|shown| shown.split_once('\n')).map(|(_, rest)| rest), Some(&*told));
        }
    }
}

#[test]
fn a_sample_that_is_missing_is_told_with_those_there_are() {
    let steps =
        "pipeline = \"../hello.toml\"\n[[scenario]]\nname = \"x\"\nsteps = [{ submit = \"large\" }]\n";
    let said = tested(steps, &[]).ends(2);
    assert!(said.stderr.contains("there are no samples: write `[samples.large]`"), "{}", said.stderr);
    let said = tested(&format!("{steps}[samples.small]\nn = 1\n"), &[]).ends(2);
    assert!(said.stderr.contains("`[samples]` has small"), "{}", said.stderr);
}
