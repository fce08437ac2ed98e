//! Giving: pages of every part, by key.

use deadpool_postgres::Pool;
use store::transfer::{Cell, Part, Row};
use tokio_postgres::types::ToSql;

use super::tables::{columns, labels_to_json, source};
use crate::codec::{limit, unsigned};
use crate::error::{Fault, Result};
use crate::query::rows;
use crate::writer::Loan;

/// Documents are large: a page has as many as fit.
const DOCUMENTS: usize = 16;

fn keys(part: Part) -> Vec<&'static str> {
    columns(part)[..part.key_len()].iter().map(|(name, _)| *name).collect()
}

fn names(part: Part) -> String {
    columns(part).iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}

pub(super) async fn count(pool: &Pool, part: Part) -> Result<u64> {
    let loan = Loan::of(pool).await?;
    let found = rows(loan.client(), &format!("SELECT count(*) FROM {}", part.as_str()), &[]).await?;
    loan.give_back();
    let row = found.first().ok_or_else(|| Fault::corrupt("nothing was counted"))?;
    unsigned(row.try_get(0)?)
}

pub(super) async fn retired(pool: &Pool) -> Result<u64> {
    let loan = Loan::of(pool).await?;
    let found = rows(loan.client(), "SELECT value FROM meta WHERE name = 'retired'", &[]).await?;
    loan.give_back();
    let row =
        found.first().ok_or_else(|| Fault::corrupt("the database does not say where its events begin"))?;
    unsigned(row.try_get(0)?)
}

pub(super) async fn page(pool: &Pool, part: Part, after: &[Cell], most: usize) -> Result<Vec<Row>> {
    let most = if matches!(part, Part::Document | Part::Inbox) { most.min(DOCUMENTS) } else { most };
    let query = match part {
        Part::Event | Part::Submission | Part::Tip => source(part).to_owned(),
        _ => {
            let (key, names, source) = (keys(part).join(", "), names(part), source(part));
            let marks: Vec<_> = (1..=part.key_len()).map(|no| format!("${no}")).collect();
            let (marks, last) = (marks.join(", "), part.key_len() + 1);
            format!("SELECT {names} FROM {source} WHERE ({key}) > ({marks}) ORDER BY {key} LIMIT ${last}")
        }
    };
    let loan = Loan::of(pool).await?;
    let after: Vec<_> =
        after.iter().zip(columns(part)).map(|(cell, (_, kind))| kind.parameter(cell)).collect();
    let most = limit(most);
    let mut parameters: Vec<&(dyn ToSql + Sync)> = after.iter().map(|cell| &**cell as _).collect();
    parameters.push(&most);
    let found = rows(loan.client(), &query, &parameters).await?;
    loan.give_back();
    let records = found.iter().map(|row| {
        let cells = columns(part).iter().enumerate().map(|(no, (_, kind))| kind.cell(row, no));
        let mut record = cells.collect::<Result<Row>>()?;
        if part == Part::Event {
            record[5] = labels_to_json(std::mem::replace(&mut record[5], Cell::Null))?;
        }
        Ok(record)
    });
    records.collect()
}

pub(super) async fn last(pool: &Pool, part: Part) -> Result<Option<Vec<Cell>>> {
    let query = match part {
        Part::Event => "SELECT p.first_seq + e.no FROM position p JOIN event e ON e.batch = p.batch \
                        ORDER BY p.last_seq DESC, e.no DESC LIMIT 1"
            .to_owned(),
        _ => {
            let order: Vec<_> = keys(part).iter().map(|key| format!("{key} DESC")).collect();
            let (key, order) = (keys(part).join(", "), order.join(", "));
            format!("SELECT {key} FROM {} ORDER BY {order} LIMIT 1", part.as_str())
        }
    };
    let loan = Loan::of(pool).await?;
    let found = rows(loan.client(), &query, &[]).await?;
    loan.give_back();
    let Some(row) = found.first() else { return Ok(None) };
    let key = columns(part)[..part.key_len()].iter().enumerate();
    key.map(|(no, (_, kind))| kind.cell(row, no)).collect::<Result<_>>().map(Some)
}
