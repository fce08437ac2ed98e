//! The keys to believe, as they are given on the command line.

use std::path::{Path, PathBuf};

use audit::note::{Algorithm, Trust, VerifierKey};
use audit::witness::Policy;
use clap::Args;

use crate::exit::Stop;

#[derive(Debug, Args)]
#[command(next_help_heading = "Trust")]
pub(crate) struct KeyArgs {
    /// A key of the log, as `milepost audit key` prints it, or @FILE with one a line; may be given several times
    #[arg(long = "key", value_name = "VKEY|@FILE", required_unless_present = "policy")]
    keys: Vec<String>,

    /// The file that says which witnesses must have seen the checkpoint (C2SP tlog-policy)
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
}

impl KeyArgs {
    pub(crate) fn trust(&self) -> anyhow::Result<Trust> {
        let keys = read_keys(&self.keys)?;
        if let Some(key) = keys.iter().find(|key| key.algorithm() != Algorithm::Ed25519) {
            let message = format!("{} is the key of a witness, not of a log", key.name());
            return Err(Stop::usage(message).next("name witnesses in a file given with --policy").into());
        }
        let policy = self.policy.as_deref().map(read_policy).transpose()?;
        let has_log = !keys.is_empty() || policy.as_ref().is_some_and(|policy| !policy.logs.is_empty());
        if !has_log {
            let stop = Stop::usage("neither --key nor the policy names a key of the log");
            return Err(stop.next("give the log's key with --key").into());
        }
        Ok(Trust { keys, policy })
    }
}

/// Keys given as lines, or as files of lines. Empty lines and those that begin with # say nothing.
pub(crate) fn read_keys(given: &[String]) -> anyhow::Result<Vec<VerifierKey>> {
    let mut keys = Vec::new();
    for text in given {
        let lines = match text.strip_prefix('@') {
            None => text.clone(),
            Some(file) => read(Path::new(file))?,
        };
        let lines = lines.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        for line in lines {
            let key: VerifierKey = line.parse().map_err(|error| {
                let stop = Stop::usage(format!("`{line}` is no key: {error}"));
                let is_file = Path::new(line).is_file();
                if is_file { stop.next(format!("`{line}` is a file: write `@{line}`")) } else { stop }
            })?;
            keys.push(key);
        }
    }
    Ok(keys)
}

fn read_policy(path: &Path) -> anyhow::Result<Policy> {
    let policy = Policy::parse(read(path)?.as_bytes());
    Ok(policy.map_err(|error| Stop::usage(format!("{}: {error}", path.display())))?)
}

fn read(path: &Path) -> Result<String, Stop> {
    std::fs::read_to_string(path)
        .map_err(|error| Stop::usage(format!("cannot read {}: {error}", path.display())))
}
