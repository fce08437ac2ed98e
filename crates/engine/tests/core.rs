//! The step core: batches, answers, and trouble that stays with whoever caused it.

use crate::support;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use engine::core::{Ask, Input, Once, Output};
use model::decide::{Current, Decision};
use model::submission::Status;
use model::{Code, Command, Context, Digest, Json, Pipeline, Refusal};
use store::{Error, RequestKey, Store, Take};
use support::wrapped::{Between, Wrapped};
use support::{Machine, admission, done, id_of, memory, submit};

fn poisonous(
    pipeline: &Pipeline,
    current: Option<Current<'_>>,
    command: &Command,
    context: &Context,
) -> Result<Decision, Refusal> {
    if let Command::Submit(admission) = command {
        assert_ne!(admission.key().map(|key| &**key), Some("poison"), "a fault in a rule");
    }
    model::decide(pipeline, current, command, context)
}

#[test]
fn a_panic_is_answered_alone_and_the_rest_of_the_batch_commits() {
    let (store, _) = memory();
    let mut machine = Machine::over(store.clone());
    machine.core = machine.core.with_decide(poisonous);
    let step = machine.step(&[submit("a"), submit("poison"), submit("b")]);
    assert_eq!(step.outcomes[1].as_ref().unwrap_err().code, Code::Internal);
    for outcome in [&step.outcomes[0], &step.outcomes[2]] {
        assert!(store.submission(id_of(outcome)).unwrap().is_some());
    }
    assert_eq!(store.counts().unwrap()[0].count, 2);
}

/// Loses every race for one key.
#[derive(Debug, Default)]
struct Contended {
    tries: AtomicU32,
}

impl Between for Contended {
    fn before_transact(&self, take: &Take<'_>) -> Result<(), Error> {
        if take.keys.iter().any(|open| &*open.key == "contended") {
            self.tries.fetch_add(1, Ordering::SeqCst);
            return Err(Error::Conflict("somebody else has it".to_owned()));
        }
        Ok(())
    }
}

#[test]
fn a_lost_race_is_answered_alone_and_the_rest_of_the_batch_commits() {
    let (inner, _) = memory();
    let store = Arc::new(Wrapped { inner, between: Contended::default() });
    let mut machine = Machine::over(store.clone());
    let names = ["a", "b", "c", "contended", "d", "e", "f"];
    let inputs: Vec<_> = names.iter().map(|name| submit(name)).collect();
    let step = machine.step(&inputs);
    for (name, outcome) in names.iter().zip(&step.outcomes) {
        match outcome {
            Ok(_) => assert_ne!(*name, "contended"),
            Err(refusal) => assert_eq!((*name, refusal.code), ("contended", Code::Unavailable)),
        }
    }
    assert_eq!(store.counts().unwrap()[0].count, 6);
    assert!(store.between.tries.load(Ordering::SeqCst) < 20, "a race is not tried for ever");
}

#[test]
fn inputs_of_a_batch_see_what_the_ones_before_them_did() {
    let (store, _) = memory();
    let mut machine = Machine::over(store);
    let step = machine.step(&[submit("a"), submit("a")]);
    assert_eq!(id_of(&step.outcomes[0]), id_of(&step.outcomes[1]));
    let Ok(Output::Submission(second)) = &step.outcomes[1] else { panic!() };
    assert!(second.duplicate);

    let token = machine.claimed(1)[0].token;
    let finish = || Ask::Tell(token.submission, done(token)).into();
    let step = machine.step(&[finish(), finish(), submit("a")]);
    assert!(matches!(step.outcomes[0], Ok(Output::Settled { repeated: false, .. })));
    assert!(matches!(step.outcomes[1], Ok(Output::Settled { repeated: true, .. })));
    assert_ne!(id_of(&step.outcomes[2]), token.submission, "the key is free once its holder ended");
}

