//! The place of a store: a folder of this machine, or a PostgreSQL that several servers share.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use engine::SystemClock;
use store::Store;
use store_postgres::{PostgresStore, Settings};
use store_sqlite::SqliteStore;
use store_sqlite::private::Exposed;

use crate::exit::{Exit, Stop};

#[derive(Debug, Clone)]
pub(crate) enum Place {
    Folder(PathBuf),
    Postgres(Settings),
}

impl Place {
    /// Reads `sqlite:PATH` or `postgres://...`. Nothing here repeats what was given: it may have a password in it.
    pub(crate) fn read(text: &str) -> Result<Place, Stop> {
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            let settings = Settings::parse(text);
            return settings.map(Place::Postgres).map_err(|error| Stop::usage(words(error)));
        }
        match text.strip_prefix("sqlite:") {
            Some("") => Err(Stop::usage("`sqlite:` is followed by the folder that holds the data")),
            Some(folder) => Ok(Place::Folder(folder.into())),
            None => Err(Stop::usage(
                "a store is `sqlite:FOLDER` or `postgres://user:password@host:5432/database`",
            )),
        }
    }

    /// Returns the folder of what this machine keeps besides the store.
    pub(crate) fn beneath(&self) -> PathBuf {
        match self {
            Place::Folder(folder) => folder.clone(),
            Place::Postgres(_) => "milepost-data".into(),
        }
    }

    pub(crate) fn open(&self) -> anyhow::Result<Arc<dyn Store>> {
        match self {
            Place::Folder(folder) => {
                close(folder)?;
                let store = SqliteStore::open(folder, Arc::new(SystemClock::new()))
                    .with_context(|| format!("cannot open the data folder {}", folder.display()))?;
                Ok(Arc::new(store))
            }
            Place::Postgres(settings) => {
                let opened = PostgresStore::open(settings).map_err(|error| {
                    let exit = match error {
                        store::Error::Corrupt(_) => Exit::Negative,
                        _ => Exit::Unreachable,
                    };
                    Stop::new(exit, format!("cannot open the store ({}): {}", settings.place(), words(error)))
                });
                Ok(Arc::new(opened?))
            }
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Folder(folder) => write!(f, "the folder {}", folder.display()),
            Place::Postgres(settings) => f.write_str(&settings.place()),
        }
    }
}

/// Takes the data from everybody else on the machine. What they could read until now, somebody may have read.
fn close(folder: &Path) -> Result<(), Stop> {
    let closed = store_sqlite::private::close(folder);
    closed.map_err(|error| Stop::new(Exit::Refused, words(error)))?.iter().for_each(warn);
    Ok(())
}

/// Takes a file outside the data folder from everybody else on the machine.
pub(crate) fn close_file(path: &Path) -> Result<(), Stop> {
    let closed = store_sqlite::private::close_file(path);
    closed.map_err(|error| Stop::new(Exit::Refused, words(error)))?.iter().for_each(warn);
    Ok(())
}

fn warn(open: &Exposed) {
    let (path, mode) = (open.path.display(), open.mode);
    tracing::warn!("others on this machine could use {path} (mode {mode:o}); only its owner can now");
}

/// Returns what happened, without the kind of error, which the reader can do nothing with.
fn words(error: store::Error) -> String {
    match error {
        store::Error::Conflict(message)
        | store::Error::Unavailable { message, .. }
        | store::Error::Corrupt(message) => message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_store_is_refused_without_being_repeated() {
        for text in
            ["", "sqlite:", "hunter2", "mysql://ada:hunter2@host/db", "postgres://ada:hunter2@host:x/db"]
        {
            let stop = Place::read(text).expect_err(text);
            assert_eq!(stop.exit, Exit::Usage);
            assert!(!stop.message.contains("hunter2"), "{}", stop.message);
        }
    }

    #[test]
    fn place_is_shown_without_its_password() {
        let place = Place::read("postgresql://ada:hunter2@db:6432/app?schema=walk").expect("an address");
        assert_eq!(place.to_string(), "PostgreSQL at db:6432, database app, schema walk");
        let folder = Place::read("sqlite:/var/lib/milepost").expect("an address");
        assert_eq!(folder.to_string(), "the folder /var/lib/milepost");
    }
}
