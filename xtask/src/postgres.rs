//! A PostgreSQL server for the tests alone: on a free port, in a folder of its own, gone when they are done.

mod programs;

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::needs;
use programs::Programs;

/// The variable that tells tests where the server is. Whoever sets it has one running, which is used instead.
pub(crate) const ADDRESS: &str = "MILEPOST_TEST_POSTGRES";

/// Acknowledged means on disk in the tests, too. What they lock and how they end is in the log.
const SETTINGS: &str = "
fsync = on
synchronous_commit = on
full_page_writes = on
listen_addresses = '127.0.0.1'
max_connections = 300
max_locks_per_transaction = 256
log_lock_waits = on
";

pub(crate) struct Postgres {
    programs: Programs,
    folder: PathBuf,
    port: u16,
}

impl Postgres {
    /// Starts one, unless there is one already.
    pub(crate) fn start() -> Result<Option<Postgres>> {
        if env::var_os(ADDRESS).is_some_and(|address| !address.is_empty()) {
            return Ok(None);
        }
        let programs = match Programs::find() {
            Some(programs) => programs,
            None => {
                needs::install_packages(&["postgresql"])?;
                Programs::find().context("package postgresql did not bring the command initdb")?
            }
        };
        let template = env::temp_dir().join("milepost-postgres-XXXXXX");
        let made = Command::new("mktemp").arg("-d").arg(template).output().context("cannot start mktemp")?;
        ensure!(made.status.success(), "mktemp failed: {}", String::from_utf8_lossy(&made.stderr).trim());
        let folder = String::from_utf8_lossy(&made.stdout);
        let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr())?.port();
        let server = Postgres { programs, folder: PathBuf::from(folder.trim()), port };
        server.make().context("cannot start PostgreSQL for the tests")?;
        Ok(Some(server))
    }

    pub(crate) fn address(&self) -> String {
        format!("postgres://milepost@127.0.0.1:{}/postgres", self.port)
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    fn log(&self) -> PathBuf {
        self.folder.join("log")
    }

    fn make(&self) -> Result<()> {
        self.programs.give(&self.folder)?;
        let data = self.data();
        let how = ["--auth=trust", "--username=milepost", "--encoding=UTF8", "--no-locale"];
        self.program("initdb", [OsStr::new("-D"), data.as_os_str()].into_iter().chain(how.map(OsStr::new)))?;
        let sockets =
            format!("unix_socket_directories = '{}'\nport = {}\n", self.folder.display(), self.port);
        let file = data.join("postgresql.conf");
        let settings = fs::read_to_string(&file).context("cannot read the server's settings")?;
        fs::write(&file, settings + SETTINGS + &sockets).context("cannot write the server's settings")?;
        let log = self.log();
        let arguments = [OsStr::new("-D"), data.as_os_str(), OsStr::new("-l"), log.as_os_str()];
        self.program("pg_ctl", arguments.into_iter().chain(["-w", "start"].map(OsStr::new)))?;
        Ok(())
    }

    fn program<'a>(&self, name: &str, arguments: impl Iterator<Item = &'a OsStr>) -> Result<()> {
        let arguments: Vec<_> = arguments.collect();
        self.programs
            .run(name, &arguments, &self.folder)
            .with_context(|| format!("its log: {}", fs::read_to_string(self.log()).unwrap_or_default()))
    }

    /// Two transactions that waited for each other are a fault even where the tests came through.
    pub(crate) fn check_log(&self) -> Result<()> {
        let log = fs::read_to_string(self.log()).context("cannot read the server's log")?;
        let deadlocks = deadlocks(&log);
        ensure!(deadlocks.is_empty(), "PostgreSQL logged deadlocks:\n{}", deadlocks.join("\n"));
        Ok(())
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let data = self.data();
        let arguments = [OsStr::new("-D"), data.as_os_str()];
        let stop = ["-m", "immediate", "-w", "stop"].map(OsStr::new);
        if let Err(error) = self.program("pg_ctl", arguments.into_iter().chain(stop)) {
            eprintln!("PostgreSQL is still running in {}: {error:#}", self.folder.display());
        } else if let Err(error) = fs::remove_dir_all(&self.folder) {
            eprintln!("cannot remove {}: {error}", self.folder.display());
        }
    }
}

fn deadlocks(log: &str) -> Vec<&str> {
    log.lines().filter(|line| line.contains("deadlock detected")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadlock_in_the_log_is_found() {
        let log = "LOG:  ready\nERROR:  deadlock detected\nDETAIL:  Process 1 waits\n";
        assert_eq!(deadlocks(log), ["ERROR:  deadlock detected"]);
        assert!(deadlocks("LOG:  ready\n").is_empty());
    }
}
