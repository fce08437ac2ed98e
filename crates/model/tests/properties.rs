//! `decide` is pure and total: whatever is thrown at it, only legal moves happen and the events tell the whole story.
#![allow(clippy::unwrap_used, reason = "a test says what it expects by unwrapping it")]

mod support;

use model::pipeline::Kind;
use model::submission::Wait;
use model::{Caller, Command, Event, Pipeline, Role, Token};
use proptest::prelude::*;
use support::{Story, act, all_shipped, comparable, fail, finish, json, replay, shipped};

/// One thing to try, in numbers: which one, and two choices within it.
type Throw = (u8, usize, usize);

const OUTPUTS: &[&str] = &[
    "{}",
    "null",
    "[]",
    r#"{"score":92,"high_privilege":false}"#,
    r#"{"score":61}"#,
    r#"{"score":12.5}"#,
    r#"{"score":"high"}"#,
    r#"{"version":"1.0.0","skill_id":"sk_1","findings":[1,2]}"#,
];
const PAYLOADS: &[&str] = &[
    "{}",
    r#"{"repo_url":"https://github.com/google/skills","skill_name":"a"}"#,
    r#"{"repo_url":"https://github.com/nobody/skills","skill_name":"b"}"#,
    r#"{"repo_url":"nonsense","skill_name":"b"}"#,
    r#"{"a":9007199254740993}"#,
];
const DATA: &[Option<&str>] = &[
    None,
    Some("{}"),
    Some(
        r#"{"intent":true,"scope":true,"permissions":true,"security_notes":true,"scripts":true,"dependencies":true,"edge_cases":true}"#,
    ),
];

struct Game {
    story: Story,
    tokens: Vec<Token>,
}

impl Game {
    /// Tries one command; what it changes must keep every promise.
    fn throw(&mut self, (kind, one, two): Throw) {
        let Some(command) = self.command(kind, one, two) else { return };
        let before = (self.story.row.clone(), self.story.events.len());
        let decided = self.story.clone().decide(&command);
        let again = self.story.clone().decide(&command);
        match (&decided, &again) {
            (Ok(a), Ok(b)) => {
                assert_eq!((&a.row, &a.events), (&b.row, &b.events), "the same inputs, another history")
            }
            (Err(a), Err(b)) => assert_eq!(a, b),
            _ => panic!("the same inputs, another verdict"),
        }
        match self.story.tell(&command) {
            Err(_) => assert_eq!(
                before,
                (self.story.row.clone(), self.story.events.len()),
                "a refusal changes nothing"
            ),
            Ok(model::decide::Answer::Granted { token }) => self.tokens.push(token),
            Ok(_) => {}
        }
        self.check(before.1);
    }

    fn command(&mut self, kind: u8, one: usize, two: usize) -> Option<Command> {
        if self.story.row.is_none() {
            let payload = PAYLOADS[one % PAYLOADS.len()];
            let admission =
                model::admit::admit(&self.story.pipeline, Story::application(caller(two), payload));
            return Some(Command::Submit(Box::new(admission.ok()?)));
        }
        let token = self.tokens.get(self.tokens.len().wrapping_sub(1 + one % 3)).copied();
        let output = OUTPUTS[two % OUTPUTS.len()];
        Some(match kind % 8 {
            0 | 1 => {
                let tasks = match &self.story.row().wait {
                    Wait::Worker { task, .. } if !one.is_multiple_of(4) => vec![task.clone()],
                    _ => vec!["no.task".into()],
                };
                Command::Claim(model::command::Claim { worker: "w".into(), tasks })
            }
            2 | 3 => {
                let outcomes = outcomes(&self.story.pipeline, self.story.state());
                finish(token?, &outcomes[one % outcomes.len()], output)
            }
            4 => fail(token?, ["git-clone", "timeout", "x"][two % 3], !one.is_multiple_of(4)),
            5 => Command::Snooze(model::command::Snooze {
                token: token?,
                span: model::Millis::from_secs(two as u64),
            }),
            6 => {
                self.story.now =
                    self.story.now.plus(model::Millis::from_secs([0, 1, 31, 100, 4000][one % 5]));
                if two.is_multiple_of(2) {
                    Command::Wake
                } else {
                    Command::Renew(model::command::Renew { token: token? })
                }
            }
            _ => {
                let names: Vec<_> =
                    self.story.pipeline.states.iter().flat_map(|state| &state.actions).collect();
                let mut act = act(names.get(one % names.len().max(1)).map_or("none", |action| &action.name));
                act.caller = caller(two);
                act.reason = (!one.is_multiple_of(3)).then(|| "because".to_owned());
                act.data = DATA[two % DATA.len()].map(json);
                Command::Act(act)
            }
        })
    }

