//! Versions that nothing follows are let go of; whatever follows one finds it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::support::{Machine, application, memory, operation};
use audit::leaf::{Entry, Record};
use engine::core::{Ask, Asker, Deed, Input, Output, Reply};
use engine::pipelines::{Apply, Intent};
use engine::{ApplyError, Engine, Options};
use model::admit::{Application, admit};
use model::command::Migrate;
use model::pipeline::Source;
use model::{Caller, Code, Command, Json, Name, Pipeline, Role, Submission};
use store::Store;

const DOOR: &str = r#"
name = "door"
version = 1
on_duplicate = "queue"
key = "payload.id"
start = "OPEN"

[states.OPEN]
review = "reviewer"
actions.close = "CLOSED_1"

[states.CLOSED_1]
final = "success"
"#;

/// A version can be told by the state its submissions end in. Only those of the first queue for a key.
fn toml(version: u32) -> String {
    let toml = DOOR.replace("version = 1", &format!("version = {version}"));
    let toml = if version == 1 { toml } else { toml.replace("queue", "reject") };
    toml.replace("CLOSED_1", &format!("CLOSED_{version}"))
}

fn door(version: u32) -> Arc<Pipeline> {
    Arc::new(model::pipeline::load(&Source::new("door.toml", toml(version))).unwrap())
}

fn migrate(version: u32) -> Command {
    let caller = Caller::new("ada", Role::Admin);
    Command::Migrate(Migrate { caller, target: door(version), map: BTreeMap::new(), reason: None })
}

fn named() -> Name {
    "door".into()
}

fn retire(version: u32) -> Input {
    let asker = Asker::owner(Caller::new("ada", Role::Admin));
    Input::from(Ask::RetireVersion { pipeline: named(), version }).by(asker)
}

async fn applied(engine: &Engine, version: u32) -> Result<(), ApplyError> {
    engine.apply(&Source::new("door.toml", toml(version))).await.map(|_| ())
}

