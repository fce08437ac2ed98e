//! Rows are updated on their page, so that no index is written when they move. In a database of its own, where nobody
//! gathers statistics: a transaction of anybody else that is still open keeps old rows from being cleared away.

use crate::support;

use std::thread;

use model::Submission;
use store::{Changes, RowChange, Store, Take};
use store_conformance::sample::{Sample, id};
use store_postgres::{PostgresStore, Settings};
use support::Session;

#[test]
fn rows_are_updated_on_their_page() {
    let settings = support::fresh();
    let (database, everywhere) = (settings.schema.clone(), Session::open(&settings));
    everywhere.run(&format!("CREATE DATABASE {database}"));
    let (server, _) = settings.url.rsplit_once('/').unwrap();
    let settings = Settings { url: format!("{server}/{database}"), ..settings.clone() };
    let store = PostgresStore::open(&settings).unwrap();
    let session = Session::open(&settings);
    let tables = "SELECT relname FROM pg_class
                  WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace";
    for table in session.texts(tables) {
        session.run(&format!("ALTER TABLE {table} SET (autovacuum_enabled = off)"));
    }
    let ids: Vec<_> = (0..400).map(id).collect();
    let rows = (0..400).map(|n| Sample::row(n).ready("scan", 0).new_row()).collect();
    let mut new = Some(Changes { rows, ..Changes::default() });
    store.transact(&Take::nothing(), &mut |_| new.take().unwrap()).unwrap();
    for round in 0..50 {
        let take = Take { ids: ids.clone(), ..Take::nothing() };
        let mut decide = |taken: store::Taken| {
            let rows = taken.rows.into_values().map(|stored| {
                let after =
                    Submission { state: format!("S{}", round % 3).into(), ..Submission::clone(&stored.row) };
                RowChange::update(stored.row, after)
            });
            Changes { rows: rows.collect(), ..Changes::default() }
        };
        store.transact(&take, &mut decide).unwrap();
    }
    // Connections tell what they did when they end.
    drop(store);
    let counted = |column: &str| {
        session.number(&format!(
            "SELECT {column} FROM pg_stat_user_tables WHERE relname = 'submission' AND schemaname = current_schema()"
        ))
    };
    while counted("n_tup_upd") < 20_000 {
        thread::yield_now();
    }
    let hot = counted("n_tup_hot_upd");
    // A row leaves its page where a transaction of the sequencer still sees its older version, which is the more often the
    // busier the machine is; an index in the way would leave none.
    assert!(hot * 2 >= 20_000, "{hot} of 20000 stayed on their page");
    drop(session);
    everywhere.run(&format!("DROP DATABASE {database} WITH (FORCE)"));
}
