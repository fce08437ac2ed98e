//! `decide` is pure and total: whatever is thrown at it, only legal moves happen and the events tell the whole story.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use crate::legal_actions::agrees_with_decisions;
use crate::support::{Story, act, all_shipped, comparable, fail, finish, json, pipeline, replay, shipped};
use model::command::Migrate;
use model::pipeline::Kind;
use model::submission::{Slot, Wait};
use model::{Caller, Command, Digest, Event, LeaseToken, Pipeline, Recipient, Role};
use proptest::prelude::*;

/// One thing to try, in numbers: which one, and two choices within it.
type Throw = (u8, usize, usize);

const OUTPUTS: &[&str] = &[
    "{}",
    "null",
    "[]",
    // All that any task of the shipped pipelines is asked for.
    r#"{"score":92,"high_privilege":false,"version":"1.0.0","skill_id":"sk_1","findings":[1,2],"commit":"0123456789abcdef0123456789abcdef01234567","content_hash":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08","signers":null,"threshold":null,"csp":null,"action":"DELETE","entry":"e","code":"no-csp","message":"no policy","leaf":"l","proof":["p"],"tree_head":"h","big_r":"02aa","s":"bb","recovery_id":0,"transaction":"tx","block_height":8,"problem":"no manifest"}"#,
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
    None,
    Some("{}"),
    Some(
        r#"{"intent":true,"scope":true,"permissions":true,"security_notes":true,"scripts":true,"dependencies":true,"edge_cases":true}"#,
    ),
];

/// Whose review it is, and for how long.
fn review(one: usize, two: usize) -> Command {
    use model::command::{Review, ReviewStep};
    let span = one.is_multiple_of(2).then(|| model::Millis::from_secs(1 + two as u64));
    let step = match two % 3 {
        0 => ReviewStep::Claim { span },
        1 => ReviewStep::HandOver { to: "cleo".into(), span },
        _ => ReviewStep::Release,
    };
    Command::Review(Review { caller: caller(two), step, if_match: None })
}

/// Two versions of a machine with every rule there is, each with a thing or two the other has not.
fn versions() -> &'static [Pipeline; 2] {
    static LOADED: OnceLock<[Pipeline; 2]> = OnceLock::new();
    LOADED.get_or_init(load_versions)
}

fn load_versions() -> [Pipeline; 2] {
    let machine = |version: u32, limits: &str, change: (&str, &str), sla: &str| {
        let toml = format!(
            r#"
name = "rules"
version = {version}
labels = {{ repo = "has(payload.repo_url) ? payload.repo_url : 'none'", kind = "has(payload.a) ? 'a' : 'b'" }}
limits = {limits}
amend = {{ fields = ["repo_url", "a"], role = "admin", lease = "{}" }}
start = [{{ to = "REVIEW", when = "has(payload.a)" }}, "WORK"]
ttl = {{ after = "2h", to = "LOST" }}

[sla.whole]
to = "DONE"
not_via = "REVIEW"
target = "10m"

[sla.review]
from = ["REVIEW", "PAUSE"]
to = "DONE"
target = "2bd"

[defaults]
lease = "30s"
retry = {{ times = 2, delay = "10s" }}
sla = {{ target = "{sla}", p95 = "1d" }}
actions.drop = {{ to = "LOST", only = "submitter" }}
actions.cancel = {{ to = "LOST", approvals = 2 }}

[states.WORK]
task = "rules.work"
timeout = "2m"
on.good = [{{ to = "DONE", when = "output.score > 90" }}, "PAUSE"]
on.again = "WORK"

[states.PAUSE]
sla = {{ target = "30s", missed = {{ to = "REVIEW" }} }}
wait = "1m"
next = "{}"
ttl = {{ after = "1h", to = "LOST" }}

[states.REVIEW]
review = "reviewer"
actions.approve = {{ to = "DONE", approvals = 3, self_approval = false }}
actions.publish = {{ to = "DONE", approvals = 2, task = "rules.publish" }}
actions.back = {{ to = "WORK", task = "rules.back" }}

[states.DONE]
final = "success"
retention = "1m"
forget = "1h"

[states.LOST]
final = "failure"
investigate = "reviewer"
forget = "1h"
actions.resume = {{ to = ["WORK", "REVIEW"] }}
"#,
            change.0, change.1
        );
        pipeline(&toml)
    };
    [
        machine(1, "{ kind = 2, repo = 1 }", ("keep", "REVIEW"), "20s"),
        machine(2, "{ kind = 1 }", ("restart", "WORK"), "1bd"),
    ]
}

struct Game {
    story: Story,
    tokens: Vec<LeaseToken>,
    /// The versions it may be migrated between.
    versions: Vec<Arc<Pipeline>>,
    /// Every version it has followed, by its digest: events name theirs.
    known: BTreeMap<Digest, Arc<Pipeline>>,
    forgotten: bool,
}