async fn submitted(engine: &Engine, id: &str) -> Submission {
    let payload = Json::parse(&format!(r#"{{"id":"{id}"}}"#)).unwrap();
    let application = Application { payload, ..application(id) };
    Submission::clone(&engine.submit("door", application, None).await.unwrap().row)
}

fn close() -> model::command::Act {
    model::command::Act {
        caller: Caller::new("ada", Role::Admin),
        action: "close".into(),
        reason: None,
        data: None,
        to: None,
        if_match: None,
    }
}

#[tokio::test]
async fn what_nothing_follows_is_retired_and_stays_in_evidence() {
    let (store, _) = memory();
    let engine = Engine::start(store.clone(), &Options::default()).unwrap();
    applied(&engine, 1).await.unwrap();
    let open = submitted(&engine, "a").await;
    applied(&engine, 2).await.unwrap();
    let digest = door(2).digest;
    applied(&engine, 3).await.unwrap();
    let ended = submitted(&engine, "b").await;
    engine.act(ended.id, close(), None).await.unwrap();
    applied(&engine, 4).await.unwrap();
    applied(&engine, 5).await.unwrap();

    let admin = Caller::new("ada", Role::Admin);
    let tried = engine.by(&admin).retire_unused(&named(), true).await.unwrap();
    assert_eq!(
        (tried.retired, engine.pipelines().current().versions("door").count()),
        (vec![2], 5),
        "a dry run"
    );
    let done = engine.by(&admin).retire_unused(&named(), false).await.unwrap();
    assert_eq!(done.retired, [2]);
    let kept: Vec<_> = done.kept.iter().map(|(version, refusal)| (*version, refusal.code)).collect();
    assert_eq!(kept, [1, 3, 4, 5].map(|version| (version, Code::VersionInUse)));
    let why = |version: u32| &done.kept.iter().find(|(kept, _)| *kept == version).unwrap().1.message;
    assert!(why(1).contains(&open.id.to_string()) && why(1).contains("(open)"), "{}", why(1));
    assert!(why(3).contains(&ended.id.to_string()) && why(3).contains("(succeeded)"), "{}", why(3));
    assert!(why(4).contains("--rollback") && why(5).contains("in force"), "{} {}", why(4), why(5));
    for version in [1, 3, 4, 5] {
        let refusal = engine.retire_version(&named(), version, false).await.unwrap_err();
        assert_eq!((refusal.code, &refusal.message), (Code::VersionInUse, why(version)));
    }

    assert_eq!(engine.definition(digest).await.unwrap().unwrap().version, 2, "verifiers read it for ever");
    assert_eq!(deeds(&*store), [("pipeline-retired".to_owned(), "door@2".to_owned())]);
    assert!(
        engine.retire_version(&named(), 2, false).await.unwrap().retired.is_empty(),
        "a repeat changes nothing"
    );
    assert_eq!(engine.retire_version(&named(), 9, false).await.unwrap_err().code, Code::UnknownVersion);
    let again = engine::Pipelines::default();
    again.catch_up(&*store).unwrap();
    assert!(again.current().is_retired("door", 2) && again.current().kept("door", 2).is_none());
}

#[test]
fn retired_versions_do_not_come_back() {
    let (store, _) = memory();
    let mut machine = Machine::with(store.clone(), &[]);
    let mut other = Machine::with(store, &[]);
    machine.one(Ask::apply(door(1))).unwrap();
    let late = admitted(&machine, "late");
    machine.one(Ask::apply(door(2))).unwrap();
    machine.one(Ask::apply(door(3))).unwrap();
    let follower = machine.submit_to("door", r#"{"id":"a"}"#);
    other.step(&[]);
    assert!(other.pipelines.current().kept("door", 1).is_some());
    machine.one(retire(1)).unwrap();
    other.step(&[]);
    assert!(other.pipelines.current().is_retired("door", 1), "other servers hear of it");

    for machine in [&mut machine, &mut other] {
        let refusal = |ask: Ask, machine: &mut Machine| machine.one(ask).unwrap_err();
        let back = Ask::Apply(Box::new(Apply { intent: Intent::Rollback, ..Apply::new(door(1)) }));
        let back = refusal(back, machine);
        assert_eq!(back.code, Code::UnknownVersion);
        assert!(back.message.contains("retired"), "{back}");
        let again = refusal(Ask::apply(door(1)), machine);
        assert_eq!(again.code, Code::VersionOutdated);
        assert!(again.message.contains("retired"), "{again}");
        assert_eq!(refusal(late.clone(), machine).code, Code::Unavailable, "it was admitted before");
        assert_eq!(refusal(Ask::Tell(follower, migrate(1)), machine).code, Code::UnknownVersion);
    }
}

#[test]
fn what_came_meanwhile_is_decided_by_the_version_it_follows() {
    let (store, _) = memory();
    let mut machine = Machine::with(store.clone(), &[]);
    machine.one(Ask::apply(door(1))).unwrap();
    let first = machine.submit_to("door", r#"{"id":"a"}"#);
    let second = machine.submit_to("door", r#"{"id":"a"}"#);
    let third = machine.submit_to("door", r#"{"id":"b"}"#);
    machine.one(Ask::apply(door(2))).unwrap();
    machine.one(Ask::apply(door(3))).unwrap();
    machine.one(Ask::Tell(first, migrate(3))).unwrap();
    // Nobody looked before.
    machine.one(retire(1)).unwrap();
    assert!(machine.pipelines.current().version("door", 1).is_none());

    machine.act(first, "close").unwrap();
    let (waiting, _) = store.submission(second).unwrap().unwrap();
    assert!(!waiting.key_waits, "its version queues for keys, though none that is kept does");
    let closed = machine.act(second, "close");
    assert!(is_closed(&closed), "{closed:?}");
    assert!(machine.pipelines.current().kept("door", 1).is_none(), "nothing else begins to follow it");
    // Another server, which knows only what is in the store.
    let closed = Machine::with(store, &[]).act(third, "close");
    assert!(is_closed(&closed), "{closed:?}");
}

/// By the first version.
fn is_closed(outcome: &Reply) -> bool {
    matches!(outcome, Ok(Output::Submission(answered)) if &*answered.row.state == "CLOSED_1")
}

#[tokio::test]
async fn versions_that_submissions_are_on_their_way_to_stay() {
    let (store, clock) = memory();
    let engine = Engine::start(store.clone(), &Options::default()).unwrap();
    for version in 1..=4 {
        applied(&engine, version).await.unwrap();
    }
    let mut machine = Machine::with(store.clone(), &[]);
    let deed = Deed::Migrate { version: 1, map: BTreeMap::new() };
    // Of the other server's, whose duties do nothing.
    machine.one(Ask::Start(Box::new(operation(store::Clock::now(&clock), "door", deed)))).unwrap();
    let done = engine.retire_unused(&named(), true).await.unwrap();
    assert_eq!(done.retired, [2]);
    assert!(done.kept[0].1.message.contains("migrates submissions to version 1"), "{:?}", done.kept);
}

#[tokio::test]
async fn a_pipeline_has_no_more_versions_than_may_be_kept() {
    let (store, _) = memory();
    let options = Options { versions_max: Some(3), ..Options::default() };
    let engine = Engine::start(store.clone(), &options).unwrap();
    for version in 1..=3 {
        applied(&engine, version).await.unwrap();
    }
    let Err(ApplyError::Refused(refusal)) = applied(&engine, 4).await else { panic!("it is one too many") };
    assert_eq!(refusal.code, Code::TooManyVersions);
    assert!(refusal.message.contains("milepost retire door --unused"), "{refusal}");
    let apply = Apply::new(door(4));
    let dry = engine.pipelines().current().bring(&apply).unwrap_err();
    assert_eq!(dry.code, Code::TooManyVersions, "a dry run says so, too");
    applied(&engine, 3).await.unwrap();
    assert_eq!(engine.retire_unused(&named(), false).await.unwrap().retired, [1]);
    applied(&engine, 4).await.unwrap();
    assert_eq!(engine.pipelines().current().versions("door").count(), 3);
}

fn admitted(machine: &Machine, id: &str) -> Ask {
    let pipeline = machine.pipelines.current().in_force("door").unwrap().clone();
    let payload = Json::parse(&format!(r#"{{"id":"{id}"}}"#)).unwrap();
    Ask::Submit(
        admit(&pipeline, Application { payload, ..application(id) }, &mut model::schema::Fuel::whole())
            .unwrap()
            .into(),
    )
}

/// The versions that were retired.
fn deeds(store: &dyn Store) -> Vec<(String, String)> {
    let page = store.leaves(0, 1_000).unwrap();
    let deed = |leaf: &Vec<u8>| match Entry::read(leaf) {
        Ok(Entry::Record(Record::Administered(act))) => Some((act.deed.to_string(), act.of.to_string())),
        _ => None,
    };
    page.leaves.iter().filter_map(deed).filter(|(deed, _)| deed == "pipeline-retired").collect()
}
