//! The programs of a PostgreSQL server, run as somebody it accepts. The tests of `cli` that need a server they can kill
//! use this file, too.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// The user servers run as when the tests are root's, because the server refuses to.
const USER: &str = "postgres";

pub(crate) struct Programs {
    folder: PathBuf,
}

impl Programs {
    /// Debian keeps the programs of a server out of the path, one folder a version.
    pub(crate) fn find() -> Option<Programs> {
        let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
        let mut folders: Vec<(u32, PathBuf)> = versions
            .filter_map(|version| {
                let number = version.file_name().to_str()?.parse().ok()?;
                Some((number, version.path().join("bin")))
            })
            .filter(|(_, folder)| has_programs(folder))
            .collect();
        folders.sort();
        let path = env::var_os("PATH").unwrap_or_default();
        let newest = folders.pop().map(|(_, folder)| folder);
        let folder = newest.or_else(|| env::split_paths(&path).find(|folder| has_programs(folder)))?;
        Some(Programs { folder })
    }

    /// Makes a folder that of the user the programs run as.
    pub(crate) fn give(&self, folder: &Path) -> Result<()> {
        if is_root()? {
            said(Command::new("chown").arg(USER).arg(folder))?;
        }
        Ok(())
    }

    /// Runs one of them to its end, in a folder that is theirs.
    pub(crate) fn run(&self, name: &str, arguments: &[&OsStr], folder: &Path) -> Result<()> {
        let program = self.folder.join(name);
        let mut command = if is_root()? {
            let mut command = Command::new("runuser");
            command.args(["-u", USER, "--"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        // A server that inherits these would keep whoever reads them waiting.
        command.args(arguments).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null());
        let status =
            command.stderr(Stdio::null()).status().with_context(|| format!("cannot start {name}"))?;
        if !status.success() {
            bail!("{name} failed ({status})");
        }
        Ok(())
    }
}

fn has_programs(folder: &Path) -> bool {
    ["initdb", "pg_ctl", "postgres"].iter().all(|name| folder.join(name).is_file())
}

fn is_root() -> Result<bool> {
    Ok(said(Command::new("id").arg("-u"))?.trim() == "0")
}

/// Runs a command and returns what it says.
fn said(command: &mut Command) -> Result<String> {
    let output =
        command.stdin(Stdio::null()).output().with_context(|| format!("cannot start {command:?}"))?;
    if !output.status.success() {
        bail!("{command:?} failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_without_a_server_is_passed_over() {
        assert!(!has_programs(Path::new("/nowhere")));
    }
}
