//! Whatever is open says why it is where it is, and what it says is so.

use model::submission::Wait;
use model::why::{Held, Holder, Line, Surroundings, why};
use model::{Submission, Time};
use store::entries::{unheld_key, unheld_lane};
use store::{Entries, Store};

use super::ledger::Ledger;
use super::{Checked, ensure};

pub(super) fn check(ledger: &Ledger, store: &dyn Store, now: Time) -> Checked {
    for known in ledger.known.values().filter(|known| !known.row.status.is_final()) {
        let row = &known.row;
        let around = surroundings(ledger, store, row, now)?;
        let pipeline = &ledger.law.of(row)?.pipeline;
        let reasons = why(pipeline, row, Some(&known.documents), &around);
        let told = |code: &str| reasons.iter().find(|reason| reason.code == code);
        ensure!(
            !reasons.is_empty() && reasons.iter().all(|reason| !reason.sentence.is_empty()),
            "nobody can say why {} waits: {row:?}",
            row.id
        );
        let detail =
            |code: &str, name: &str| told(code).is_some_and(|reason| !reason.details[name].is_null());
        match row.wait {
            Wait::Line if row.parked.is_none() => {
                ensure!(detail("line", "position"), "{} is in line and nobody says where", row.id);
            }
            Wait::Key => ensure!(told("key").is_some(), "{} waits for its key and does not say so", row.id),
            _ => {}
        }
        let stoppable =
            matches!(row.wait, Wait::Worker { .. } | Wait::Delay { .. } | Wait::Clock { .. } | Wait::Line);
        let said = told("held").or(told("parked")).is_some();
        ensure!(row.parked.is_none() || !stoppable || said, "{} is parked and does not say so", row.id);
    }
    Ok(())
}

fn surroundings(
    ledger: &Ledger,
    store: &dyn Store,
    row: &Submission,
    now: Time,
) -> Result<Surroundings, String> {
    let holds = ledger.holds.values().filter(|hold| hold.covers(row)).map(|hold| Held {
        id: hold.id.clone(),
        reason: hold.reason.clone(),
        owner: hold.owner.clone(),
        expires_at: hold.expires_at,
    });
    let line = match unheld_lane(row).filter(|_| Entries::of(row).lane.is_some()) {
        None => None,
        Some(lane) => {
            let line = store.line(&lane, usize::MAX).map_err(|error| error.to_string())?;
            let position = line.waiting.iter().position(|id| *id == row.id).map(|index| index + 1);
            let holder = line.holder.and_then(|id| ledger.row(id)).map(|holder| Holder {
                id: holder.id,
                state: holder.state.clone(),
                status: holder.status,
            });
            Some(Line { position, holder })
        }
    };
    let key_holder = unheld_key(row).and_then(|key| ledger.keys.get(&key).copied());
    Ok(Surroundings { now, holds: holds.collect(), line, key_holder, polled_ago: None })
}
