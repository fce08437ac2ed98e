//! Takes, changes and queries as chance has them, all out of a small world so that they meet.

use std::collections::BTreeSet;

use model::event::Entry;
use model::submission::{Cause, Failure, Seat, SlaClock, Stand, Wait};
use model::{Investigation, InvestigationStatus, Status, Submission, SubmissionId, Time, evolve};

use super::chance::Chance;
use super::inbox::received;
use super::sample::{
    PIPELINES, Sample, TASKS, at, clocks, entry, id, json, labels, lease_with, moved, names, submitted,
};
use super::snapshot::{
    HOLDS, KEYS, LANES, OWNERS, REQUESTS, lane_key, lane_keys, limit_key, open_key, open_keys, registry_keys,
    request,
};
use store::ManualClock;
use store::{
    AnswerChange, Arrival, Changes, Clock, DocumentChange, Feed, LaneKey, Late, LimitKey, Narrowed, Owed,
    OwedId, OwedTo, Query, Ready, Received, RegistryChange, RegistryKey, RowChange, Take, Taken,
};

const ENDS: [Status; 3] = [Status::Succeeded, Status::Failed, Status::Cancelled];
const STATES: [&str; 3] = ["A", "B", "C"];
const BODIES: [&str; 5] = ["null", "9007199254740993", "{ \"a\" : [1,  2.50] }", "\"Grüße\"", "[]"];
const DOCUMENTS: [&str; 4] = ["payload", "result", "output/A", "output/B"];

pub(super) struct Random<'a> {
    chance: Chance,
    clock: &'a ManualClock,
    /// The number of rows made so far, which is the number of the next.
    rows: u64,
    /// The number of events made, those of conflicts included.
    events: u64,
    /// Rows that may be gone: a new one under their id would repeat their revisions.
    gone: BTreeSet<SubmissionId>,
    /// The entries of the registry that the last take named.
    named: Vec<RegistryKey>,
}

fn reads_documents(row: &Submission) -> bool {
    &*row.pipeline == PIPELINES[0]
}

/// A limit for each label, and none in one of the states.
fn counts_under(row: &Submission) -> Vec<LimitKey> {
    let limited = row.labels.iter().filter(|_| &*row.state != STATES[0]);
    limited.map(|(label, value)| limit_key(&row.pipeline, label, value)).collect()
}

/// Returns the key that was sent, and a lane for what was sent with a priority.
fn stands_in(received: &Received) -> Arrival {
    let key = received.key.as_ref().map(|key| open_key(&received.pipeline, key));
    Arrival { key, lane: received.priority.map(|_| lane_key(&received.pipeline, LANES[0])) }
}

