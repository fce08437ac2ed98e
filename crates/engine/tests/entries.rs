//! Entries of systems: compared and changed alone, or in the commit of the move that a worker's answer makes.

use crate::support::bench::{Bench, Open, Promises, check, over_memory, over_postgres, over_sqlite};
use crate::support::{WORK, submit};
use engine::core::{Ask, Output, Reply, system_entries, system_entry};
use model::command::Finish;
use model::entry::{ENTRIES_MAX, ENTRY_BYTES_MAX, EntryChange};
use model::{Code, Command, Digest, Json, LeaseToken};

const PROMISES: Promises = &[
    ("an entry is made once, replaced by who knows it, and removed", made_replaced_removed),
    ("an entry keeps its exact text", keeps_its_text),
    ("systems have entries of their own, listed by name", listed_by_system),
    ("names and sizes are bounded", bounded),
    ("entries change in the commit of the move", changed_with_the_move),
    ("an answer whose entries are not as expected is refused as a whole", refused_as_a_whole),
    ("an answer that is repeated changes no entry again", repeated),
    ("an answer that is no use changes no entry", no_use),
    ("answers of one step see each other's entries", one_after_the_other),
    ("an answer changes so many entries, each once", bounded_answers),
];

#[test]
fn promises_hold_on_memory() {
    check(PROMISES, &over_memory);
}

#[test]
fn promises_hold_on_sqlite() {
    check(PROMISES, &over_sqlite);
}

#[test]
fn promises_hold_on_postgres() {
    check(PROMISES, &over_postgres);
}

fn json(text: &str) -> Json {
    Json::parse(text).unwrap()
}

fn digest(text: &str) -> Option<Digest> {
    Some(EntryChange::digest_of(&json(text)))
}

fn change(name: &str, expected: Option<Digest>, body: Option<&str>) -> EntryChange {
    EntryChange { system: "sites".into(), name: name.into(), expected, body: body.map(json) }
}

fn put(bench: &mut Bench, change: EntryChange) -> Result<(), Code> {
    let outcome = bench.machine.one(Ask::PutEntry(Box::new(change)));
    outcome.map(drop).map_err(|refusal| refusal.code)
}

fn entry(bench: &Bench, name: &str) -> Option<String> {
    system_entry(&*bench.store, "sites", name).unwrap().map(|body| body.as_str().to_owned())
}

fn made_replaced_removed(open: Open<'_>) {
    let mut bench = open(&[]);
    put(&mut bench, change("a", None, Some("1"))).unwrap();
    assert_eq!(put(&mut bench, change("a", None, Some("2"))), Err(Code::EntryConflict));
    assert_eq!(put(&mut bench, change("a", digest("7"), Some("2"))), Err(Code::EntryConflict));
    assert_eq!(entry(&bench, "a").as_deref(), Some("1"));
    put(&mut bench, change("a", digest("1"), Some("2"))).unwrap();
    assert_eq!(put(&mut bench, change("a", digest("1"), None)), Err(Code::EntryConflict));
    put(&mut bench, change("a", digest("2"), None)).unwrap();
    assert_eq!(entry(&bench, "a"), None);
    assert_eq!(put(&mut bench, change("a", digest("2"), Some("3"))), Err(Code::EntryConflict));
    put(&mut bench, change("a", None, Some("3"))).unwrap();
}

fn keeps_its_text(open: Open<'_>) {
    let mut bench = open(&[]);
    let text = "{ \"b\": 1.50,  \"a\": \"é\" }";
    put(&mut bench, change("a", None, Some(text))).unwrap();
    assert_eq!(entry(&bench, "a").as_deref(), Some(text));
    let refusal = bench.machine.one(Ask::PutEntry(Box::new(change("a", None, None)))).unwrap_err();
    assert_eq!(refusal.details["current"], digest(text).unwrap().to_string());
}

fn listed_by_system(open: Open<'_>) {
    let mut bench = open(&[]);
    for name in ["b", "a", "a/2"] {
        put(&mut bench, change(name, None, Some("1"))).unwrap();
    }
    put(&mut bench, EntryChange { system: "ledger".into(), ..change("a", None, Some("2")) }).unwrap();
    let names = |system: &str, after: &str, limit| -> Vec<String> {
        let found = system_entries(&*bench.store, system, after, limit).unwrap();
        found.into_iter().map(|(name, _)| name).collect()
    };
    assert_eq!(names("sites", "", 9), ["a", "a/2", "b"]);
    assert_eq!(names("sites", "a", 1), ["a/2"]);
    assert_eq!(names("ledger", "", 9), ["a"]);
}

fn bounded(open: Open<'_>) {
    let mut bench = open(&[]);
    for system in ["", "Sites", "a/b", &"a".repeat(65)] {
        let tried = EntryChange { system: system.into(), ..change("a", None, Some("1")) };
        assert_eq!(put(&mut bench, tried), Err(Code::InvalidRequest), "{system}");
    }
    for name in ["", "a\0b", "a\nb", &"a".repeat(257)] {
        assert_eq!(put(&mut bench, change(name, None, Some("1"))), Err(Code::InvalidRequest), "{name:?}");
    }
    let long = |bytes: usize| format!("\"{}\"", "a".repeat(bytes - 2));
    assert_eq!(put(&mut bench, change("a", None, Some(&long(ENTRY_BYTES_MAX + 1)))), Err(Code::TooLarge));
    put(&mut bench, change("a", None, Some(&long(ENTRY_BYTES_MAX)))).unwrap();
}

