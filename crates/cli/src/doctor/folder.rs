//! A data folder, looked at from its own machine, whether a server runs over it or not.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use engine::{Pipelines, SystemClock};
use model::Time;
use store::Store as _;
use store_postgres::{PostgresStore, Settings};
use store_sqlite::{SqliteStore, backup};

use super::Check;

const SYNCS: u32 = 16;
const SYNC_SLOW: Duration = Duration::from_millis(30);
const SPACE_LOW: u64 = 1 << 30;
const SPACE_NONE: u64 = 64 << 20;
/// Two clocks of one machine differ by less.
const AHEAD_MAX_MS: i64 = 60_000;

pub(crate) fn folder(data: &Path, thorough: bool) -> Vec<Check> {
    if !data.join("milepost.db").is_file() {
        let found = format!("there is no store in {}", data.display());
        return vec![Check::wrong("data folder", found, "name the folder with --data")];
    }
    let mut checks = vec![rights(data), space(data), syncing(data)];
    checks.extend(database(data, thorough));
    checks.push(key(data));
    checks.push(definitions(data));
    checks
}

fn rights(data: &Path) -> Check {
    const CHECK: &str = "rights";
    if cfg!(not(unix)) {
        return Check::fine(CHECK, "not looked at on this system");
    }
    let exposed = match store_sqlite::private::exposed(data) {
        Ok(exposed) if exposed.is_empty() => return Check::fine(CHECK, "only its owner can use it"),
        Ok(exposed) => exposed,
        Err(error) => return Check::wrong(CHECK, error.to_string(), "run this as the server's user"),
    };
    let modes: Vec<_> =
        exposed.iter().map(|one| format!("{} ({:o})", one.path.display(), one.mode)).collect();
    let found = format!("others on this machine can use {}", modes.join(", "));
    Check::warning(CHECK, found, "start the server: it takes it from them, or says why it cannot")
}

#[cfg(unix)]
fn space(data: &Path) -> Check {
    let Ok(disk) = rustix::fs::statvfs(data) else {
        return Check::warning("disk space", "it cannot be told", "look at the disk yourself");
    };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let found = format!("{} MB are free", free >> 20);
    match free {
        ..SPACE_NONE => Check::wrong("disk space", found, "make room: without it nothing is accepted"),
        SPACE_NONE..SPACE_LOW => {
            Check::warning("disk space", found, "make room, or let go of events with --keep-events")
        }
        _ => Check::fine("disk space", found),
    }
}

#[cfg(not(unix))]
fn space(_data: &Path) -> Check {
    Check::fine("disk space", "not looked at on this system")
}

/// Every acknowledgement waits for one.
fn syncing(data: &Path) -> Check {
    let path = data.join(format!("doctor-{}.tmp", std::process::id()));
    let measured = (|| {
        let mut file = File::create(&path)?;
        let start = engine::clock::instant();
        for _ in 0..SYNCS {
            file.write_all(&[0; 4_096])?;
            file.sync_data()?;
        }
        std::io::Result::Ok(engine::clock::instant().duration_since(start) / SYNCS)
    })();
    let _ = std::fs::remove_file(&path);
    match measured {
        Ok(each) if each > SYNC_SLOW => Check::warning(
            "fsync",
            format!("one takes {each:.1?}"),
            "every acknowledgement waits for one: use a disk that is quicker at it",
        ),
        Ok(each) => Check::fine("fsync", format!("one takes {each:.1?}")),
        Err(error) => {
            Check::wrong("fsync", error.to_string(), "run this as the server's user, or see to the disk")
        }
    }
}

fn database(data: &Path, thorough: bool) -> Vec<Check> {
    let look = match backup::look(&data.join("milepost.db"), thorough) {
        Ok(look) => look,
        Err(error) => return vec![Check::wrong("database", error.to_string(), "restore a backup")],
    };
    let found = format!(
        "schema {}, {} submissions, events {} to {}",
        look.version, look.submissions, look.first, look.last
    );
    let mut checks = vec![Check::fine("database", found)];
    let now = engine::clock::wall();
    checks.extend(look.newest_at.map(|newest| clock(newest, now)));
    checks
}

