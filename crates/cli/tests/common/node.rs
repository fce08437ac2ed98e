//! Scripts for node, with the packages that they need.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// Returns a folder with these files and the packages that their `package-lock.json` names, made once for all runs.
pub(crate) fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    let (lock, locked) = files.iter().find(|(file, _)| *file == "package-lock.json").expect("it is locked");
    let is_made = folder.join("complete").exists()
        && std::fs::read_to_string(folder.join(lock)).is_ok_and(|known| known == *locked);
    for (file, text) in files {
        std::fs::write(folder.join(file), text).expect("the folder can be written");
    }
    if !is_made {
        let mut install = Command::new("npm");
        install.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]).current_dir(&folder);
        let output =
            install.output().unwrap_or_else(|error| panic!("npm: {error}; install the Debian package npm"));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        // Last: an installation that was cut off is made anew.
        std::fs::write(folder.join("complete"), "").expect("the folder can be written");
    }
    folder
}
