//! Figures that are kept, and lists that are short.

use deadpool_postgres::Pool;
use model::{Name, Time};
use store::{DeadKey, LimitKey, SlotEntry};

use crate::codec::{self, limit, text, unsigned};
use crate::error::Result;
use crate::query::{Client, Parameters, execute, rows};
use crate::sql;
use crate::writer::Loan;

async fn read(pool: &Pool, query: &str, parameters: Parameters<'_>) -> Result<Vec<tokio_postgres::Row>> {
    let loan = Loan::of(pool).await?;
    let found = rows(loan.client(), query, parameters).await?;
    loan.give_back();
    Ok(found)
}

pub(crate) async fn dead(pool: &Pool, after: Option<&DeadKey>, most: usize) -> Result<Vec<(DeadKey, u64)>> {
    let (pipeline, state, code, pattern) =
        after.map_or(("", "", "", ""), |key| (&*key.pipeline, &*key.state, &*key.code, &*key.pattern));
    let parameters: Parameters<'_> =
        &[&text(pipeline), &text(state), &text(code), &text(pattern), &limit(most)];
    let found = read(pool, sql::DEAD_PAGE, parameters).await?;
    let count = |row: &tokio_postgres::Row| {
        let key = DeadKey {
            pipeline: codec::name(row.try_get(0)?),
            state: codec::name(row.try_get(1)?),
            code: codec::name(row.try_get(2)?),
            pattern: codec::name(row.try_get(3)?),
        };
        Ok((key, unsigned(row.try_get(4)?)?))
    };
    found.iter().map(count).collect()
}

/// Clears away what is kept of kinds of dead letters that are gone. A message is counted once and mostly never again.
pub(crate) async fn clear_dead(client: &Client, keys: &[DeadKey]) -> Result<()> {
    let column = |part: fn(&DeadKey) -> &Name| -> Vec<String> {
        keys.iter().map(|key| text(part(key)).into_owned()).collect()
    };
    let (pipelines, states) = (column(|key| &key.pipeline), column(|key| &key.state));
    let (codes, patterns) = (column(|key| &key.code), column(|key| &key.pattern));
    execute(client, sql::DEAD_CLEAR, &[&pipelines, &states, &codes, &patterns]).await?;
    Ok(())
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

pub(crate) async fn backed_up_at(pool: &Pool) -> Result<Option<Time>> {
    let found = read(pool, sql::BACKUP_LAST, &[]).await?;
    found.first().map(|row| Ok(Time::from_millis(row.try_get(0)?))).transpose()
}
