//! Somebody who acts: with and without the role, the reason, the data, and a fresh look at the submission.

use engine::core::{Ask, Input};
use model::command::{Acknowledge, Act, Amend, Migrate, Note, Redrive, Review, ReviewStep};
use model::submission::Wait;
use model::{Caller, Command, Millis, Name, Role, Status, Submission, SubmissionId, Time};

use super::{Heard, Sent, View, once};
use crate::chance::Chance;
use crate::pipelines::RENAMED;

#[derive(Debug)]
pub(crate) struct Person {
    name: String,
    role: Role,
    sent: Sent,
    open: Vec<Input>,
}

const ACTIONS: [&str; 6] = ["reject", "redrive", "cancel", "approve", "fix", "dance"];

impl Person {
    pub(crate) fn new(name: &str, role: Role) -> Self {
        Person { name: name.to_owned(), role, sent: Sent::default(), open: Vec::new() }
    }

    pub(crate) fn turn(&mut self, view: &mut View<'_>) -> Option<Input> {
        if !self.open.is_empty() && view.chance.percent(50) {
            return Some(self.open.remove(0));
        }
        if view.chance.percent(10) {
            return self.sent.again(view.chance);
        }
        if view.chance.percent(2) {
            let id = SubmissionId::new(Time::EPOCH, [7; 10]);
            let act = self.act("cancel", None, view);
            return Some(Ask::Tell(id, Command::Act(act)).into());
        }
        let row = self.choose(view)?;
        if let Some(command) = self.set_right(&row, view) {
            let body = match &command {
                Command::Migrate(migrate) => format!("{} to version {}", row.id, migrate.target.version),
                other => format!("{} {other:?}", row.id),
            };
            let once = view.chance.percent(30).then(|| once(&self.name, "right", &body, view.chance));
            return Some(Input::from(Ask::Tell(row.id, command)).once(once));
        }
        let action = self.action(&row, view);
        let act = self.act(&action, Some(&row), view);
        let body = format!("{} {act:?}", row.id);
        let once = view.chance.percent(30).then(|| once(&self.name, "act", &body, view.chance));
        Some(Input::from(Ask::Tell(row.id, Command::Act(act))).once(once))
    }

    /// Redrives a dead letter, acknowledges an end, amends a payload or migrates, and now and then one that cannot be.
    fn set_right(&self, row: &Submission, view: &mut View<'_>) -> Option<Command> {
        let chance = &mut *view.chance;
        let caller = Caller::new(self.name.as_str(), self.role);
        let redrives = if row.status == Status::Dead { 50 } else { 2 };
        if chance.percent(redrives) {
            let reason = chance.percent(50).then(|| "once more".to_owned());
            return Some(Command::Redrive(Redrive { caller, reason }));
        }
        if row.investigate.is_some() && chance.percent(60) {
            let note = chance.percent(50).then(|| "the stone was cracked".to_owned());
            let if_match = chance.percent(20).then(|| row.revision - chance.below(2));
            return Some(Command::Acknowledge(Acknowledge { caller, note, if_match }));
        }
        let reviews = if row.wait == Wait::Person { 20 } else { 1 };
        if chance.percent(reviews) {
            return Some(self.review(row, chance));
        }
        if chance.percent(4) {
            let text = if chance.percent(5) { " " } else { "seen at the gate" }.to_owned();
            let if_match = chance.percent(20).then(|| row.revision - chance.below(2));
            return Some(Command::Note(Note { caller, text, if_match }));
        }
        if matches!(&*row.pipeline, "dock" | "studio") && chance.percent(8) {
            return self.migrate(row, view);
        }
        let chance = &mut *view.chance;
        let amends = if matches!(&*row.pipeline, "dock" | "convoy" | "router" | "studio") { 25 } else { 2 };
        chance.percent(amends).then(|| {
            let patch = crate::pipelines::patch(&row.pipeline, chance);
            let if_match = chance.percent(20).then(|| row.revision - chance.below(2));
            Command::Amend(Amend { caller, patch, if_match })
        })
    }