fn clock(newest: Time, now: Time) -> Check {
    let ahead = newest.millis() - now.millis();
    if ahead > AHEAD_MAX_MS {
        return Check::wrong(
            "clock",
            format!("the newest event is of {newest}, and this machine says {now}"),
            "set the clock: leases and waits are measured by it",
        );
    }
    Check::fine("clock", format!("the newest event is of {newest}"))
}

fn key(data: &Path) -> Check {
    let (key, guard) = (data.join("log.key"), data.join("log.guard"));
    match (key.exists(), guard.exists()) {
        (true, true) => Check::warning(
            "audit key",
            "the signer's memory is beside the data",
            "keep it on another disk with --audit-guard: who sets back the one sets back the other",
        ),
        (true, false) => {
            Check::fine("audit key", "the key is here, and the signer's memory is not beside it")
        }
        (false, _) => Check::fine("audit key", "the key is elsewhere, or no server ran yet"),
    }
}

/// Looks at a key that lies outside the data folder: who reads it signs in the log's name.
pub(crate) fn audit_key(path: &Path) -> Check {
    const CHECK: &str = "audit key file";
    match store_sqlite::private::exposed_file(path) {
        Ok(None) if path.exists() => Check::fine(CHECK, "only its owner can use it"),
        Ok(None) => Check::wrong(
            CHECK,
            format!("there is no {}", path.display()),
            "name the file that `serve --audit-key` is given",
        ),
        Ok(Some(open)) => {
            let found = format!("others on this machine can use {} ({:o})", open.path.display(), open.mode);
            Check::warning(CHECK, found, "start the server: it takes it from them, or says why it cannot")
        }
        Err(error) => Check::wrong(CHECK, error.to_string(), "run this as the server's user"),
    }
}

/// Can only be looked at while no server has the folder; a server looks for itself when it starts.
fn definitions(data: &Path) -> Check {
    const CHECK: &str = "pipelines";
    match SqliteStore::open(data, Arc::new(SystemClock::new())) {
        Err(store::Error::Unavailable { message, .. }) if message.contains("in use") => {
            Check::fine(CHECK, "a server has the folder and has loaded them; ask it with --server")
        }
        Err(error) => {
            Check::wrong(CHECK, error.to_string(), "restore a backup, or use the release that wrote it")
        }
        Ok(store) => {
            let pipelines = Pipelines::default();
            match pipelines.catch_up(&store) {
                Ok(()) => Check::fine(CHECK, format!("{} load", pipelines.current().all().count())),
                Err(error) => Check::wrong(CHECK, error.to_string(), "use the release that applied them"),
            }
        }
    }
}

pub(crate) fn postgres(settings: &Settings) -> Vec<Check> {
    const CHECK: &str = "postgres";
    let store = match PostgresStore::open(settings) {
        Ok(store) => store,
        Err(error) => {
            return vec![Check::wrong(CHECK, error.to_string(), "see to the database and to its address")];
        }
    };
    let mut checks = vec![Check::fine(CHECK, format!("{} answers, and its schema fits", settings.place()))];
    let mut now = None;
    let took = store.transact(&store::Take::nothing(), &mut |taken| {
        now = Some(taken.now);
        store::Changes::default()
    });
    match (took, now) {
        (Ok(_), Some(theirs)) => {
            let off = (theirs.millis() - engine::clock::wall().millis()).unsigned_abs();
            let found = format!("the database's clock and this machine's differ by {off} ms");
            checks.push(match off > 5_000 {
                true => Check::warning("clock", found, "set the clocks: both are shown to people"),
                false => Check::fine("clock", found),
            });
        }
        (Err(error), _) => checks.push(Check::wrong(CHECK, error.to_string(), "see to the database")),
        (Ok(_), None) => {}
    }
    checks
}
