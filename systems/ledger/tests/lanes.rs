//! The lanes of the pipeline against the queuer, over random histories in virtual time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use engine::core::{Ask, ClaimMany, Core, DUE_MAX, Granted, Input, Output};
use engine::{Holds, Pipelines};
use ledger::Seconds;
use ledger::queuer::{Batch, BatchStatus, WINDOW, round};
use model::admit::{Application, Door, admit};
use model::command::Finish;
use model::pipeline::Source;
use model::{Caller, Command, Digest, Json, Millis, Pipeline, Role, SubmissionId, Time};
use serde_json::json;
use store::{Clock as _, ManualClock, MemoryStore, Store as _};
use system::System as _;

use crate::fake_ledger::header;

/// The engine over a store in memory, and a book of what a queuer would know.
struct Lanes {
    store: Arc<MemoryStore>,
    clock: ManualClock,
    core: Core,
    pipeline: Arc<Pipeline>,
    drawn: u64,
    book: BTreeMap<SubmissionId, Entry>,
    /// Tasks to submit that the submitter has.
    taken: Vec<Granted>,
}

struct Entry {
    header: String,
    service: String,
    /// The last word about it that sends it to the ledger again, and the time of that.
    again: Option<(BatchStatus, Time)>,
}

/// Numbers that look like chance: the same ones for a seed.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }
}

impl Lanes {
    fn new() -> Lanes {
        let file = ledger::system().pipelines().remove(0);
        let named = file.named.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        let source = Source { files: named.collect(), ..Source::new(file.file, file.toml) };
        let pipeline = Arc::new(model::pipeline::load(&source).unwrap());
        let clock = ManualClock::new();
        let store = Arc::new(MemoryStore::new(Arc::new(clock.clone())));
        let known = Pipelines::default();
        known.insert(pipeline.clone());
        let core = Core::new(store.clone(), known, Holds::default(), [7; 32]);
        Lanes { store, clock, core, pipeline, drawn: 0, book: BTreeMap::new(), taken: Vec::new() }
    }

    /// Asks, then lets everything happen that follows at this moment.
    fn ask(&mut self, asks: Vec<Ask>) -> Vec<Output> {
        let mut inputs: Vec<Input> = asks.into_iter().map(Input::from).collect();
        let mut outputs = Vec::new();
        loop {
            let is_first = !inputs.is_empty();
            let drawn = &mut self.drawn;
            let step = self.core.step(&std::mem::take(&mut inputs), DUE_MAX, &mut || {
                *drawn += 1;
                Digest::of_parts(&[b"lanes", &drawn.to_be_bytes()]).0
            });
            outputs.extend(step.outcomes.into_iter().map(|outcome| outcome.unwrap()));
            if !is_first && step.next_timer.is_none_or(|next| next > self.clock.now()) {
                return outputs;
            }
        }
    }

    fn pass(&mut self, span: Millis) {
        self.clock.set(self.clock.now().plus(span));
        self.ask(Vec::new());
    }

    /// Submits these in one call, by an admin, who may set priorities; they change nothing.
    fn come(&mut self, batches: Vec<(String, String)>, priorities: &[Option<i64>]) {
        let admission = |(at, (service, header)): (usize, &(String, String))| {
            let payload =
                json!({ "service_id": service, "batch_header": header, "serialized_batch": "AAAA" });
            let application = Application {
                caller: Caller::new("grid", Role::Admin),
                payload: Json::parse(&payload.to_string()).unwrap(),
                key: None,
                priority: priorities.get(at).copied().flatten(),
                not_before: None,
                reason: None,
                door: Door::Api,
            };
            admit(&self.pipeline, application, &mut model::schema::Fuel::whole()).unwrap()
        };
        let asks = batches.iter().enumerate().map(|batch| Ask::Submit(admission(batch).into())).collect();
        for (output, (service, header)) in self.ask(asks).into_iter().zip(batches) {
            let Output::Submission(made) = output else { panic!("{output:?}") };
            self.book.insert(made.row.id, Entry { header, service, again: None });
        }
    }

    fn claim(&mut self, task: &str, max: usize) -> Vec<Granted> {
        let claim = ClaimMany {
            worker: "worker".into(),
            tasks: vec![task.into()],
            pipelines: vec![self.pipeline.name.clone()],
            labels: BTreeMap::new(),
            max,
            arriving: false,
            only: None,
            lease: None,
        };
        match self.ask(vec![Ask::Claim(claim)]).remove(0) {
            Output::Tasks(tasks) => tasks,
            other => panic!("{other:?}"),
        }
    }

