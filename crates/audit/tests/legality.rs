//! The verifier finds legal whatever the engine's rules decide; and its quick reader reads what the model writes.

use crate::common::story::{Story, act, all_shipped, fail, finish, json, pipeline, shipped};
use crate::common::{Deployment, eventful, leaves, trust};
use audit::leaf::{Entry, EventLeaf};
use audit::verify::{EvidenceOptions, EvidenceReport, verify_evidence};
use model::command::{Amend, Child, Claim, Redrive};
use model::pipeline::Kind;
use model::submission::Wait;
use model::{Caller, Command, Json, LeaseToken, Role, Status};
use proptest::prelude::*;

fn verify(deployment: &Deployment, story: &Story) -> EvidenceReport {
    let text = deployment.evidence(story).to_text();
    let trust = trust();
    let options = EvidenceOptions { trust: Some(&trust), known: None };
    verify_evidence(text.as_bytes(), &options)
        .unwrap_or_else(|finding| panic!("{finding}\n{:#?}", story.told()))
}

fn logged(story: &Story) -> Deployment {
    let mut deployment = Deployment::new();
    deployment.apply(&story.pipeline);
    deployment.publish(&leaves(&story.events));
    deployment
}

#[test]
fn an_eventful_story_verifies_and_its_guards_are_evaluated() {
    let story = eventful();
    let report = verify(&logged(&story), &story);
    assert_eq!((report.events, &*report.state), (5, "SENT"));
    assert_eq!((report.guards_checked, report.guards_unknown), (2, 0));
    assert_eq!(report.documents, 2);
}

#[test]
fn guards_whose_inputs_are_not_revealed_are_counted_and_not_guessed() {
    let story = eventful();
    let mut evidence = logged(&story).evidence(&story);
    evidence.events.iter_mut().for_each(|event| event.documents = Default::default());
    let trust = trust();
    let options = EvidenceOptions { trust: Some(&trust), known: None };
    let report = verify_evidence(evidence.to_text().as_bytes(), &options).unwrap();
    assert_eq!((report.guards_checked, report.guards_unknown, report.documents), (0, 2, 0));
}

#[test]
fn an_error_that_an_edge_states_is_no_success_to_the_verifier_either() {
    let machine = pipeline(
        r#"
name = "intake"
version = 1
start = { to = "SCAN", error = { code = "'noted'" } }
[states.SCAN]
task = "t.scan"
on.odd = { to = "SORT", error = { code = "'odd'" } }
on.fine = "SORT"
[states.SORT]
next = [
  { to = "FINE", when = "last_good == 'SCAN' && failed_from == null" },
  { to = "ODD", when = "last_good == null && failed_from == 'SCAN'" },
  "LOST",
]
[states.FINE]
final = "success"
[states.ODD]
final = "success"
[states.LOST]
final = "failure"
"#,
    );
    for (outcome, state) in [("odd", "ODD"), ("fine", "FINE")] {
        let mut story = Story::submitted(machine.clone(), "{}");
        let token = story.claim_any();
        story.finish(token, outcome, "null").unwrap();
        let report = verify(&logged(&story), &story);
        assert_eq!((&*report.state, report.guards_unknown), (state, 0));
        assert!(report.guards_checked > 0);
    }
}