impl Game {
    fn of(versions: Vec<Pipeline>) -> Self {
        let versions: Vec<_> = versions.into_iter().map(Arc::new).collect();
        let known = versions.iter().map(|version| (version.digest, version.clone())).collect();
        let story = Story::of((*versions[0]).clone());
        Game { story, tokens: Vec::new(), versions, known, forgotten: false }
    }

    /// Tries one command; what it changes must keep every promise.
    fn throw(&mut self, (kind, one, two): Throw) {
        if self.forgotten {
            return;
        }
        self.surround(kind, one, two);
        let Some(command) = self.command(kind, one, two) else { return };
        if self.story.row.is_some() && one.is_multiple_of(4) {
            agrees_with_decisions(&self.story, &caller(two));
        }
        let before = (self.story.row.clone(), self.story.events.len());
        self.story.owed.clear();
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
            Err(_) => {
                let after = (self.story.row.clone(), self.story.events.len());
                assert_eq!(before, after, "a refusal changes nothing");
                return;
            }
            Ok(model::decide::Answer::Granted { token }) => self.tokens.push(token),
            Ok(_) => {}
        }
        self.check(before.1);
        self.check_slots(before.0.as_ref());
        let last = self.story.events.last().map(|event| event.leaf.kind);
        self.forgotten = last == Some(model::event::Kind::Forgotten);
    }

    /// Does what others do meanwhile: holds, and leases under the same limits.
    fn surround(&mut self, kind: u8, one: usize, two: usize) {
        self.story.hold = kind.is_multiple_of(7).then(|| "h1".into());
        let limits: Vec<_> = self.story.pipeline.limits.keys().cloned().collect();
        for (index, label) in limits.iter().enumerate() {
            let slots = (0..3).filter(|slot| (one ^ two >> index) >> slot & 3 == 3);
            self.story.taken(label, slots);
        }
    }

    fn command(&mut self, kind: u8, one: usize, two: usize) -> Option<Command> {
        if self.story.row.is_none() {
            let payload = PAYLOADS[one % PAYLOADS.len()];
            let admission = model::admit::admit_any(
                &self.story.pipeline,
                Story::application(caller(two), payload),
                &mut model::schema::Fuel::whole(),
            );
            return Some(Command::Submit(admission.ok()?.into()));
        }
        let age = if one.is_multiple_of(4) { 1 + one % 3 } else { 1 };
        let token = self.tokens.get(self.tokens.len().wrapping_sub(age)).copied();
        let output = OUTPUTS[two % OUTPUTS.len()];
        Some(match kind % 12 {
            0 | 1 => {
                let tasks = match &self.story.row().wait {
                    Wait::Worker { task, .. } if !one.is_multiple_of(4) => vec![task.clone()],
                    _ => vec!["no.task".into()],
                };
                Command::Claim(model::command::Claim { worker: "w".into(), tasks, lease: None })
            }
            2 | 3 => {
                let outcomes = outcomes(&self.story.pipeline, self.story.state());
                finish(token?, &outcomes[one % outcomes.len()], output)
            }
            4 => fail(token?, ["git-clone", "timeout", "x"][two % 3], !two.is_multiple_of(4)),
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
                    Command::Renew(model::command::Renew { token: token?, progress: None })
                }
            }
            7 => self.migration(one, two),
            8 => Command::Amend(model::command::Amend {
                caller: caller(two),
                patch: json([r#"{"a":1}"#, r#"{"a":null}"#, r#"{"repo_url":"x"}"#, "{}"][one % 4]),
                if_match: None,
            }),
            9 if one.is_multiple_of(5) => review(one, two),
            9 if one.is_multiple_of(7) => Command::Note(model::command::Note {
                caller: caller(two),
                text: ["seen", " ", ""][two % 3].to_owned(),
                if_match: None,
            }),
            9 if one.is_multiple_of(2) => Command::Unpark,
            9 if one.is_multiple_of(3) => Command::Acknowledge(model::command::Acknowledge {
                caller: caller(two),
                note: None,
                if_match: None,
            }),
            9 => Command::Redrive(model::command::Redrive { caller: caller(two), reason: None }),
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

    fn migration(&self, one: usize, two: usize) -> Command {
        let states = &self.story.pipeline.states;
        let target = self.versions[one % self.versions.len()].clone();
        let mut map = BTreeMap::new();
        if one.is_multiple_of(3) {
            map.insert(self.story.row().state.clone(), states[two % states.len()].name.clone());
        }
        Command::Migrate(Migrate { caller: caller(two), target, map, reason: None })
    }

    /// A lease has one slot in each of its limits; whoever ends it, or leaves its queue, lets others in.
    fn check_slots(&self, before: Option<&model::Submission>) {
        let (Some(before), row) = (before, self.story.row()) else { return };
        let told = |slot: &Slot| {
            let part = format!("{}={} ", slot.label, slot.value);
            self.story
                .owed
                .iter()
                .any(|owed| matches!(&owed.to, Recipient::FirstParked(name) if name.contains(&part)))
        };
        let granted =
            row.lease().filter(|lease| lease.granted_at == self.story.now && before.lease().is_none());
        if let Some(lease) = granted {
            let labels: Vec<_> = lease.slots.iter().map(|slot| &slot.label).collect();
            assert_eq!(
                labels,
                self.story.pipeline.limits.keys().collect::<Vec<_>>(),
                "one slot of each limit"
            );
            for slot in &lease.slots {
                assert!(slot.no < self.story.pipeline.limits[&slot.label], "a slot the limit has");
                assert!(!self.story.slots[&slot.label].contains(&slot.no), "a slot that nobody has");
            }
            assert_eq!((row.parked.as_ref(), &self.story.hold), (None, &None), "nothing held is leased");
        }
        let Some(lease) = before.lease() else { return };
        if row.lease().is_none_or(|other| other.no != lease.no) {
            assert!(lease.slots.iter().all(told), "whoever waits for {:?} is told", lease.slots);
        }
    }

    fn check(&self, known: usize) {
        let story = &self.story;
        for (index, event) in story.events.iter().enumerate().skip(known) {
            assert_eq!(event.leaf.revision, index as u64 + 1, "revisions count up by one");
            let pipeline = &self.known[&event.leaf.definition];
            let legal = match event.leaf.kind {
                model::event::Kind::Submitted => pipeline.allows(None, &event.leaf.to),
                model::event::Kind::Moved => pipeline.allows(event.leaf.from.as_deref(), &event.leaf.to),
                model::event::Kind::Migrated => pipeline.state(&event.leaf.to).is_some(),
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
        assert_eq!(row.version, story.pipeline.version);
        let state = story.pipeline.state(&row.state).unwrap();
        // One that has ended is open again while a task that somebody asked for runs.
        assert_eq!(row.status.is_final(), state.is_final() && row.request.is_none(), "as the file says");
        assert_eq!(row.status.is_final(), row.finished_at.is_some());
        self.check_clocks(row);
        let mut voters: Vec<_> = row.approvals.iter().map(|yes| (&yes.action, &yes.to, &yes.by)).collect();
        voters.sort();
        voters.dedup();
        assert_eq!(voters.len(), row.approvals.len(), "everybody has one vote");
    }

    /// Checks that the timer has not missed what time will do to the submission.
    fn check_clocks(&self, row: &model::Submission) {
        if row.status.is_final() {
            assert!(row.clocks.is_empty(), "nothing is measured after the end");
            assert_eq!(row.timer, [row.erase_at, row.forget_at].into_iter().flatten().min());
            return;
        }
        let legs: BTreeSet<_> = row.clocks.iter().map(|clock| &clock.leg).collect();
        assert_eq!(legs.len(), row.clocks.len(), "a clock for each");
        if let Some(late_at) = row.late_at() {
            let grace = self.story.reachable_since.plus(model::decide::GRACE);
            assert!(row.timer.is_some_and(|timer| timer <= late_at.max(grace)), "somebody looks in time");
        }
    }
}

fn hash(event: &Event) -> model::Digest {
    model::event::Leaf::hash(&event.leaf.bytes())
}

fn caller(choice: usize) -> Caller {
    let name = ["ann", "bob", "cleo"][choice / 2 % 3];
    let role = if choice.is_multiple_of(2) { Role::Admin } else { Role::ALL[choice / 6 % Role::ALL.len()] };
    Caller::new(name, role)
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
            let mut next = shipped_once(&name);
            next.version += 1;
            let mut game = Game::of(vec![shipped_once(&name), next]);
            throws.iter().for_each(|throw| game.throw(*throw));
        }
    }

    #[test]
    fn no_sequence_of_commands_breaks_a_machine_with_every_rule(throws in prop::collection::vec(any::<Throw>(), 1..120)) {
        let mut game = Game::of(versions().to_vec());
        throws.iter().for_each(|throw| game.throw(*throw));
    }
}

/// The game reaches what it is played for; a property over games that never get there proves nothing.
#[test]
fn games_reach_every_kind_of_event() {
    let mut reached = BTreeSet::new();
    let mut drawn = 1_u64;
    let mut draw = || {
        drawn = drawn.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(drawn >> 33).unwrap()
    };
    for _ in 0..200 {
        let mut game = Game::of(versions().to_vec());
        for _ in 0..80 {
            game.throw(((draw() % 256) as u8, draw(), draw()));
        }
        reached.extend(game.story.events.iter().map(|event| event.leaf.kind.as_str()));
    }
    for kind in
        ["late", "approved", "requested", "migrated", "forgotten", "erased", "amended", "crashed", "died"]
    {
        assert!(reached.contains(kind), "no game reached {kind}: {reached:?}");
    }
}

/// Loading compiles every guard; once is enough.
fn shipped_once(name: &str) -> Pipeline {
    use std::collections::HashMap;
    use std::sync::Mutex;
    static LOADED: OnceLock<Mutex<HashMap<String, Pipeline>>> = OnceLock::new();
    let mut loaded = LOADED.get_or_init(Mutex::default).lock().unwrap();
    loaded.entry(name.to_owned()).or_insert_with(|| shipped(name)).clone()
}
