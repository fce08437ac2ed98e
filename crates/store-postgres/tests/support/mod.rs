//! A schema of its own for each test, on the server `cargo xtask test` starts.

use std::sync::atomic::{AtomicU64, Ordering};

use store_postgres::Settings;
use tokio::runtime::Runtime;
use tokio_postgres::{Client, NoTls};

/// Returns the address of the server.
///
/// # Panics
/// Panics if nobody says: a test that cannot run has failed.
pub(crate) fn url() -> String {
    std::env::var("MILEPOST_TEST_POSTGRES")
        .expect("MILEPOST_TEST_POSTGRES names a PostgreSQL server: run the tests through `cargo xtask test`")
}

/// A schema nobody else has, for the tests of this process and of all others.
pub(crate) fn fresh() -> Settings {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let no = NEXT.fetch_add(1, Ordering::SeqCst);
    Settings::new(url()).schema(format!("test_{}_{no}", std::process::id()))
}

/// A plain connection in the schema of a store, for what only the database can say or do.
pub(crate) struct Session {
    pub(crate) client: Client,
    runtime: Runtime,
}

impl Session {
    pub(crate) fn open(settings: &Settings) -> Session {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("threads start");
        let client = runtime.block_on(async {
            let (client, connection) =
                tokio_postgres::connect(&settings.url, NoTls).await.expect("the server is there");
            drop(tokio::spawn(connection));
            let path = format!("SET search_path = \"{}\"", settings.schema);
            client.batch_execute(&path).await.expect("a schema can be set");
            client
        });
        Session { client, runtime }
    }

    pub(crate) fn run(&self, statements: &str) {
        self.runtime.block_on(self.client.batch_execute(statements)).expect("the statements are in order");
    }

    /// The first column of each row, as text.
    pub(crate) fn texts(&self, query: &str) -> Vec<String> {
        let messages = self.runtime.block_on(self.client.simple_query(query)).expect("the query is in order");
        let rows = messages.into_iter().filter_map(|message| match message {
            tokio_postgres::SimpleQueryMessage::Row(row) => Some(row.get(0).unwrap_or_default().to_owned()),
            _ => None,
        });
        rows.collect()
    }

    pub(crate) fn number(&self, query: &str) -> i64 {
        self.texts(query).first().expect("an answer").parse().expect("a number")
    }
}