#[test]
fn each_row_is_written_once_a_batch() {
    let (store, _) = memory();
    let mut machine = Machine::over(store.clone());
    machine.one(submit("a")).unwrap();
    let token = machine.claimed(1)[0].token;
    let renew = || {
        Ask::Tell(token.submission, Command::Renew(model::command::Renew { token, progress: None })).into()
    };
    let before = store.submission(token.submission).unwrap().unwrap().0;
    machine.step(&[renew(), renew(), Ask::Tell(token.submission, done(token)).into()]);
    let after = store.submission(token.submission).unwrap().unwrap().0;
    assert_eq!(after.row_version, before.row_version + 1);
    assert_eq!(after.status, Status::Succeeded);
}

#[test]
fn two_claims_of_a_batch_never_get_the_same_task() {
    let (store, _) = memory();
    let mut machine = Machine::over(store);
    machine.step(&(0..5).map(|n| submit(&n.to_string())).collect::<Vec<_>>());
    let step = machine.step(&[Ask::Claim(support::claim(3)).into(), Ask::Claim(support::claim(3)).into()]);
    let mut ids: Vec<_> = step
        .outcomes
        .iter()
        .flat_map(|outcome| match outcome {
            Ok(Output::Tasks(tasks)) => tasks.iter().map(|task| task.row.id).collect::<Vec<_>>(),
            other => panic!("{other:?}"),
        })
        .collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 5);
}

#[test]
fn a_settlement_in_the_batch_in_which_its_lease_ends_wins() {
    let (store, clock) = memory();
    let mut machine = Machine::over(store);
    machine.one(submit("a")).unwrap();
    let token = machine.claimed(1)[0].token;
    clock.advance(60_000);
    let outcome = machine.one(Ask::Tell(token.submission, done(token)));
    assert!(matches!(outcome, Ok(Output::Settled { .. })), "{outcome:?}");
}

#[test]
fn a_worker_that_died_is_replaced_once_and_its_late_answer_refused() {
    let (store, clock) = memory();
    let mut machine = Machine::over(store.clone());
    machine.one(submit("a")).unwrap();
    let dead = machine.claimed(1)[0].token;
    clock.advance(30_000);
    machine.step(&[]);
    assert_eq!(machine.claimed(10).len(), 1, "to one other worker");
    let late = machine.one(Ask::Tell(dead.submission, done(dead)));
    assert_eq!(late.unwrap_err().code, Code::StaleLease);
    let row = store.submission(dead.submission).unwrap().unwrap().0;
    assert_eq!((row.status, row.attempt), (Status::Open, 1));
}

#[test]
fn so_many_answers_are_kept_for_a_subject_and_no_more() {
    let (store, clock) = memory();
    let mut machine = Machine::over(store);
    let input = |subject: &str, key: &str, most: Option<usize>| {
        let once = Once {
            key: RequestKey { subject: subject.into(), route: "submit".into(), key: key.into() },
            digest: Digest::of(key.as_bytes()),
            most,
        };
        Input::from(Ask::Submit(admission(key))).once(Some(once))
    };
    let ada = |key: &str| input("ada", key, Some(3));
    // In one batch, where none is committed yet.
    let step = machine.step(&[ada("a"), ada("b"), ada("a"), ada("c"), ada("d")]);
    let codes: Vec<_> =
        step.outcomes.iter().map(|outcome| outcome.as_ref().err().map(|no| no.code)).collect();
    assert_eq!(codes, [None, None, None, None, Some(Code::RateLimited)], "a repeat keeps nothing more");
    let refusal = machine.one(ada("e")).unwrap_err();
    assert_eq!((refusal.code, &refusal.details["max"]), (Code::RateLimited, &serde_json::json!(3)));
    assert!(machine.one(ada("b")).is_ok(), "what is kept is still given again");
    assert!(machine.one(input("bob", "e", Some(3))).is_ok(), "each has a share");
    assert!(machine.one(input("ada", "f", None)).is_ok(), "owners have no bound");
    clock.advance(26 * 3_600_000);
    assert!(machine.one(ada("g")).is_ok(), "as long as they are kept");
}

