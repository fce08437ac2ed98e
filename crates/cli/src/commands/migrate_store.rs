use std::io::IsTerminal as _;
use std::path::Path;
use std::sync::Arc;

use clap::Args;
use engine::SystemClock;
use indicatif::{ProgressBar, ProgressStyle};
use model::{Millis, Time};
use serde_json::{Map, Value, json};
use store::transfer::{Move, Moved, Progress, Transfer};
use store::{Changes, Error, Store, Take};
use store_postgres::PostgresStore;
use store_sqlite::SqliteStore;

use crate::exit::{Exit, Stop};
use crate::output::{self, Format, say};
use crate::store_place::Place;

/// Records in a commit.
const CHUNK: usize = 1_000;
/// A server that was there this recently is taken to be running.
const RECENT: Millis = Millis::from_secs(30);

/// Move everything from one store into another, such as from a folder to PostgreSQL
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  milepost migrate-store sqlite:/var/lib/milepost postgres://milepost@db.example/milepost
  milepost migrate-store postgres://milepost@db.example/milepost sqlite:/var/lib/copy

Stop every server of both first. The source is only read; the target must be empty. A move that was cut off goes on where
it stopped when the same command is given again; until it has come to its end, no server can open the target. At the end
both sides are read again and compared.")]
pub(crate) struct MigrateStore {
    /// Store to move: sqlite:FOLDER or postgres://user:password@host:5432/database
    #[arg(value_name = "FROM")]
    from: String,

    /// Store to move to: written alike, and empty
    #[arg(value_name = "TO")]
    to: String,
}

impl MigrateStore {
    pub(crate) fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let (from, to) = (Place::read(&self.from)?, Place::read(&self.to)?);
        let source = open_source(&from).map_err(|error| stop(&from, "the source", error))?;
        let target = open_target(&to).map_err(|error| stop(&to, "the target", error))?;
        let bar = bar();
        let mut progress = |progress: Progress| {
            bar.set_length(progress.total);
            bar.set_position(progress.done);
            bar.set_message(progress.part.as_str());
            Ok(())
        };
        let moving = Move { source: &*source, target: &*target, chunk: CHUNK };
        let moved = moving.run(&mut progress).map_err(|error| stop(&to, "the target", error.into()))?;
        bar.finish_and_clear();
        match format {
            Format::Json => output::print_json(&as_json(&moved))?,
            Format::Table => output::print(&told(&moved))?,
        }
        if std::io::stderr().is_terminal() {
            say!("both sides are the same; start servers over the target, and none over the source");
        }
        Ok(Exit::Fine)
    }
}

fn bar() -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:32} {human_pos}/{human_len} {msg} {elapsed} (eta {eta})");
    ProgressBar::new(0).with_style(style.expect("the template is in order"))
}

fn told(moved: &Moved) -> String {
    let mut table = output::Table::new(["PART", "RECORDS"]);
    for (part, count) in &moved.counts {
        table.row([part.as_str().to_owned(), count.to_string()]);
    }
    format!("{}\ndigest of all events: {}\n", table.render(), moved.events)
}

fn as_json(moved: &Moved) -> Value {
    let counts = moved.counts.iter().map(|(part, count)| (part.as_str().to_owned(), json!(count)));
    json!({ "records": counts.collect::<Map<_, _>>(), "events_digest": moved.events.to_string() })
}

/// The reason why a store cannot be used, and how that ends.
enum Trouble {
    Missing(String),
    Busy(String),
    Store(Error),
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Trouble::Store(error)
    }
}

fn open_source(place: &Place) -> Result<Box<dyn Transfer>, Trouble> {
    match place {
        Place::Folder(folder) if !is_store(folder) => {
            Err(Trouble::Missing(format!("there is no store in the folder {}", folder.display())))
        }
        Place::Folder(folder) => Ok(Box::new(SqliteStore::open(folder, Arc::new(SystemClock::new()))?)),
        Place::Postgres(settings) => {
            let store = PostgresStore::open(settings)?;
            check_quiet(&store)?;
            Ok(Box::new(store))
        }
    }
}

fn open_target(place: &Place) -> Result<Box<dyn Transfer>, Trouble> {
    Ok(match place {
        Place::Folder(folder) => Box::new(SqliteStore::open_to_move(folder, Arc::new(SystemClock::new()))?),
        Place::Postgres(settings) => Box::new(PostgresStore::open_to_move(settings)?),
    })
}

fn stop(place: &Place, what: &str, trouble: Trouble) -> Stop {
    match trouble {
        Trouble::Missing(message) => Stop::new(Exit::NotFound, message),
        Trouble::Busy(message) | Trouble::Store(Error::Conflict(message)) => {
            Stop::new(Exit::Refused, format!("{what} cannot be used: {message}"))
        }
        Trouble::Store(Error::Unavailable { message, .. }) => {
            let exit = match place {
                Place::Folder(_) => Exit::Refused,
                Place::Postgres(_) => Exit::Unreachable,
            };
            Stop::new(exit, format!("{what} cannot be used: {message}"))
                .next("see to it and give the same command again: it goes on where it stopped")
        }
        Trouble::Store(Error::Corrupt(message)) => Stop::new(Exit::Negative, format!("{what}: {message}")),
    }
}

fn is_store(folder: &Path) -> bool {
    folder.join("milepost.db").is_file()
}

/// A folder is locked by whoever uses it; over PostgreSQL servers say that they are there.
fn check_quiet(store: &PostgresStore) -> Result<(), Trouble> {
    let mut now = Time::EPOCH;
    store.transact(&Take::nothing(), &mut |taken| {
        now = taken.now;
        Changes::default()
    })?;
    let servers = engine::core::servers(store)?;
    match servers.iter().find(|server| server.seen_at.plus(RECENT) > now) {
        None => Ok(()),
        Some(server) => Err(Trouble::Busy(format!(
            "the server at {} was there a moment ago; stop it and wait half a minute",
            server.address
        ))),
    }
}
