//! Service levels: counted from where they count from, missed once, and never by one that has ended.

use model::event::Change;
use model::pipeline::{Sla, Stretch};
use model::submission::SlaClock;
use model::{Submission, Time};
use store::{Late, Store};

use super::law::Book;
use super::ledger::Ledger;
use super::timing::Moment;
use super::{Checked, ensure};
use crate::finding::finding;
use crate::report::Report;

/// The event that says what was missed.
pub(super) fn missed(moment: &Moment<'_>, report: &mut Report) -> Checked {
    let Change::Late { clocks } = &moment.event.detail.change else { return Ok(()) };
    let row = moment.stood();
    ensure!(!row.status.is_final(), "one that has ended was found late");
    ensure!(!clocks.is_empty(), "something was late, and nothing is named");
    for leg in clocks {
        let clock = row.clocks.iter().find(|clock| clock.leg == *leg);
        let clock = clock.ok_or_else(|| finding!("a clock was missed that does not run: {leg:?}"))?;
        ensure!(!clock.late, "{leg:?} was missed twice");
        ensure!(clock.due_at <= moment.event.leaf.at, "{leg:?} was missed before it was due");
        report.count(if leg.is_some() { "late/leg" } else { "late/state" });
    }
    Ok(())
}

/// Clocks run as the pipeline says, and in no end.
pub(super) fn fit(book: &Book, row: &Submission) -> Checked {
    ensure!(row.clocks.is_empty() || !row.status.is_final(), "a clock runs after the end: {row:?}");
    let state = book.pipeline.state(&row.state).ok_or("it is in a state that does not exist")?;
    let own = row.clocks.iter().filter(|clock| clock.leg.is_none()).count();
    ensure!(own == usize::from(state.sla.is_some()), "{} runs {own} clocks of its state", row.id);
    for clock in &row.clocks {
        let Some(leg) = &clock.leg else {
            from_entry(row, clock, state.sla.as_ref())?;
            continue;
        };
        let rule = book.pipeline.slas.get(leg).ok_or_else(|| finding!("no leg is called {leg}"))?;
        let over = rule.to.contains(&row.state) || rule.not_via.contains(&row.state);
        ensure!(!over, "the leg {leg} of {} runs on after its end", row.id);
    }
    Ok(())
}

fn from_entry(row: &Submission, clock: &SlaClock, sla: Option<&Sla>) -> Checked {
    let Some(Stretch::Time(span)) = sla.and_then(|sla| sla.target.or(sla.p95)) else { return Ok(()) };
    let usual = row.entered_at.plus(span);
    // That of a first state counts from when it may begin.
    let fits = clock.due_at == usual || row.from.is_none() && clock.due_at > usual;
    ensure!(fits, "{} is due at {}, and it came at {}", row.id, clock.due_at, row.entered_at);
    Ok(())
}

/// The list of those that are late is a recount.
pub(super) fn listed(ledger: &Ledger, store: &dyn Store, now: Time) -> Checked {
    const PAGE: usize = 7;
    for pipeline in ledger.law.names() {
        let due = |row: &Submission| row.clocks.iter().map(|clock| clock.due_at).min();
        let of_it = ledger.rows().filter(|row| row.pipeline == *pipeline);
        let mut known: Vec<_> = of_it.filter_map(|row| Some((due(row)?, row.id))).collect();
        known.retain(|(at, _)| *at <= now);
        known.sort_unstable();
        let (mut listed, mut after) = (Vec::new(), None);
        loop {
            let late = Late { pipeline: pipeline.clone(), until: now, after, limit: PAGE };
            let page = store.late(&late).map_err(|error| finding!("the store cannot be read: {error}"))?;
            listed.extend(page.iter().filter_map(|row| Some((due(row)?, row.id))));
            after = listed.last().copied();
            if page.len() < PAGE {
                break;
            }
        }
        ensure!(listed == known, "late in `{pipeline}` are\n{listed:?}\nand should be\n{known:?}");
    }
    Ok(())
}