#[test]
fn a_repeat_with_the_same_idempotency_key_gets_the_first_answer() {
    let (store, clock) = memory();
    let mut machine = Machine::over(store.clone());
    let once = |digest: &[u8]| Once {
        key: RequestKey { subject: "bob".into(), route: "submit".into(), key: "k".into() },
        digest: Digest::of(digest),
        most: None,
    };
    let input = |digest: &[u8], id: &str| Input::from(Ask::Submit(admission(id))).once(Some(once(digest)));
    let step = machine.step(&[input(b"one", "a"), input(b"one", "a")]);
    let first = id_of(&step.outcomes[0]);
    assert_eq!(id_of(&step.outcomes[1]), first);
    let token = machine.claimed(1)[0].token;
    machine.one(Ask::Tell(token.submission, done(token))).unwrap();
    assert_eq!(id_of(&machine.one(input(b"one", "a"))), first, "even after it has ended");
    assert_eq!(machine.one(input(b"two", "b")).unwrap_err().code, Code::IdempotencyMismatch);
    assert_eq!(store.counts().unwrap().iter().map(|count| count.count).sum::<u64>(), 1);
    clock.advance(24 * 3_600_000);
    assert_ne!(id_of(&machine.one(input(b"two", "b"))), first, "a day later it is forgotten");
}

#[test]
fn a_version_is_applied_once_and_never_changed() {
    let (store, _) = memory();
    let mut machine = Machine::with(store, &[]);
    let apply = |toml: &str| {
        let pipeline = model::pipeline::load(&model::pipeline::Source::new("work.toml", toml)).unwrap();
        Ask::apply(Arc::new(pipeline))
    };
    assert!(matches!(machine.one(apply(support::WORK)), Ok(Output::Applied(brought)) if brought.changed));
    assert!(matches!(machine.one(apply(support::WORK)), Ok(Output::Applied(brought)) if !brought.changed));
    let other = support::WORK.replace("30s", "31s");
    assert_eq!(machine.one(apply(&other)).unwrap_err().code, Code::VersionExists);
    let newer = other.replace("version = 1", "version = 3");
    assert!(matches!(machine.one(apply(&newer)), Ok(Output::Applied(brought)) if brought.changed));
    let between = other.replace("version = 1", "version = 2");
    assert_eq!(machine.one(apply(&between)).unwrap_err().code, Code::VersionOutdated);
}

#[test]
fn a_receipt_holds_whatever_a_row_may_hold() {
    const REVIEW: &str = r#"
name = "review"
version = 1
title = "Review"
key = "payload.id"
start = "LOOK"
[states.LOOK]
review = "admin"
actions.approve = { to = "DONE", task = "t.publish", data = "any.json" }
[states.DONE]
final = "success"
"#;
    let mut source = model::pipeline::Source::new("review.toml", REVIEW);
    source.files.insert("any.json".to_owned(), "{}".to_owned());
    let pipeline = Arc::new(model::pipeline::load(&source).unwrap());
    let (store, _) = memory();
    let pipelines = engine::Pipelines::default();
    pipelines.insert(pipeline.clone());
    let mut machine = Machine::over(store.clone());
    machine.core = engine::core::Core::new(store, pipelines, engine::Holds::default(), [0; 32]);
    let submit = || {
        Ask::Submit(
            model::admit::admit(&pipeline, support::application("a"), &mut model::schema::Fuel::whole())
                .unwrap()
                .into(),
        )
    };
    let id = id_of(&machine.one(submit()));
    let deepest = format!("{}1{}", "[".repeat(64), "]".repeat(64));
    let act = model::command::Act {
        caller: model::Caller::new("ada", model::Role::Admin),
        action: "approve".into(),
        reason: None,
        data: Some(Json::parse(&deepest).unwrap()),
        to: None,
        if_match: None,
    };
    machine.one(Ask::Tell(id, Command::Act(act))).unwrap();
    let key = RequestKey { subject: "bob".into(), route: "submit".into(), key: "k".into() };
    let once = Once { key, digest: Digest::of(b"one"), most: None };
    let input = || Input::from(submit()).once(Some(once.clone()));
    assert_eq!(id_of(&machine.one(input())), id);
    assert_eq!(id_of(&machine.one(input())), id, "and it reads back");
}
