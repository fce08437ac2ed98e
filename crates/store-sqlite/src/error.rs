//! SQLite's errors, and their meaning to the engine: try again, wait, or stop.

use rusqlite::ErrorCode;
use rusqlite::ffi;
use store::Error;

pub(crate) type Result<T, E = Fault> = std::result::Result<T, E>;

/// Anything that can go wrong in here, before it is known what was being done.
#[derive(Debug)]
pub(crate) enum Fault {
    Sqlite(rusqlite::Error),
    Conflict(String),
    Corrupt(String),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Fault::Sqlite(error)
    }
}

impl Fault {
    pub(crate) fn corrupt(message: impl Into<String>) -> Self {
        Fault::Corrupt(message.into())
    }

    /// The meaning of a failure that leaves the file as it was: a read, or a write that has not been committed.
    pub(crate) fn before_commit(self) -> Error {
        match self {
            Fault::Conflict(message) => Error::Conflict(message),
            Fault::Corrupt(message) => Error::Corrupt(message),
            Fault::Sqlite(error) => meaning(&error),
        }
    }

    /// The meaning of a failure while pages went to the disk. After a failed fsync the kernel may have dropped them
    /// and will not say so again: only a restart, which reads what is there, is safe.
    pub(crate) fn while_syncing(self) -> Error {
        match self {
            Fault::Sqlite(error) if is_io(&error) => Error::Corrupt(format!(
                "a write may not have reached the disk; check it and restart: {error}"
            )),
            other => other.before_commit(),
        }
    }
}

fn is_io(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::SystemIoFailure)
}

fn meaning(error: &rusqlite::Error) -> Error {
    let rusqlite::Error::SqliteFailure(code, _) = error else {
        // A column of another type, a number out of range: nothing this store writes.
        return Error::Corrupt(format!("a stored value cannot be read: {error}"));
    };
    match (code.code, code.extended_code) {
        (_, ffi::SQLITE_CONSTRAINT_PRIMARYKEY | ffi::SQLITE_CONSTRAINT_UNIQUE) => {
            Error::Conflict(format!("another submission is there already: {error}"))
        }
        (ErrorCode::DiskFull, _) => {
            Error::unavailable(format!("no space for the data folder; free some and writes go on: {error}"))
        }
        (ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen, _) => {
            Error::unavailable(format!("the data folder cannot be written; check its permissions: {error}"))
        }
        (ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed, _) => {
            Error::unavailable(format!("another process keeps the data folder's database locked: {error}"))
        }
        (ErrorCode::SystemIoFailure, _) => {
            Error::unavailable(format!("the data folder's disk gave an error; check it: {error}"))
        }
        (ErrorCode::OutOfMemory | ErrorCode::OperationInterrupted | ErrorCode::TooBig, _) => {
            Error::unavailable(error.to_string())
        }
        (ErrorCode::NotADatabase, _) => Error::Corrupt(format!(
            "the data folder's file is not a database; choose another folder: {error}"
        )),
        (ErrorCode::DatabaseCorrupt, _) => {
            Error::Corrupt(format!("the database is damaged; restore a backup: {error}"))
        }
        _ => Error::Corrupt(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(extended: i32) -> Fault {
        Fault::Sqlite(rusqlite::Error::SqliteFailure(ffi::Error::new(extended), None))
    }

    #[derive(Debug, PartialEq)]
    enum Reaction {
        Again,
        Wait,
        Stop,
    }

    fn reaction(error: &Error) -> Reaction {
        match error {
            Error::Conflict(_) => Reaction::Again,
            Error::Unavailable { outcome_unknown, .. } => {
                assert!(!outcome_unknown, "a commit of an embedded database is never in doubt");
                Reaction::Wait
            }
            Error::Corrupt(_) => Reaction::Stop,
        }
    }

    #[test]
    fn what_passes_is_waited_for() {
        let passing = [
            ffi::SQLITE_FULL,
            ffi::SQLITE_BUSY,
            ffi::SQLITE_BUSY_SNAPSHOT,
            ffi::SQLITE_LOCKED,
            ffi::SQLITE_READONLY,
            ffi::SQLITE_READONLY_DIRECTORY,
            ffi::SQLITE_CANTOPEN,
            ffi::SQLITE_PERM,
            ffi::SQLITE_NOMEM,
        ];
        for code in passing {
            assert_eq!(reaction(&fault(code).before_commit()), Reaction::Wait, "{code}");
            assert_eq!(reaction(&fault(code).while_syncing()), Reaction::Wait, "{code} while syncing");
        }
    }

    #[test]
    fn damage_stops_the_process() {
        for code in [ffi::SQLITE_CORRUPT, ffi::SQLITE_CORRUPT_INDEX, ffi::SQLITE_NOTADB, ffi::SQLITE_ERROR] {
            assert_eq!(reaction(&fault(code).before_commit()), Reaction::Stop, "{code}");
            assert_eq!(reaction(&fault(code).while_syncing()), Reaction::Stop, "{code} while syncing");
        }
    }

    #[test]
    fn disk_error_is_waited_for_unless_it_came_while_syncing() {
        let codes =
            [ffi::SQLITE_IOERR_READ, ffi::SQLITE_IOERR_WRITE, ffi::SQLITE_IOERR_FSYNC, ffi::SQLITE_IOERR];
        for code in codes {
            assert_eq!(reaction(&fault(code).before_commit()), Reaction::Wait, "{code}");
            assert_eq!(reaction(&fault(code).while_syncing()), Reaction::Stop, "{code} while syncing");
        }
    }

    #[test]
    fn only_a_taken_key_is_a_conflict() {
        for code in [ffi::SQLITE_CONSTRAINT_PRIMARYKEY, ffi::SQLITE_CONSTRAINT_UNIQUE] {
            assert_eq!(reaction(&fault(code).before_commit()), Reaction::Again, "{code}");
        }
        for code in [ffi::SQLITE_CONSTRAINT_CHECK, ffi::SQLITE_CONSTRAINT_NOTNULL] {
            assert_eq!(reaction(&fault(code).before_commit()), Reaction::Stop, "{code}");
        }
    }

    #[test]
    fn value_that_cannot_be_read_stops_the_process() {
        let error = rusqlite::Error::IntegralValueOutOfRange(0, -1);
        assert_eq!(reaction(&Fault::Sqlite(error).before_commit()), Reaction::Stop);
    }
}
