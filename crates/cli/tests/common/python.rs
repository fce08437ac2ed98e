//! A Python with packages, made once for all runs.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The interpreter of an environment that has these packages, each pinned as `name==version`.
pub(crate) fn python_with(packages: &[&str]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(packages.join("+").replace("==", "-"));
    let python = folder.join("bin/python");
    let marker = folder.join("installed");
    if !marker.exists() {
        assert_ran(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder));
        let mut install = Command::new(&python);
        install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(packages);
        assert_ran(&mut install);
        std::fs::write(marker, "").expect("the environment's folder can be written");
    }
    python
}

#[track_caller]
fn assert_ran(command: &mut Command) {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}; install the Debian package python3-venv"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} (Debian package python3-venv): {said}");
}
