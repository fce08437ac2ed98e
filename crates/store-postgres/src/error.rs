//! The database's errors, and their meaning to the engine: try again, wait, or stop.

use std::error::Error as _;
use std::time::Duration;

use deadpool_postgres::PoolError;
use store::Error;
use tokio_postgres::error::{DbError, Severity, SqlState};

pub(crate) type Result<T, E = Fault> = std::result::Result<T, E>;

/// Anything that can go wrong in here, before it is known what was being done.
#[derive(Debug)]
pub(crate) enum Fault {
    Postgres(tokio_postgres::Error),
    Pool(PoolError),
    Conflict(String),
    Corrupt(String),
    Unavailable(String),
    /// No answer within so much.
    Silent(Duration),
}

impl From<tokio_postgres::Error> for Fault {
    fn from(error: tokio_postgres::Error) -> Self {
        Fault::Postgres(error)
    }
}

impl From<PoolError> for Fault {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Backend(error) => Fault::Postgres(error),
            other => Fault::Pool(other),
        }
    }
}

impl Fault {
    pub(crate) fn corrupt(message: impl Into<String>) -> Self {
        Fault::Corrupt(message.into())
    }

    /// The meaning of a failure that leaves the database as it was: a read, or a write that has not been committed.
    pub(crate) fn before_commit(self) -> Error {
        match self {
            Fault::Conflict(message) => Error::Conflict(message),
            Fault::Corrupt(message) => Error::Corrupt(message),
            Fault::Unavailable(message) => Error::unavailable(message),
            Fault::Silent(patience) => Error::unavailable(silent(patience)),
            Fault::Pool(PoolError::Timeout(_)) => Error::unavailable(
                "every connection to PostgreSQL is busy, or none could be made in time; check the server",
            ),
            Fault::Pool(error) => Error::unavailable(format!("no connection to PostgreSQL: {error}")),
            Fault::Postgres(error) => meaning(&error),
        }
    }

    /// The meaning of a failure once the commit was sent. After an error the server says that nothing was committed, and so
    /// it does by ending a connection whose transaction stood idle; of a connection lost in any other way, its own shutdown
    /// included, nobody here can know.
    pub(crate) fn while_committing(self) -> Error {
        match self {
            Fault::Postgres(error) if !is_refused(&error) && !stood_idle(&error) => Error::Unavailable {
                message: format!("the connection was lost while committing: {}", words(&error)),
                outcome_unknown: true,
            },
            Fault::Silent(patience) => {
                Error::Unavailable { message: silent(patience), outcome_unknown: true }
            }
            other => other.before_commit(),
        }
    }
}

fn silent(patience: Duration) -> String {
    format!("PostgreSQL has not answered for {} s", patience.as_secs())
}

impl Fault {
    /// Tells whether the server at the other end only reads, as a demoted one does: the next connection may lead to
    /// the one that writes.
    pub(crate) fn is_by_a_reader(&self) -> bool {
        matches!(self, Fault::Postgres(error) if error.code() == Some(&SqlState::READ_ONLY_SQL_TRANSACTION))
    }
}

/// Tells whether the server refused a statement and goes on: then the transaction is rolled back.
fn is_refused(error: &tokio_postgres::Error) -> bool {
    error.as_db_error().is_some_and(|answer| answer.parsed_severity() == Some(Severity::Error))
}

/// Tells whether the server ended the connection because it had waited too long for a statement within a transaction:
/// the commit never reached the server.
fn stood_idle(error: &tokio_postgres::Error) -> bool {
    error.code() == Some(&SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT)
}

/// The error with its causes: on its own it only says which layer failed.
fn words(error: &tokio_postgres::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

fn meaning(error: &tokio_postgres::Error) -> Error {
    match error.as_db_error() {
        Some(answer) => answered(answer),
        // Lost or never there; or a value that does not have the type it was written with, which no store wrote.
        None if error.is_closed() || error.source().is_some_and(|cause| cause.is::<std::io::Error>()) => {
            Error::unavailable(format!("the connection to PostgreSQL was lost: {}", words(error)))
        }
        None if error.to_string().contains("serializing") => {
            Error::Corrupt(format!("a stored value cannot be read: {}", words(error)))
        }
        None => Error::unavailable(format!("PostgreSQL cannot be reached: {}", words(error))),
    }
}

/// The first two characters of a code are its class.
fn answered(answer: &DbError) -> Error {
    let code = answer.code();
    let conflicts = [
        SqlState::UNIQUE_VIOLATION,
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::T_R_DEADLOCK_DETECTED,
        SqlState::LOCK_NOT_AVAILABLE,
    ];
    if conflicts.contains(code) {
        return Error::Conflict(format!("another commit was first: {}", answer.message()));
    }
    if *code == SqlState::INSUFFICIENT_PRIVILEGE {
        return Error::unavailable(format!("PostgreSQL refuses access; check the user's rights: {answer}"));
    }
    if code.code().starts_with("28") {
        return Error::unavailable(format!(
            "PostgreSQL does not let this user in; check user, password and pg_hba.conf: {answer}"
        ));
    }
    if *code == SqlState::UNDEFINED_DATABASE {
        return Error::unavailable(format!("PostgreSQL has no such database; create it: {answer}"));
    }
    if *code == SqlState::DISK_FULL {
        return Error::unavailable(format!(
            "the disk of PostgreSQL is full; free some and writes go on: {answer}"
        ));
    }
    match &code.code()[..2] {
        // Connection, database name, resources, limits, state, operator, system, read-only.
        "08" | "3D" | "53" | "54" | "55" | "57" | "58" | "25" | "0A" => {
            Error::unavailable(format!("PostgreSQL cannot do it now: {answer}"))
        }
        _ => Error::Corrupt(format!("PostgreSQL answered {}: {answer}", code.code())),
    }
}