#[test]
fn ways_of_crashes_and_guard_errors_are_found_legal_and_evaluated() {
    let machine = pipeline(
        r#"
name = "strict"
version = 1
start = "WAIT"
[defaults]
on.guard_error = [{ to = "ODD", when = "payload.weight > 1" }, { to = "SORT", when = "error == null" }, "LOST"]
[states.WAIT]
wait = "1h"
next = [{ to = "LOST", when = "payload.weight > 9" }, "TASK"]
[states.TASK]
task = "t.task"
lease = "30s"
on.done = [{ to = "LOST", when = "payload.least > 9" }, "SORT"]
on.crashed = { to = "SORT", error = { code = "'gone'" } }
[states.SORT]
next = [{ to = "ODD", when = "failed_from == 'TASK'" }, "LOST"]
[states.ODD]
final = "failure"
[states.LOST]
final = "failure"
"#,
    );
    // A guard of a wait, a guard of an outcome with its output kept, and five workers that fell silent.
    let waited = |payload: &str| {
        let mut story = Story::submitted(machine.clone(), payload);
        story.pass("1h");
        story.wake();
        story
    };
    let story = waited("{}");
    assert_eq!((story.state(), &*verify(&logged(&story), &story).state), ("LOST", "LOST"));
    let mut story = waited(r#"{"weight":1}"#);
    let mut crashed = story.clone();
    let token = story.claim_any();
    story.finish(token, "done", r#"{"grade":3}"#).unwrap();
    assert_eq!((story.state(), &*verify(&logged(&story), &story).state), ("LOST", "LOST"));
    for _ in 0..model::decide::CRASHES_MAX {
        crashed.claim_any();
        crashed.pass("31s");
        crashed.wake();
    }
    assert_eq!((crashed.state(), &*verify(&logged(&crashed), &crashed).state), ("ODD", "ODD"));
}

#[test]
fn an_action_with_a_task_may_be_recorded_as_the_systems() {
    let machine = pipeline(
        r#"
name = "desk"
version = 1
start = "LOOK"
[states.LOOK]
actions.go = { to = "DONE", task = "t.go", actor = "system" }
[states.DONE]
final = "success"
"#,
    );
    let mut story = Story::submitted(machine, "{}");
    story.tell(&Command::Act(act("go"))).unwrap();
    let token = story.claim_any();
    story.finish(token, "gone", "null").unwrap();
    assert_eq!(&*verify(&logged(&story), &story).state, "DONE");
}

type Throw = (u8, usize, usize);

/// One payload, or more where the way in depends on it, for every pipeline that ships.
const PAYLOADS: &[(&str, &str)] = &[
    ("delivery", r#"{"cause":"e1","name":"author","channel":"mail","to":"a@b.example","body":"hello"}"#),
    (
        "delivery",
        r#"{"cause":"e2","name":"author","channel":"webhook","to":"https://b.example/hook","body":{"a":1}}"#,
    ),
    ("ingest-batch", r#"{"profile":"maps","submitter":"ada","type":"file","filename":"a.jpg"}"#),
    ("ingest-batch", r#"{"profile":"maps","submitter":"ada","type":"batch-manifest","filename":"a.checkm"}"#),
    (
        "ingest-job",
        r#"{"payload_version":"1","profile":"maps","submitter":"ada","payload_type":"file","filename":"a.jpg","space_needed":0}"#,
    ),
    ("ledger-batch", LEDGER),
    ("ledger-finality", SETTLING),
    ("sign-request", SIGN),
    ("sign-request", SIGN_LATER),
    ("site-list", r#"{"fqdn":"site.example","action":"ADD","policy":{}}"#),
    ("site-list", r#"{"fqdn":"site.example","action":"DELETE"}"#),
    ("site-list-check", r#"{}"#),
    ("skill-registry", r#"{}"#),
    ("skill-registry", r#"{"skill":"sk_0123456789abcdef","reason":"it leaks keys"}"#),
    ("skill-review", r#"{"repo_url":"https://github.com/google/skills","skill_name":"a"}"#),
    ("skill-review", r#"{"repo_url":"https://github.com/nobody/skills","skill_name":"b"}"#),
    (
        "skill-review",
        r#"{"repo_url":"https://github.com/nobody/skills","skill_name":"b","email":"a@b.example"}"#,
    ),
];
const LEDGER: &str = r#"{"batch_header":"0x0000000000000000000000000000000000000000000000000000000000000000","service_id":"0x0000000000000000000000000000000000000000","nonce":0,"serialized_batch":"AAAA"}"#;
const SETTLING: &str = r#"{"batch":"00000000-0000-0000-0000-000000000000","service_id":"0x0000000000000000000000000000000000000000","headers":["0x0000000000000000000000000000000000000000000000000000000000000000"]}"#;
const SIGN: &str = r#"{"sign_id":"0000000000000000000000000000000000000000000000000000000000000000","chain":"near","sender":"ada","payload":"0000000000000000000000000000000000000000000000000000000000000000","path":"test","key_version":0,"finalized":true}"#;
/// A request whose block is not final yet: an amendment says when it is.
const SIGN_LATER: &str = r#"{"sign_id":"0000000000000000000000000000000000000000000000000000000000000000","chain":"near","sender":"ada","payload":"0000000000000000000000000000000000000000000000000000000000000000","path":"test","key_version":0,"finalized":false}"#;
const OUTPUTS: &[&str] = &[
    "{}",
    "null",
    EVERYTHING,
    r#"{"score":92,"high_privilege":true}"#,
    r#"{"score":61}"#,
    r#"{"score":12.5}"#,
    r#"{"score":"high"}"#,
    EVERYTHING,
];
/// An answer with all that any task of them is asked for.
const EVERYTHING: &str = r#"{"score":92,"high_privilege":false,"version":"1.0.0","skill_id":"sk_1","findings":[1,2],"commit":"0123456789abcdef0123456789abcdef01234567","content_hash":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08","signers":null,"threshold":null,"csp":null,"action":"DELETE","entry":"e","code":"no-csp","message":"no policy","leaf":"l","proof":["p"],"tree_head":"h","big_r":"02aa","s":"bb","recovery_id":0,"transaction":"tx","block_height":8,"problem":"no manifest"}"#;

fn payloads(name: &str) -> Vec<Json> {
    PAYLOADS.iter().filter(|(of, _)| *of == name).map(|(_, text)| json(text)).collect()
}

struct Game {
    story: Story,
    tokens: Vec<LeaseToken>,
    payloads: Vec<Json>,
}

impl Game {
    fn throw(&mut self, (kind, one, two): Throw) {
        let Some(command) = self.command(kind, one, two) else { return };
        if let Ok(model::decide::Answer::Granted { token }) = self.story.tell(&command) {
            self.tokens.push(token);
        }
    }

    fn command(&mut self, kind: u8, one: usize, two: usize) -> Option<Command> {
        let caller = Caller::new("someone", Role::ALL[two % Role::ALL.len()]);
        if self.story.row.is_none() {
            let payload = self.payloads.get(one % self.payloads.len().max(1))?;
            let application = Story::application(Caller::new("someone", Role::Admin), payload.as_str());
            let admission =
                model::admit::admit_any(&self.story.pipeline, application, &mut model::schema::Fuel::whole());
            return Some(Command::Submit(admission.ok()?.into()));
        }
        let token = self.tokens.last().copied();
        Some(match kind % 12 {
            0..=2 => {
                let Wait::Worker { task, .. } = &self.story.row().wait else { return Some(Command::Wake) };
                Command::Claim(Claim { worker: "w".into(), tasks: vec![task.clone()], lease: None })
            }
            // A granted action is rare enough to be given up every second time.
            3..=5 if self.story.row().request.is_some() && one.is_multiple_of(2) => {
                fail(token?, "timeout", false)
            }
            3..=5 => {
                let outcomes = self.outcomes();
                finish(token?, &outcomes[one % outcomes.len()], OUTPUTS[two % OUTPUTS.len()])
            }
            6 => fail(token?, ["git-clone", "timeout", "x \"y\" \\ é"][two % 3], !one.is_multiple_of(4)),
            7 => {
                let seconds = [1, 31, 400, 90_000, 9_000_000][one % 5];
                self.story.now = self.story.now.plus(model::Millis::from_secs(seconds));
                Command::Wake
            }
            8 => Command::Redrive(Redrive { caller: Caller::new("ada", Role::Admin), reason: None }),
            9 => {
                let fields = &self.story.pipeline.amend.as_ref()?.fields;
                let value = ["7", "true", "false", "\"x\""][one % 4];
                let patch = json(&format!(r#"{{"{}":{value}}}"#, fields[one % fields.len()]));
                Command::Amend(Amend { caller, patch, if_match: None })
            }
            10 => Command::Child(Child {
                before: Status::Open,
                after: [Status::Succeeded, Status::Failed, Status::Open][one % 3],
            }),
            _ => {
                let state = self.story.pipeline.state(self.story.state())?;
                let action = state.actions.get(one % state.actions.len().max(1))?;
                let mut act = act(&action.name);
                act.caller = caller;
                act.reason = (!one.is_multiple_of(3)).then(|| "because".to_owned());
                act.to =
                    action.edges.first()?.targets().get(two % 3).cloned().filter(|_| one.is_multiple_of(2));
                let checklist = r#"{"intent":true,"scope":true,"permissions":true,"security_notes":true,"scripts":true,"dependencies":true,"edge_cases":true}"#;
                act.data = action.edges.first()?.data.as_ref().map(|_| json(checklist));
                Command::Act(act)
            }
        })
    }

    fn outcomes(&self) -> Vec<String> {
        let mut names = vec!["sealed".to_owned(), "published".to_owned()];
        let state = self.story.pipeline.state(self.story.state()).unwrap();
        if let Kind::Task { on, .. } | Kind::Join { on, .. } = &state.kind {
            names.extend(on.keys().map(ToString::to_string));
        }
        names
    }
}

fn shipped_once(name: &str) -> model::Pipeline {
    use std::collections::HashMap;
    use std::sync::{Mutex, OnceLock};
    static LOADED: OnceLock<Mutex<HashMap<String, model::Pipeline>>> = OnceLock::new();
    let mut loaded = LOADED.get_or_init(Mutex::default).lock().unwrap();
    loaded.entry(name.to_owned()).or_insert_with(|| shipped(name)).clone()
}

#[test]
fn every_shipped_pipeline_is_played() {
    for name in all_shipped() {
        let pipeline = shipped_once(&name);
        let application =
            |payload: &Json| Story::application(Caller::new("ada", Role::Admin), payload.as_str());
        let fits = payloads(&name).iter().any(|payload| {
            model::admit::admit_any(&pipeline, application(payload), &mut model::schema::Fuel::whole())
                .is_ok()
        });
        assert!(fits, "no payload at hand fits {name}");
    }
}

/// The game above is worth something only if it leads everywhere.
#[test]
fn the_game_reaches_every_kind_of_event() {
    let mut seen = std::collections::BTreeSet::new();
    let mut chance: u64 = 1;
    let mut draw = || {
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(chance >> 40).unwrap()
    };
    for name in all_shipped() {
        for _ in 0..40 {
            let story = Story::of(shipped_once(&name));
            let mut game = Game { story, tokens: Vec::new(), payloads: payloads(&name) };
            (0..120).for_each(|_| game.throw((u8::try_from(draw() % 256).unwrap(), draw(), draw())));
            seen.extend(game.story.events.iter().map(|event| event.leaf.kind.as_str()));
        }
    }
    let all = [
        "abandoned",
        "amended",
        "crashed",
        "died",
        "erased",
        "forgotten",
        "late",
        "moved",
        "redriven",
        "requested",
        "retried",
        "sealed",
        "submitted",
    ];
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), all);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_decided_is_found_legal(throws in prop::collection::vec(any::<Throw>(), 1..120)) {
        for name in all_shipped() {
            let story = Story::of(shipped_once(&name));
            let mut game = Game { story, tokens: Vec::new(), payloads: payloads(&name) };
            throws.iter().for_each(|throw| game.throw(*throw));
            if game.story.row.is_some() {
                let deployment = logged(&game.story);
                verify(&deployment, &game.story);
            }
            for event in &game.story.events {
                let bytes = event.leaf.bytes();
                prop_assert_eq!(Entry::read(&bytes), Ok(Entry::Event(EventLeaf::of(&event.leaf))));
            }
        }
    }
}