    /// Takes a review on, for a moment or for longer than may be; hands it to somebody, or lets it go.
    fn review(&self, row: &Submission, chance: &mut Chance) -> Command {
        let caller = Caller::new(self.name.as_str(), self.role);
        let span =
            chance.percent(60).then(|| Millis::from_secs([1, 20, 300, 700_000][chance.below(4) as usize]));
        let step = match chance.below(10) {
            0..6 => ReviewStep::Claim { span },
            6..8 => ReviewStep::HandOver { to: (*chance.pick(&["ada", "ravi", "rita"])).into(), span },
            _ => ReviewStep::Release,
        };
        let if_match = chance.percent(20).then(|| row.revision - chance.below(2));
        Command::Review(Review { caller, step, if_match })
    }

    /// To whichever version there is, with the states that are called differently there.
    fn migrate(&self, row: &Submission, view: &mut View<'_>) -> Option<Command> {
        let versions = view.pipelines.current();
        let other: Vec<_> = versions.versions(&row.pipeline).collect();
        let target = (*view.chance.pick(&other)).clone();
        let names = RENAMED.into_iter().flat_map(|(one, other)| [(one, other), (other, one)]);
        let fits = |(from, to): &(&str, &str)| target.state(from).is_none() && target.state(to).is_some();
        let map = names.filter(fits).map(|(from, to)| (Name::from(from), Name::from(to))).collect();
        let caller = Caller::new(self.name.as_str(), self.role);
        Some(Command::Migrate(Migrate { caller, target, map, reason: None }))
    }

    /// Mostly one that waits for somebody; now and then any.
    fn choose(&self, view: &mut View<'_>) -> Option<Submission> {
        if view.chance.percent(20) {
            // One that failed and may be resumed. A child first whose parent has ended: that may go on with it.
            let failed = view.ledger.failed_ids();
            let parent = |id: &SubmissionId| view.ledger.row(view.ledger.row(*id)?.parent?);
            let left = |id: &SubmissionId| parent(id).is_some_and(|parent| parent.status.is_final());
            let children: Vec<_> = failed.iter().copied().filter(left).collect();
            let list = if children.is_empty() { failed } else { children };
            if !list.is_empty() {
                return view.ledger.row(*view.chance.pick(&list)).cloned();
            }
        }
        if view.chance.percent(8) {
            let ended = view.ledger.ended_with_tasks();
            if !ended.is_empty() {
                return view.ledger.row(*view.chance.pick(&ended)).cloned();
            }
        }
        let waiting = view.ledger.waiting_for_somebody();
        let all = view.ledger.ids();
        let list = if waiting.is_empty() || view.chance.percent(30) { all } else { waiting };
        if list.is_empty() {
            return None;
        }
        view.ledger.row(*view.chance.pick(&list)).cloned()
    }

    fn action(&self, row: &Submission, view: &mut View<'_>) -> String {
        let versions = view.pipelines.current();
        let state =
            versions.version(&row.pipeline, row.version).and_then(|pipeline| pipeline.state(&row.state));
        match state {
            Some(state) if !state.actions.is_empty() && view.chance.percent(90) => {
                view.chance.pick(&state.actions).name.to_string()
            }
            _ => (*view.chance.pick(&ACTIONS)).to_owned(),
        }
    }

    fn act(&self, action: &str, row: Option<&Submission>, view: &mut View<'_>) -> Act {
        let chance = &mut *view.chance;
        let revision = row.map_or(1, |row| row.revision);
        Act {
            caller: Caller::new(self.name.as_str(), self.role),
            action: action.into(),
            reason: chance
                .percent(70)
                .then(|| if chance.percent(5) { " ".to_owned() } else { "I looked".to_owned() }),
            data: crate::pipelines::data(action, chance),
            to: chance.percent(25).then(|| {
                (*chance.pick(&["GRIND", "SIFT", "POLISH", "BERTH", "DRIVE", "LINE", "SKETCH", "NOWHERE"]))
                    .into()
            }),
            if_match: match chance.below(10) {
                0..3 => Some(revision),
                3 => Some(revision + chance.below(3)),
                _ => None,
            },
        }
    }

    pub(crate) fn hear(&mut self, input: &Input, heard: &Heard) {
        if heard.is_open() {
            if input.once.is_some() {
                self.open.push(input.clone());
            }
        } else {
            self.sent.remember(input);
        }
    }
}