    fn check(&self, known: usize) {
        let story = &self.story;
        for (index, event) in story.events.iter().enumerate().skip(known) {
            assert_eq!(event.leaf.revision, index as u64 + 1, "revisions count up by one");
            let legal = match event.leaf.kind {
                model::event::Kind::Submitted => story.pipeline.allows(None, &event.leaf.to),
                model::event::Kind::Moved => {
                    story.pipeline.allows(event.leaf.from.as_deref(), &event.leaf.to)
                }
                _ => event.leaf.from.as_ref() == Some(&event.leaf.to),
            };
            assert!(legal, "{:?} to {}", event.leaf.from, event.leaf.to);
            let previous = index.checked_sub(1).map(|index| hash(&story.events[index]));
            assert_eq!(event.leaf.previous, previous, "each leaf names the one before");
            let (leaf, detail) = event.to_stored();
            let mut read = Event::from_stored(&leaf, &detail).unwrap();
            read.documents = event.documents.clone();
            assert_eq!(&read, event, "an event reads back as it was stored");
        }
        let Some(row) = &story.row else { return };
        assert_eq!(comparable(&replay(&story.events).unwrap()), comparable(row), "events replay to the row");
        let text = serde_json::to_string(row).unwrap();
        let mut read: model::Submission = serde_json::from_str(&text).unwrap();
        read.row_version = row.row_version;
        assert_eq!(&read, row, "a row reads back as it was stored");
        let state = story.pipeline.state(&row.state).unwrap();
        assert_eq!(row.status.is_final(), state.is_final(), "final is what the file says is final");
        assert_eq!(row.status.is_final(), row.finished_at.is_some());
    }
}

fn hash(event: &Event) -> model::Digest {
    model::event::Leaf::hash(&event.leaf.bytes())
}

fn caller(choice: usize) -> Caller {
    Caller::new("someone", Role::ALL[choice % Role::ALL.len()])
}

fn outcomes(pipeline: &Pipeline, state: &str) -> Vec<String> {
    let mut names = vec!["none".to_owned(), "published".to_owned()];
    if let Kind::Task { on, .. } = &pipeline.state(state).unwrap().kind {
        names.extend(on.keys().map(ToString::to_string));
    }
    names
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_sequence_of_commands_breaks_a_shipped_pipeline(throws in prop::collection::vec(any::<Throw>(), 1..80)) {
        for name in all_shipped() {
            let mut game = Game { story: Story::of(shipped_once(&name)), tokens: Vec::new() };
            throws.iter().for_each(|throw| game.throw(*throw));
        }
    }
}

/// Loading compiles every guard; once is enough.
fn shipped_once(name: &str) -> Pipeline {
    use std::collections::HashMap;
    use std::sync::{Mutex, OnceLock};
    static LOADED: OnceLock<Mutex<HashMap<String, Pipeline>>> = OnceLock::new();
    let mut loaded = LOADED.get_or_init(Mutex::default).lock().unwrap();
    loaded.entry(name.to_owned()).or_insert_with(|| shipped(name)).clone()
}
