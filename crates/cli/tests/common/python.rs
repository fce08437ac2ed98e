//! Pythons with packages, for the tests that need other people's programs.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// Runs a program that must succeed, and gives back all it said.
#[track_caller]
pub(crate) fn assert_ran(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}; install the Debian package python3-venv"));
    let said =
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{command:?} (Debian package python3-venv): {said}");
    said
}

/// The interpreter of a virtual environment with exactly these packages (`name==version`), made once for all runs.
pub(crate) fn python_with(packages: &[&str]) -> PathBuf {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(packages.join("+").replace("==", "-"));
    let (python, done) = (folder.join("bin/python"), folder.join("complete"));
    if !done.exists() {
        assert_ran(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder));
        let mut install = Command::new(&python);
        install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(packages);
        assert_ran(&mut install);
        // Last: an installation that was cut off is made anew.
        std::fs::write(&done, "").unwrap_or_else(|error| panic!("{}: {error}", done.display()));
    }
    python
}