    fn answer(&mut self, granted: &Granted, outcome: &str) {
        let again = match outcome {
            "unknown" => Some(BatchStatus::Unknown),
            "delayed" => Some(BatchStatus::Delayed),
            _ => None,
        };
        let now = self.clock.now();
        self.book.get_mut(&granted.row.id).unwrap().again = again.map(|again| (again, now));
        let error = json!({ "error": { "code": "busy", "message": "later" } });
        let output = (outcome == "delayed").then(|| Json::parse(&error.to_string()).unwrap());
        let finish = Finish {
            token: granted.token,
            outcome: outcome.into(),
            output,
            result: None,
            children: Vec::new(),
            entries: Vec::new(),
        };
        self.ask(vec![Ask::Tell(granted.row.id, Command::Finish(finish))]);
    }

    /// Has the submitter answer for what it has, but for one of so many that it keeps.
    fn submitted(&mut self, chance: &mut Chance, seen: &mut BTreeMap<&str, u32>, keeps: usize) {
        for granted in std::mem::take(&mut self.taken) {
            if keeps > 0 && chance.below(keeps) == 0 {
                self.taken.push(granted);
                continue;
            }
            let outcome = ["accepted", "accepted", "delayed", "delayed", "invalid"][chance.below(5)];
            *seen.entry(outcome).or_default() += 1;
            self.answer(&granted, outcome);
        }
    }

    /// Returns all batches as a queuer sees them, by header and service.
    fn batches(&self) -> Vec<Batch> {
        let taken: BTreeSet<SubmissionId> = self.taken.iter().map(|granted| granted.row.id).collect();
        let batch = |(id, entry): (&SubmissionId, &Entry)| {
            let (row, _) = self.store.submission(*id).unwrap().unwrap();
            let again = entry.again.map(|(again, _)| again);
            let (submitted, status) = match &*row.state {
                "QUEUED" => (false, None),
                "SUBMITTING" if taken.contains(id) => (true, None),
                "SUBMITTING" | "DELAYED" => (false, again),
                "PENDING" => (true, Some(BatchStatus::Pending)),
                "VALID" => (true, Some(BatchStatus::Valid)),
                "COMMITTED" => (true, Some(BatchStatus::Committed)),
                "INVALID" => (true, Some(BatchStatus::Invalid)),
                other => panic!("nothing rests in {other}"),
            };
            Batch {
                header: entry.header.clone(),
                service: Some(entry.service.clone()),
                nonce: None,
                created_at: seconds(row.created_at),
                submitted,
                status,
                last_submitted_at: entry.again.map(|(_, at)| seconds(at)),
            }
        };
        self.book.iter().map(batch).collect()
    }

    /// Takes so many tasks to submit, and holds them against the queue of the queuer.
    fn take(&mut self, max: usize) {
        let batches = self.batches();
        let queue = round(&batches, seconds(self.clock.now()), WINDOW).queue;
        let rank = |status: Option<BatchStatus>| match status {
            Some(BatchStatus::Unknown) => 0,
            Some(_) => 1,
            None => 2,
        };
        let expected: BTreeSet<(i32, &str, &str)> = queue
            .iter()
            .map(|batch| (rank(batch.status), batch.service.as_deref().unwrap(), &*batch.header))
            .collect();
        let tasks = self.claim("ledger.submit", max);
        assert_eq!(tasks.len(), expected.len().min(max));
        let found: Vec<(i32, &str, &str)> = tasks
            .iter()
            .map(|task| {
                let entry = &self.book[&task.row.id];
                (rank(entry.again.map(|(again, _)| again)), &*entry.service, &*entry.header)
            })
            .collect();
        assert!(found.iter().all(|found| expected.contains(found)), "{found:?} are not of {expected:?}");
        assert!(found.is_sorted_by_key(|(rank, ..)| rank), "{found:?}");
        let left = expected.iter().filter(|expected| !found.contains(expected));
        let last = found.last().map_or(0, |(rank, ..)| *rank);
        assert!(left.into_iter().all(|(rank, ..)| *rank >= last), "{found:?} of {expected:?}");
        self.taken.extend(tasks);
    }
}

fn seconds(time: Time) -> Seconds {
    Seconds::of_millis(u64::try_from(time.millis()).unwrap())
}