fn leased(bench: &mut Bench, id: &str) -> LeaseToken {
    bench.machine.one(submit(id)).unwrap();
    bench.machine.claimed(1)[0].token
}

fn finish(token: LeaseToken, entries: Vec<EntryChange>) -> Ask {
    let finish =
        Finish { token, outcome: "done".into(), output: None, result: None, children: Vec::new(), entries };
    Ask::Tell(token.submission, Command::Finish(finish))
}

fn finished(bench: &mut Bench, token: LeaseToken, entries: &[EntryChange]) -> Reply {
    bench.machine.one(finish(token, entries.to_vec()))
}

fn changed_with_the_move(open: Open<'_>) {
    let mut bench = open(&[WORK]);
    put(&mut bench, change("b", None, Some("1"))).unwrap();
    let token = leased(&mut bench, "x");
    let changes = [change("a", None, Some("1")), change("b", digest("1"), None)];
    finished(&mut bench, token, &changes).unwrap();
    assert_eq!((entry(&bench, "a").as_deref(), entry(&bench, "b")), (Some("1"), None));
    assert_eq!(bench.state(token.submission), "DONE");
}

fn refused_as_a_whole(open: Open<'_>) {
    let mut bench = open(&[WORK]);
    put(&mut bench, change("b", None, Some("2"))).unwrap();
    let token = leased(&mut bench, "x");
    let changes = [change("a", None, Some("1")), change("b", digest("1"), Some("3"))];
    let refusal = finished(&mut bench, token, &changes).unwrap_err();
    assert_eq!((refusal.code, &refusal.details["entry"]), (Code::EntryConflict, &"b".into()));
    assert_eq!((entry(&bench, "a"), entry(&bench, "b").as_deref()), (None, Some("2")));
    assert_eq!(bench.state(token.submission), "DOING");
    let changes = [change("a", None, Some("1")), change("b", digest("2"), Some("3"))];
    finished(&mut bench, token, &changes).unwrap();
    assert_eq!(entry(&bench, "b").as_deref(), Some("3"), "the lease was still its own");
}

fn repeated(open: Open<'_>) {
    let mut bench = open(&[WORK]);
    let token = leased(&mut bench, "x");
    let changes = [change("a", None, Some("1"))];
    finished(&mut bench, token, &changes).unwrap();
    put(&mut bench, change("a", digest("1"), Some("2"))).unwrap();
    let again = finished(&mut bench, token, &changes).unwrap();
    assert!(matches!(again, Output::Settled { repeated: true, .. }), "{again:?}");
    assert_eq!(entry(&bench, "a").as_deref(), Some("2"));
    let other = finished(&mut bench, token, &[change("a", None, Some("7"))]).unwrap_err();
    assert_eq!(other.code, Code::StaleLease, "other entries are another answer");
}

fn no_use(open: Open<'_>) {
    let graded = WORK.replace(
        "on.done = \"DONE\"",
        "on.done = [{ to = \"DONE\", when = \"output.grade < 3\" }, \"DONE\"]\nretry = { times = 5, delay = \"1s\" }",
    );
    let mut bench = open(&[&graded]);
    let token = leased(&mut bench, "x");
    let answer = |outcome: &str| {
        let (outcome, output, entries) =
            (outcome.into(), Some(json("{}")), vec![change("a", None, Some("1"))]);
        let finish = Finish { token, outcome, output, result: None, children: Vec::new(), entries };
        Ask::Tell(token.submission, Command::Finish(finish))
    };
    assert_eq!(bench.machine.one(answer("never")).unwrap_err().code, Code::UnknownOutcome);
    bench.machine.one(answer("done")).unwrap();
    assert_eq!(bench.state(token.submission), "DOING", "an output without a grade is a failed attempt");
    assert_eq!(entry(&bench, "a"), None);
}

fn one_after_the_other(open: Open<'_>) {
    let mut bench = open(&[WORK]);
    let tokens = ["x", "y", "z"].map(|id| leased(&mut bench, id));
    let asks = [
        finish(tokens[0], vec![change("a", None, Some("1"))]),
        finish(tokens[1], vec![change("a", None, Some("2"))]),
        finish(tokens[2], vec![change("a", digest("1"), Some("3"))]),
    ];
    let step = bench.machine.step(&asks.map(Into::into));
    let codes: Vec<_> =
        step.outcomes.iter().map(|outcome| outcome.as_ref().err().map(|refusal| refusal.code)).collect();
    assert_eq!(codes, [None, Some(Code::EntryConflict), None]);
    assert_eq!(entry(&bench, "a").as_deref(), Some("3"));
}

fn bounded_answers(open: Open<'_>) {
    let mut bench = open(&[WORK]);
    let token = leased(&mut bench, "x");
    let many = |count: usize| -> Vec<_> {
        (0..count).map(|no| change(&format!("n{no}"), None, Some("1"))).collect()
    };
    let code = |outcome: Reply| outcome.map(drop).map_err(|refusal| refusal.code);
    let tried = finished(&mut bench, token, &many(ENTRIES_MAX + 1));
    assert_eq!(code(tried), Err(Code::TooLarge));
    let twice = [change("a", None, Some("1")), change("a", None, Some("2"))];
    assert_eq!(code(finished(&mut bench, token, &twice)), Err(Code::InvalidRequest));
    finished(&mut bench, token, &many(ENTRIES_MAX)).unwrap();
    assert_eq!(entry(&bench, "n99").as_deref(), Some("1"));
}
