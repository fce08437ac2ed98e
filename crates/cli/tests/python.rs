//! The Python client: its own tests, and the same against the real server.
#![allow(clippy::unwrap_used, reason = "a test says what it expects by unwrapping it")]

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use common::Server;

const CLIENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../clients/python");
const HTTPX: &str = "httpx==0.28.1";

#[track_caller]
fn assert_ran(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}; install the Debian package python3-venv"));
    let said =
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{command:?} (Debian package python3-venv): {said}");
    said
}

/// A Python with httpx, made once for all runs.
fn python() -> &'static Path {
    static PYTHON: OnceLock<PathBuf> = OnceLock::new();
    PYTHON.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("httpx-0.28.1");
        let python = folder.join("bin/python");
        let has_it = Command::new(&python).args(["-c", "import httpx"]).output();
        if !has_it.is_ok_and(|output| output.status.success()) {
            assert_ran(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder));
            let mut install = Command::new(&python);
            install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", HTTPX]);
            assert_ran(&mut install);
        }
        python
    })
}

/// Runs the tests of a folder, and makes sure there were some.
fn run_tests(folder: &str, server: Option<&Server>) {
    let mut command = Command::new(python());
    command.args(["-W", "error::ResourceWarning", "-m", "unittest", "discover", "-s", folder]);
    command.current_dir(CLIENT).env("PYTHONPATH", "src").env("PYTHONDONTWRITEBYTECODE", "1");
    command.env_remove("MILEPOST_SERVER").env_remove("MILEPOST_TOKEN");
    if let Some(server) = server {
        command.env("MILEPOST_SERVER", &server.url);
    }
    let said = assert_ran(&mut command);
    let ran = said.lines().find_map(|line| line.strip_prefix("Ran ")?.split(' ').next()?.parse::<u32>().ok());
    assert!(ran.is_some_and(|ran| ran > 0), "no test ran: {said}");
    assert!(!said.contains("skipped"), "a test was skipped: {said}");
}

#[test]
fn the_python_client_passes_the_cases_of_every_client() {
    run_tests("tests", None);
}

#[test]
fn the_python_client_and_its_workers_work_with_a_real_server() {
    let server = Server::start(&[]);
    run_tests("end_to_end", Some(&server));
}