impl<'a> Random<'a> {
    pub(super) fn new(seed: u64, clock: &'a ManualClock) -> Self {
        let chance = Chance::new(seed);
        Random { chance, clock, rows: 0, events: 0, gone: BTreeSet::new(), named: Vec::new() }
    }

    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.chance.below(end)
    }

    pub(super) fn size(&mut self) -> usize {
        usize::try_from(self.chance.below(6)).expect("less than six")
    }

    pub(super) fn pass_time(&mut self) {
        let millis = self.chance.below(40);
        self.clock.advance(i64::try_from(millis).expect("less than forty"));
    }

    /// The id of a row, or of one that does not exist yet.
    pub(super) fn known_id(&mut self) -> SubmissionId {
        id(self.chance.below(self.rows + 2))
    }

    /// Around now: as often past as to come.
    fn time(&mut self) -> Time {
        let millis = i64::try_from(self.chance.below(200)).expect("less than two hundred");
        Time::from_millis(self.clock.now().millis() + millis - 100)
    }

    pub(super) fn take(&mut self) -> Take<'static> {
        self.named = self.chance.some(&registry_keys());
        Take {
            ids: (0..self.size()).map(|_| self.known_id()).collect(),
            keys: self.chance.some(&open_keys()),
            requests: self.chance.some(&REQUESTS.map(request)),
            ready: (0..self.chance.below(3)).map(|_| self.ready()).collect(),
            due: self.size(),
            idle: self.size(),
            owed: self.size(),
            parked: 1 + self.size(),
            inbox: self.size(),
            registry: self.named.clone(),
            lanes: self.chance.some(&lane_keys()),
            documents: &reads_documents,
            room: usize::MAX,
            // Not every store tells: those that do are asked by a promise of their own.
            leaves_lane: &|_| false,
            limits: &counts_under,
            arrival: &stands_in,
            certain: &|now| now,
        }
    }

    fn ready(&mut self) -> Ready {
        let pipelines = if self.chance.one_in(2) { self.chance.some(&PIPELINES) } else { Vec::new() };
        let owner = self.chance.pick(&OWNERS);
        Ready {
            tasks: names(&self.chance.some(&TASKS)),
            pipelines: names(&pipelines),
            labels: if self.chance.one_in(3) { labels(&[("owner", owner)]) } else { labels(&[]) },
            max: self.size(),
        }
    }

    pub(super) fn changes(&mut self, taken: &Taken) -> Changes {
        let mut changes = Changes::default();
        let mut taken_rows: Vec<_> = taken.rows.values().map(|stored| &stored.row).collect();
        taken_rows.sort_by_key(|row| row.id);
        for row in taken_rows {
            match self.chance.below(24) {
                0..12 => self.change_row(row, &mut changes),
                12 => changes.forgotten.push((**row).clone()),
                13 => changes.erased.push(row.id),
                _ => (),
            }
        }
        for _ in 0..self.chance.below(3) {
            self.new_row(&mut changes);
        }
        for at in 0..changes.rows.len() {
            if self.chance.one_in(2) {
                let submission = changes.rows[at].after.id;
                let name = self.chance.pick(&DOCUMENTS).to_owned();
                changes.documents.push(DocumentChange { submission, name, body: self.body() });
            }
        }
        changes.paid =
            taken.owed.iter().filter(|_| self.chance.one_in(2)).map(|owed| owed.id.clone()).collect();
        changes.decided = taken.inbox.iter().filter(|_| self.chance.one_in(2)).map(|sent| sent.id).collect();
        changes.received = (0..self.chance.below(2)).map(|_| received(self.chance.below(40))).collect();
        self.change_the_rest(&mut changes);
        self.events += changes.events.len() as u64;
        if self.chance.one_in(30) {
            changes.retired_before = Some(self.chance.below(self.events / 2 + 1));
        }
        self.gone.extend(changes.forgotten.iter().map(|row| row.id));
        changes
    }

    fn body(&mut self) -> model::Json {
        json(self.chance.pick(&BODIES))
    }

    fn change_row(&mut self, row: &Submission, changes: &mut Changes) {
        let mut before = row.clone();
        let after = if self.chance.one_in(2) {
            let (status, wait) = self.situation();
            let investigate = status.is_final() && self.chance.one_in(2);
            let entry = Entry { clocks: self.clocks(), investigate, ..entry(wait, status) };
            let event = moved(row, self.chance.pick(&STATES), entry);
            let after = evolve(Some(row.clone()), &event);
            changes.events.push(event);
            after
        } else {
            self.edited(row.clone())
        };
        if self.chance.one_in(20) {
            before.row_version += 1;
        }
        changes.rows.push(RowChange::update(before, after));
    }

    fn edited(&mut self, mut row: Submission) -> Submission {
        match self.chance.below(16) {
            0..3 => row.wait = self.lease(&row),
            3 | 4 => row.timer = if self.chance.one_in(3) { None } else { Some(self.time()) },
            5 => row.labels = labels(&[("owner", self.chance.pick(&OWNERS))]),
            6 | 7 => row.seat = if self.chance.one_in(3) { None } else { Some(self.seat()) },
            8 => row.parked = self.chance.one_in(2).then(|| self.chance.pick(&HOLDS).into()),
            9 => row.key_waits = self.chance.one_in(2),
            10 => row.clocks = self.clocks(),
            11 | 12 => (row.status, row.timer) = (self.chance.pick(&ENDS), Some(self.time())),
            13 => row.investigate = self.investigation(),
            14 => row.error = self.chance.one_in(2).then(|| Failure::new("broken", "it broke")),
            _ => row.attempt += 1,
        }
        row
    }

    fn investigation(&mut self) -> Option<Investigation> {
        let acknowledged = || Investigation::Acknowledged { by: "ada".into(), at: at(1), note: None };
        self.chance.pick(&[None, Some(Investigation::Open), Some(acknowledged())])
    }

    fn lease(&mut self, row: &Submission) -> Wait {
        let mut slots = Vec::new();
        for (label, value) in &row.labels {
            if self.chance.one_in(2) {
                let no = u32::try_from(self.chance.below(5)).expect("less than five");
                slots.push((&**label, &**value, no));
            }
        }
        lease_with("scan", row.lease_no, &slots)
    }

    fn clocks(&mut self) -> Vec<SlaClock> {
        let due: Vec<_> = (0..self.chance.below(3)).map(|_| self.time()).collect();
        clocks(&due)
    }

    fn seat(&mut self) -> Seat {
        let (lane, tie) = (self.chance.pick(&LANES), self.chance.pick(&["", "a", "b", "9", "10"]));
        let stand = if self.chance.one_in(3) { Stand::Holds } else { Stand::InLine };
        Seat::new(lane, tie).standing(stand)
    }

    fn situation(&mut self) -> (Status, Wait) {
        let status = if self.chance.one_in(3) { self.chance.pick(&Status::ALL) } else { Status::Open };
        let wait = match (status, self.chance.below(4)) {
            (Status::Dead, _) => Wait::Redrive,
            (Status::Open, 0) => Wait::Delay { until: self.time(), cause: Cause::Retry },
            (Status::Open, 1) => Wait::Person,
            (Status::Open, _) => self.worker(),
            _ => Wait::Nothing,
        };
        (status, wait)
    }

    fn worker(&mut self) -> Wait {
        let rank = i64::try_from(self.chance.below(7)).expect("less than seven") - 3;
        Wait::Worker { task: self.chance.pick(&TASKS).into(), rank }
    }

    fn new_row(&mut self, changes: &mut Changes) {
        let known = self.chance.below(self.rows + 1);
        let clashes = known < self.rows && self.chance.one_in(20) && !self.gone.contains(&id(known));
        let n = if clashes { known } else { self.rows };
        if !clashes {
            self.rows += 1;
            changes.events.push(submitted(n));
        }
        let mut row = Sample::row(n).pipeline(self.chance.pick(&PIPELINES)).state(self.chance.pick(&STATES));
        if self.chance.one_in(2) {
            row = row.wait(self.worker());
        }
        if self.chance.one_in(3) {
            let key = self.chance.pick(&KEYS);
            row = if self.chance.one_in(2) { row.key(key) } else { row.waits_for_key(key) };
        }
        if self.chance.one_in(3) {
            row = row.seat(self.seat());
        }
        if self.chance.one_in(6) {
            row = row.parked(self.chance.pick(&HOLDS));
        }
        if self.chance.one_in(2) {
            row = row.label("owner", self.chance.pick(&OWNERS)).label("tier", self.chance.pick(&OWNERS));
        }
        if self.chance.one_in(3) {
            row = row.parent(self.known_id());
        }
        if self.chance.one_in(3) {
            row = row.timer(self.time());
        }
        if self.chance.one_in(6) {
            row = row.status(self.chance.pick(&ENDS)).timer(self.time());
            if let Some(investigation) = self.investigation() {
                row = row.investigated(investigation);
            }
        }
        if self.chance.one_in(4) {
            row = row.clocks(&[self.time(), self.time()]);
        }
        changes.rows.push(row.new_row());
    }

    fn change_the_rest(&mut self, changes: &mut Changes) {
        if self.chance.one_in(3) {
            let key = request(self.chance.pick(&REQUESTS));
            changes.answers.push(AnswerChange { key, body: self.body(), expires_at: self.time() });
        }
        for _ in 0..self.chance.below(2) {
            let (submission, revision, no) =
                (self.known_id(), self.chance.below(3), u64::from(self.chance.one_in(2)));
            let (to, body) = (self.owed_to(), self.body());
            changes.owed.push(Owed { id: OwedId { submission, revision, no }, to, body });
        }
        if self.chance.one_in(3) {
            let key = self.chance.pick(&registry_keys());
            let body = if self.chance.one_in(3) { None } else { Some(self.body()) };
            changes.registry.push(RegistryChange { key, body });
        }
        changes.relies_on = self.chance.some(&self.named);
    }

    fn owed_to(&mut self) -> OwedTo {
        match self.chance.below(5) {
            0 => OwedTo::Submission(self.known_id()),
            1 => OwedTo::Key(self.chance.pick(&open_keys())),
            2 => OwedTo::Lane(self.lane()),
            3 => OwedTo::FirstParked(self.chance.pick(&HOLDS).into()),
            _ => OwedTo::Parked(self.chance.pick(&HOLDS).into()),
        }
    }

    pub(super) fn lane(&mut self) -> LaneKey {
        self.chance.pick(&lane_keys())
    }

    pub(super) fn feed(&mut self) -> Feed {
        let mut some = |from: &[&'static str]| self.chance.one_in(3).then(|| self.chance.pick(from).into());
        let (pipeline, state) = (some(&PIPELINES), some(&STATES));
        let owner = self.chance.pick(&OWNERS);
        Feed {
            after: self.chance.below(self.events + 10),
            pipeline,
            state,
            labels: if self.chance.one_in(3) { labels(&[("owner", owner)]) } else { labels(&[]) },
            limit: self.size() * 10,
            bytes_max: self.chance.one_in(3).then_some(3_000),
        }
    }

    pub(super) fn late(&mut self) -> Late {
        Late {
            pipeline: self.chance.pick(&PIPELINES).into(),
            until: self.time(),
            after: self.chance.one_in(3).then(|| (self.time(), self.known_id())),
            limit: self.size(),
        }
    }

    /// The name of an entry of the registry, or what lies before, between and after them.
    pub(super) fn registry_after(&mut self) -> &'static str {
        self.chance.pick(&["", "first", "g", "second", "third", "zebra"])
    }

    /// Most rows of this world have no error, and all leases are of one worker.
    fn narrowed(&mut self) -> Narrowed {
        Narrowed {
            entered_before: self.chance.one_in(6).then(|| self.time()),
            error: self.chance.one_in(12).then(|| "broken".into()),
            fingerprint: None,
            worker: self.chance.one_in(8).then(|| self.chance.pick(&["worker-7", "nobody"]).into()),
        }
    }

    pub(super) fn query(&mut self) -> Query {
        let mut some = |from: &[&'static str]| self.chance.one_in(3).then(|| self.chance.pick(from).into());
        let (pipeline, state) = (some(&PIPELINES), some(&STATES));
        let (key, held_key, lane) = (some(&KEYS), some(&KEYS), some(&LANES));
        let owner = self.chance.pick(&OWNERS);
        Query {
            pipeline,
            state,
            key: if self.chance.one_in(3) { key } else { None },
            held_key: if self.chance.one_in(6) { held_key } else { None },
            lane,
            status: self.chance.one_in(3).then(|| self.chance.pick(&Status::ALL)),
            investigation: self.chance.one_in(6).then(|| self.chance.pick(&InvestigationStatus::ALL)),
            parent: self.chance.one_in(5).then(|| self.known_id()),
            labels: if self.chance.one_in(3) { labels(&[("owner", owner)]) } else { labels(&[]) },
            created_before: self.chance.one_in(5).then(|| at(self.chance.below(self.rows + 1))),
            created_after: self.chance.one_in(8).then(|| at(self.chance.below(self.rows + 1))),
            ids: self.chance.one_in(8).then(|| (self.known_id(), self.known_id())),
            narrowed: self.narrowed(),
            after: self.chance.one_in(5).then(|| self.known_id()),
            limit: self.size() + 1,
        }
    }
}
