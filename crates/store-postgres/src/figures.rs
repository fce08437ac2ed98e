//! Figures that are kept, and lists that are short.

use deadpool_postgres::Pool;
use model::Name;
use store::{DeadKey, LimitKey, SlotEntry};

use crate::codec::{self, limit, text, unsigned};
use crate::error::Result;
use crate::query::{Parameters, rows};
use crate::sql;
use crate::writer::Loan;

async fn read(pool: &Pool, query: &str, parameters: Parameters<'_>) -> Result<Vec<tokio_postgres::Row>> {
    let loan = Loan::of(pool).await?;
    let found = rows(loan.client(), query, parameters).await?;
    loan.give_back();
    Ok(found)
}

pub(crate) async fn dead(pool: &Pool, after: Option<&DeadKey>, most: usize) -> Result<Vec<(DeadKey, u64)>> {
    let (pipeline, state, code) = after.map_or(("", "", ""), |key| (&key.pipeline, &key.state, &key.code));
    let parameters: Parameters<'_> = &[&text(pipeline), &text(state), &text(code), &limit(most)];
    let found = read(pool, sql::DEAD_PAGE, parameters).await?;
    let count = |row: &tokio_postgres::Row| {
        let key = DeadKey {
            pipeline: codec::name(row.try_get(0)?),
            state: codec::name(row.try_get(1)?),
            code: codec::name(row.try_get(2)?),
        };
        Ok((key, unsigned(row.try_get(3)?)?))
    };
    found.iter().map(count).collect()
}

pub(crate) async fn slots(pool: &Pool, after: Option<&SlotEntry>, most: usize) -> Result<Vec<SlotEntry>> {
    let (pipeline, label, value, no) = after.map_or(("", "", "", -1), |slot| {
        (&*slot.limit.pipeline, &*slot.limit.label, &*slot.limit.value, slot.no.cast_signed())
    });
    let parameters: Parameters<'_> = &[&text(pipeline), &text(label), &text(value), &no, &limit(most)];
    let found = read(pool, sql::SLOT_PAGE, parameters).await?;
    let slot = |row: &tokio_postgres::Row| {
        let limit = LimitKey {
            pipeline: codec::name(row.try_get(0)?),
            label: codec::name(row.try_get(1)?),
            value: codec::name(row.try_get(2)?),
        };
        Ok(SlotEntry { limit, no: row.try_get::<_, i32>(3)?.cast_unsigned() })
    };
    found.iter().map(slot).collect()
}

pub(crate) async fn lanes(pool: &Pool, pipeline: &str, after: &str, most: usize) -> Result<Vec<Name>> {
    let parameters: Parameters<'_> = &[&text(pipeline), &text(after), &limit(most)];
    let found = read(pool, sql::LANE_NEXT, parameters).await?;
    found.iter().map(|row| Ok(codec::name(row.try_get(0)?))).collect()
}

pub(crate) async fn bytes(pool: &Pool) -> Result<Option<u64>> {
    let found = read(pool, sql::STORE_BYTES, &[]).await?;
    found.first().map(|row| unsigned(row.try_get(0)?)).transpose()
}
