//! A PostgreSQL of a test's own, which may be stopped, killed and failed over.

#[path = "../../../../xtask/src/postgres/programs.rs"]
mod programs;

use std::ffi::OsStr;
use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use programs::Programs;
use tempfile::TempDir;

use crate::common::sql::Session;

const SETTINGS: &str = "
fsync = on
synchronous_commit = on
full_page_writes = on
listen_addresses = '127.0.0.1'
max_connections = 100
shared_buffers = 32MB
log_lock_waits = on
wal_keep_size = 256MB
";

/// Tests take turns: a fleet needs the whole machine.
static TURN: Mutex<()> = Mutex::new(());

pub(crate) struct Cluster {
    programs: Programs,
    folder: TempDir,
    pub(crate) port: u16,
    /// A standby shares that of its primary.
    _turn: Option<MutexGuard<'static, ()>>,
}

impl Cluster {
    pub(crate) fn start() -> Cluster {
        // A test that failed leaves nothing behind that the next would trip over.
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let cluster = Cluster::place(Some(turn));
        // What is synced is what the server writes, not how its folder was made.
        let how = ["--no-sync", "--auth=trust", "--username=milepost", "--encoding=UTF8", "--no-locale"];
        cluster.run("initdb", &how);
        cluster.configure(SETTINGS);
        cluster.begin();
        cluster
    }

    fn place(turn: Option<MutexGuard<'static, ()>>) -> Cluster {
        let programs =
            Programs::find().expect("PostgreSQL is installed: run the tests through `cargo xtask test`");
        let folder = tempfile::Builder::new().prefix("milepost-fleet").tempdir().expect("a temporary folder");
        programs.give(folder.path()).expect("the folder can be given away");
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
        let port = listener.local_addr().expect("it has an address").port();
        Cluster { programs, folder, port, _turn: turn }
    }

    /// A standby that every commit of this one waits for.
    pub(crate) fn synchronous_standby(&self) -> Cluster {
        let standby = Cluster::place(None);
        let port = self.port.to_string();
        let from =
            ["-h", "127.0.0.1", "-p", &port, "-U", "milepost", "-R", "-X", "stream", "--checkpoint=fast"];
        standby.run("pg_basebackup", &from);
        standby.configure("");
        standby.begin();
        let session = Session::open(&self.url());
        session.run("ALTER SYSTEM SET synchronous_standby_names = '*'");
        session.run("SELECT pg_reload_conf()");
        let synced = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
        while session.number(synced) == 0 {
            std::thread::yield_now();
        }
        standby
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn log_file(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.log_file()).expect("the server keeps a log")
    }

    fn configure(&self, settings: &str) {
        let file = self.data().join("postgresql.conf");
        let known = fs::read_to_string(&file).expect("there are settings");
        let folder = self.folder.path().display();
        let own = format!("{settings}\nport = {}\nunix_socket_directories = '{folder}'\n", self.port);
        fs::write(&file, known + &own).expect("settings can be written");
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        let data = self.data();
        let mut all = vec![OsStr::new("-D"), data.as_os_str()];
        all.extend(arguments.iter().map(OsStr::new));
        let ran = self.programs.run(program, &all, self.folder.path());
        ran.unwrap_or_else(|error| {
            panic!("{error:#}\n{}", fs::read_to_string(self.log_file()).unwrap_or_default())
        });
    }

    pub(crate) fn begin(&self) {
        let log = self.log_file().display().to_string();
        self.run("pg_ctl", &["-l", &log, "-w", "-t", "120", "start"]);
    }

    /// As if the machine lost its power.
    pub(crate) fn stop_at_once(&self) {
        self.run("pg_ctl", &["-m", "immediate", "-w", "stop"]);
    }

    pub(crate) fn promote(&self) {
        self.run("pg_ctl", &["-w", "promote"]);
    }

    pub(crate) fn url(&self) -> String {
        format!("postgres://milepost@127.0.0.1:{}/postgres", self.port)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let data = self.data();
        let stop = ["-m", "immediate", "-w", "stop"].map(OsStr::new);
        let arguments = [[OsStr::new("-D"), data.as_os_str()].as_slice(), &stop].concat();
        // One that a test has stopped is stopped already.
        let _ = self.programs.run("pg_ctl", &arguments, self.folder.path());
    }
}