#[test]
fn the_lanes_let_go_what_the_queuer_queues_in_the_same_rounds() {
    let mut seen = BTreeMap::<&str, u32>::new();
    for seed in 0..60 {
        let (mut lanes, mut chance, mut no) = (Lanes::new(), Chance(seed), 0);
        for _ in 0..60 {
            match chance.below(5) {
                0 => {
                    let count = 1 + chance.below(6);
                    let batches = (0..count).map(|_| {
                        no += 1;
                        let name = format!("{:x}{no:05x}", chance.below(16));
                        (format!("aaaaa-11111::svc{}", chance.below(4)), header(&name))
                    });
                    let batches: Vec<(String, String)> = batches.collect();
                    let priority = |_| [None, Some(-1_000_000), Some(0), Some(7)][chance.below(4)];
                    let priorities: Vec<Option<i64>> = batches.iter().map(priority).collect();
                    lanes.come(batches, &priorities);
                }
                1 => {
                    let max = 1 + chance.below(6);
                    lanes.take(max);
                }
                2 => {
                    for granted in lanes.claim("ledger.watch", chance.below(4) + 1) {
                        let valid = &*granted.row.state == "VALID";
                        let outcomes = ["committed", "invalid", "unknown", "valid", "unknown"];
                        let outcome = outcomes[chance.below(if valid { 2 } else { 5 })];
                        *seen.entry(outcome).or_default() += 1;
                        lanes.answer(&granted, outcome);
                    }
                }
                3 => {
                    // Before their leases expire.
                    lanes.submitted(&mut chance, &mut seen, 0);
                    // Ages change nothing either: some rounds are a day apart.
                    lanes.pass([1, 14_999, 15_000, 3_000, 86_400_000].map(Millis::new)[chance.below(5)]);
                }
                _ => lanes.submitted(&mut chance, &mut seen, 2),
            }
            // Whoever has a lane is not displaced: what comes later has a later time.
            lanes.pass(Millis::new(1));
        }
    }
    assert!(seen.len() == 6 && seen.values().all(|times| *times > 50), "{seen:?}");
}

#[test]
fn one_service_with_ten_thousand_batches_keeps_another_ones_single_batch_from_no_round() {
    let mut lanes = Lanes::new();
    let many = |no: usize| ("aaaaa-11111::many".to_owned(), header(&no.to_string()));
    for call in 0..10 {
        lanes.come((call * 1_000..(call + 1) * 1_000).map(many).collect(), &[]);
        lanes.pass(Millis::new(1));
    }
    lanes.come(vec![("aaaaa-11111::lone".to_owned(), header("a"))], &[]);
    let tasks = lanes.claim("ledger.submit", 10);
    let found: Vec<&str> = tasks.iter().map(|task| &*lanes.book[&task.row.id].header).collect();
    assert_eq!(found, [header("0"), header("a")]);
}

#[test]
fn the_unknown_go_before_the_delayed_and_those_before_the_new_whatever_their_age_and_priority() {
    let mut lanes = Lanes::new();
    let of = |service: &str, name: &str| (format!("aaaaa-11111::{service}"), header(name));
    for (service, name, priority) in
        [("new1", "1", 1_000_000), ("new2", "2", -1_000_000), ("dela", "3", -1_000_000), ("unkn", "4", 7)]
    {
        lanes.come(vec![of(service, name)], &[Some(priority)]);
        lanes.pass(Millis::from_secs(86_400));
    }
    let order = |lanes: &Lanes, tasks: &[Granted]| -> Vec<String> {
        let header = |task: &Granted| lanes.book[&task.row.id].header.trim_start_matches('0').to_owned();
        tasks.iter().map(header).collect()
    };
    let tasks = lanes.claim("ledger.submit", 4);
    assert_eq!(order(&lanes, &tasks), ["1", "2", "3", "4"], "of the new the older goes first");
    // The two that are new stay so: what their workers had is given back.
    for granted in &tasks[..2] {
        let back = model::command::GiveBack { token: granted.token };
        lanes.ask(vec![Ask::Tell(granted.row.id, Command::GiveBack(back))]);
    }
    lanes.answer(&tasks[2], "delayed");
    lanes.answer(&tasks[3], "accepted");
    lanes.pass(Millis::from_secs(15));
    let watched = lanes.claim("ledger.watch", 1);
    lanes.answer(&watched[0], "unknown");
    let tasks = lanes.claim("ledger.submit", 4);
    assert_eq!(order(&lanes, &tasks), ["4", "3", "1", "2"]);
}
