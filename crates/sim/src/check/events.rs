//! Events: dense, chained, byte for byte, each a legal step from where the one before left off.

use model::event::{Change, Kind, Leaf};
use model::evolve::evolve_documents;
use model::{Documents, Event, evolve};
use store::Recorded;

use super::ledger::{Known, Ledger};
use super::timing::{self, Moment};
use super::visit::Visit;
use super::{
    Checked, Seen, approved, clocks, ensure, going_on, investigated, migrated, operations, reviewed,
};
use crate::faults::Commit;
use crate::finding::finding;
use crate::report::Report;

/// The events of one commit: as the engine wrote them, and as the store tells them.
pub(super) struct Told<'a> {
    pub(super) seen: &'a Seen<'a>,
    pub(super) commit: &'a Commit,
    pub(super) recorded: &'a [Recorded],
}

pub(super) fn check(ledger: &mut Ledger, told: &Told<'_>, report: &mut Report) -> Checked {
    let written = &told.commit.changes.events;
    ensure!(
        told.recorded.len() == written.len(),
        "{} events were committed and {} are there",
        written.len(),
        told.recorded.len()
    );
    for (recorded, event) in told.recorded.iter().zip(written) {
        let seq = ledger.last_seq() + 1;
        ensure!(recorded.seq == seq, "an event is at position {} instead of {seq}", recorded.seq);
        same_bytes(&recorded.event, event)?;
        ensure!(event.leaf.at == told.commit.now, "an event's time is not that of its commit");
        one(ledger, told, event, report).map_err(|problem| problem.about(format_args!("; at {event:?}")))?;
        report.leaves.push(recorded.event.leaf.bytes());
        ledger.leaves.push(recorded.event.leaf.bytes());
        ledger.seqs.push(seq);
        ledger.events.push(recorded.event.clone());
    }
    Ok(())
}

/// The store gives back what it was given, and reading and writing it again changes nothing.
fn same_bytes(recorded: &Event, written: &Event) -> Checked {
    ensure!(recorded.leaf.bytes() == written.leaf.bytes(), "a leaf reads back with other bytes");
    ensure!(recorded.detail == written.detail, "an event's detail reads back differently");
    let (leaf, detail) = recorded.to_stored();
    let again =
        Event::from_stored(&leaf, &detail).map_err(|error| finding!("an event does not parse: {error}"))?;
    ensure!(again.to_stored() == (leaf, detail), "an event does not encode to the same bytes again");
    Ok(())
}

fn one(ledger: &mut Ledger, told: &Told<'_>, event: &Event, report: &mut Report) -> Checked {
    let leaf = &event.leaf;
    report.count(format!("event/{}", leaf.kind.as_str()));
    let (hash, place) = (Leaf::hash(&leaf.bytes()), ledger.events.len());
    ensure!(!ledger.gone.contains_key(&leaf.submission), "something happened to one that was forgotten");
    operations::noted(&mut ledger.deeds, event)?;
    let Some(known) = ledger.known.get_mut(&leaf.submission) else {
        let Change::Submitted(submitted) = &event.detail.change else {
            return Err("a submission's first event is not its submission".into());
        };
        ensure!(
            leaf.revision == 1 && leaf.previous.is_none() && leaf.from.is_none(),
            "a first event follows another"
        );
        ledger.law.book(&submitted.pipeline, submitted.version)?.check(event)?;
        ensure!(
            ledger.registry.decides(&submitted.pipeline, submitted.version, &leaf.definition),
            "a submission was decided by another definition than its version's newest"
        );
        let row = evolve(None, event);
        let mut documents = Documents::default();
        evolve_documents(&mut documents, event);
        let known = Known {
            row: row.clone(),
            moving: row.clone(),
            replayed: row,
            documents,
            visit: Visit::default(),
            history: vec![hash],
            places: vec![place],
            accepted: Vec::new(),
        };
        ledger.known.insert(leaf.submission, known);
        return Ok(());
    };
    let last = known.history.last().copied();
    ensure!(leaf.revision == known.history.len() as u64 + 1, "revisions do not count up by one");
    ensure!(leaf.previous == last, "an event does not name the leaf before it");
    ensure!(
        leaf.from.as_ref() == Some(&known.replayed.state),
        "an event leaves a state the submission is not in"
    );
    let book = ledger.law.of(&known.replayed)?;
    match &event.detail.change {
        Change::Migrated(to) => ledger.law.book(&known.replayed.pipeline, to.version)?.check(event)?,
        _ => book.check(event)?,
    }
    let version = match &event.detail.change {
        Change::Migrated(to) => to.version,
        _ => known.replayed.version,
    };
    ensure!(
        ledger.registry.decides(&known.replayed.pipeline, version, &leaf.definition),
        "an event was decided by another definition than its version's newest"
    );
    let moment = Moment { book, known, event, told };
    timing::check(&moment, report)?;
    approved::check(&moment)?;
    going_on::check(&moment)?;
    investigated::check(&moment)?;
    reviewed::check(&moment, report)?;
    clocks::missed(&moment, report)?;
    migrated::check(&moment, &ledger.law)?;
    let visit = known.visit.after(&moment, report)?;
    known.visit = visit;
    known.replayed = evolve(Some(known.replayed.clone()), event);
    known.moving = evolve(Some(known.moving.clone()), event);
    known.history.push(hash);
    known.places.push(place);
    if leaf.kind == Kind::Erased {
        known.documents = Documents::default();
    }
    evolve_documents(&mut known.documents, event);
    Ok(())
}
