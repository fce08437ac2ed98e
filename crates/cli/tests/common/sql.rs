//! A plain connection to PostgreSQL, for what only the database can say or do.

use tokio::runtime::Runtime;
use tokio_postgres::{Client, NoTls, SimpleQueryMessage};

pub(crate) struct Session {
    client: Client,
    runtime: Runtime,
}

impl Session {
    pub(crate) fn open(url: &str) -> Session {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.expect("threads start");
        let client = runtime.block_on(async {
            let (client, connection) =
                tokio_postgres::connect(url, NoTls).await.expect("the database is there");
            drop(tokio::spawn(connection));
            client
        });
        Session { client, runtime }
    }

    pub(crate) fn run(&self, statements: &str) {
        self.runtime.block_on(self.client.batch_execute(statements)).expect("the statements are in order");
    }

    /// The first column of each row.
    pub(crate) fn texts(&self, query: &str) -> Vec<String> {
        let messages = self.runtime.block_on(self.client.simple_query(query)).expect("the query is in order");
        let rows = messages.into_iter().filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(row.get(0).unwrap_or_default().to_owned()),
            _ => None,
        });
        rows.collect()
    }

    pub(crate) fn number(&self, query: &str) -> i64 {
        self.texts(query).first().expect("an answer").parse().expect("a number")
    }
}
