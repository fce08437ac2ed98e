//! Rows of an index table turned into the arrays a statement takes.

use tokio_postgres::types::ToSql;

use crate::error::Fault;
use crate::pipe::Step;
use crate::query::{Client, execute};

pub(super) type Column<'a> = Box<dyn ToSql + Sync + 'a>;

pub(super) fn column<'a, T: ToSql + Sync + 'a>(values: impl Iterator<Item = T>) -> Column<'a> {
    Box::new(values.collect::<Vec<T>>())
}

/// The fields of tuples, each as a column.
macro_rules! columns {
    ($rows:expr; $($field:tt),+) => {
        vec![$($crate::writing::columns::column($rows.iter().map(|row| row.$field.clone()))),+]
    };
}
pub(super) use columns;

/// A statement that writes whatever it writes.
pub(super) fn writes<'a>(client: &'a Client, query: &'static str, columns: Vec<Column<'a>>) -> Step<'a> {
    Box::pin(async move {
        let parameters: Vec<&(dyn ToSql + Sync)> = columns.iter().map(|column| &**column as _).collect();
        execute(client, query, &parameters).await.map(drop)
    })
}

/// A statement that writes so many rows, or the tables have parted.
pub(super) fn writes_all<'a>(
    client: &'a Client,
    query: &'static str,
    columns: Vec<Column<'a>>,
    count: usize,
) -> Step<'a> {
    Box::pin(async move {
        let parameters: Vec<&(dyn ToSql + Sync)> = columns.iter().map(|column| &**column as _).collect();
        match execute(client, query, &parameters).await? {
            written if written == count as u64 => Ok(()),
            written => {
                Err(Fault::corrupt(format!("an index lacks an entry: {written} of {count} were there")))
            }
        }
    })
}

/// Takes old entries out of a table and puts new ones in, in order, so that no two commits wait for each other.
pub(super) struct Table<'a, T> {
    pub(super) delete: &'static str,
    pub(super) insert: &'static str,
    pub(super) columns: fn(&[T]) -> Vec<Column<'a>>,
}

impl<'a, T: Ord> Table<'a, T> {
    pub(super) fn write(self, client: &'a Client, (old, new): (Vec<T>, Vec<T>), steps: &mut Vec<Step<'a>>) {
        let count = old.len();
        self.write_with(client, (old, new), steps, |query, columns| {
            writes_all(client, query, columns, count)
        });
    }

    /// The same for a table in which an old entry may be missing.
    pub(super) fn write_what_is_there(
        self,
        client: &'a Client,
        sides: (Vec<T>, Vec<T>),
        steps: &mut Vec<Step<'a>>,
    ) {
        self.write_with(client, sides, steps, |query, columns| writes(client, query, columns));
    }

    fn write_with(
        self,
        client: &'a Client,
        (mut old, mut new): (Vec<T>, Vec<T>),
        steps: &mut Vec<Step<'a>>,
        delete: impl FnOnce(&'static str, Vec<Column<'a>>) -> Step<'a>,
    ) {
        old.sort_unstable();
        new.sort_unstable();
        if !old.is_empty() {
            steps.push(delete(self.delete, (self.columns)(&old)));
        }
        if !new.is_empty() {
            steps.push(writes(client, self.insert, (self.columns)(&new)));
        }
    }
}
