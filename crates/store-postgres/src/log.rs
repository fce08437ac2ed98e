//! Reading for the audit log: leaves in sequence, acts, tiles of hashes.

use deadpool_postgres::Pool;
use model::SubmissionId;
use store::LeafPage;

use crate::codec::{signed, unsigned};
use crate::error::Result;
use crate::query::rows;
use crate::reading::placed;
use crate::sql;
use crate::writer::Loan;

pub(crate) async fn leaves(pool: &Pool, after: u64, most: usize) -> Result<LeafPage> {
    let (snapshot, bounds) = placed(pool, after).await?;
    let from = after.max(bounds.retired);
    let to = bounds.last.min(from.saturating_add(most as u64));
    let mut page = LeafPage { first: from + 1, leaves: Vec::new() };
    if from < to {
        let found = rows(snapshot.client(), sql::EVENT_LEAVES, &[&signed(from), &signed(to)]).await?;
        page.leaves = found.iter().map(|row| Ok(row.try_get(0)?)).collect::<Result<_>>()?;
    }
    snapshot.end().await?;
    Ok(page)
}

pub(crate) async fn act(pool: &Pool, series: SubmissionId, revision: u64) -> Result<Option<(u64, Vec<u8>)>> {
    // An act may be the newest of all.
    let (snapshot, _) = placed(pool, u64::MAX).await?;
    let found = rows(snapshot.client(), sql::EVENT_ACT, &[&series.0, &signed(revision)]).await?;
    let act = match found.first() {
        None => None,
        Some(row) => Some((unsigned(row.try_get(0)?)?, row.try_get(1)?)),
    };
    snapshot.end().await?;
    Ok(act)
}

pub(crate) async fn tile(pool: &Pool, level: u8, index: u64) -> Result<Option<Vec<u8>>> {
    let loan = Loan::of(pool).await?;
    let found = rows(loan.client(), sql::TILE_GET, &[&i64::from(level), &signed(index)]).await?;
    let hashes = found.first().map(|row| row.try_get(0)).transpose()?;
    loan.give_back();
    Ok(hashes)
}
