use std::path::PathBuf;
use std::time::Duration;

use audit::monitor::{Alarm, Monitor as Memory, Seen};
use audit::note::Trust;
use clap::Args;
use client::Client;
use model::Millis;
use serde_json::json;

use crate::audit::{KeyArgs, Served};
use crate::exit::{Exit, Stop};
use crate::output::{self, Format, plain, say};
use crate::remote::AccessArgs;
use crate::signals::Signals;

/// Keep an eye on a log: remember its last checkpoint, and shout if the next one does not follow from it
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  milepost monitor https://milepost.example --key @log.vkey --state seen.checkpoint
  milepost monitor https://milepost.example --key @log.vkey --state seen.checkpoint --once

Exits with 1 as soon as the log is not what it was: its past was rewritten, its tail is gone, or it showed somebody a
second face. Both signed checkpoints are printed: whoever holds them can show it to anyone.
A log that cannot be reached is asked again; with --once, that exits with 6.
A token of the environment is not shown to the address if MILEPOST_SERVER names another one.")]
pub(crate) struct Monitor {
    /// The address of the log
    #[arg(value_name = "URL")]
    url: String,

    /// The file that remembers the last checkpoint; made at the first look
    #[arg(long, value_name = "FILE")]
    state: PathBuf,

    /// Time between two looks
    #[arg(long, value_name = "SPAN", default_value = "10s")]
    every: Millis,

    /// Look once
    #[arg(long)]
    once: bool,

    #[command(flatten)]
    keys: KeyArgs,

    #[command(flatten)]
    access: AccessArgs,
}

/// The result of a look that is no alarm.
enum Looked {
    Well(Seen),
    /// The log could not be asked.
    Away(client::Error),
}

impl Monitor {
    pub(crate) fn run(&self, format: Format) -> anyhow::Result<Exit> {
        if self.every.is_zero() {
            return Err(Stop::usage("--every 0s would never rest; give it a second at least").into());
        }
        let eye = Eye {
            client: self.access.client_of_log(&self.url)?,
            memory: (self.state.clone(), self.keys.trust()?),
        };
        if self.once {
            return match eye.look()? {
                Err(alarm) => shout(&self.url, &alarm, format),
                Ok(Looked::Away(error)) => Err(error.into()),
                Ok(Looked::Well(seen)) => {
                    told(&seen, format)?;
                    Ok(Exit::Fine)
                }
            };
        }
        tokio::runtime::Runtime::new()?.block_on(self.watch(eye, format))
    }

    async fn watch(&self, eye: Eye, format: Format) -> anyhow::Result<Exit> {
        let signals = Signals::listen()?;
        let stopped = signals.asked_to_stop();
        tokio::pin!(stopped);
        let mut was_away = false;
        loop {
            let again = eye.clone();
            // A look has a runtime of its own, which must not live inside another.
            match tokio::task::spawn_blocking(move || again.look()).await?? {
                Err(alarm) => return shout(&self.url, &alarm, format),
                Ok(Looked::Away(error)) if !std::mem::replace(&mut was_away, true) => {
                    say!("{}", plain(&error.to_string()));
                }
                Ok(Looked::Away(_)) => {}
                Ok(Looked::Well(seen)) => {
                    // Nothing new is no news.
                    if was_away || !matches!(seen, Seen::Same { .. }) {
                        told(&seen, format)?;
                    }
                    was_away = false;
                }
            }
            tokio::select! {
                () = &mut stopped => return Ok(Exit::Fine),
                () = tokio::time::sleep(Duration::from(self.every)) => {}
            }
        }
    }
}

#[derive(Debug, Clone)]
struct Eye {
    client: Client,
    memory: (PathBuf, Trust),
}

impl Eye {
    fn look(&self) -> anyhow::Result<Result<Looked, Alarm>> {
        let served = Served::new(self.client.clone())?;
        let checkpoint = match served.checkpoint() {
            Ok(checkpoint) => checkpoint,
            Err(error) => return error.downcast().map(|away| Ok(Looked::Away(away))),
        };
        let (path, trust) = self.memory.clone();
        match Memory::new(path, trust).look(&checkpoint, &served) {
            Ok(seen) => Ok(Ok(Looked::Well(seen))),
            Err(Alarm::Memory { path, reason }) => {
                Err(Stop::new(Exit::Negative, format!("the monitor's memory {path}: {reason}")).into())
            }
            Err(alarm @ Alarm::Inconsistent { .. }) => Ok(Err(alarm)),
            Err(alarm) => match served.failure() {
                Some(error) => Ok(Ok(Looked::Away(error))),
                None => Ok(Err(alarm)),
            },
        }
    }
}

fn told(seen: &Seen, format: Format) -> anyhow::Result<()> {
    let (from, size) = match seen {
        Seen::First { size } => (None, *size),
        Seen::Same { size } => (Some(*size), *size),
        Seen::Grown { from, to } => (Some(*from), *to),
    };
    if format == Format::Json {
        output::print(&format!("{}\n", json!({ "ok": true, "from": from, "size": size })))?;
        return Ok(());
    }
    let line = match from {
        None => format!("{size} leaves, seen for the first time: from here on it is compared"),
        Some(from) if from == size => format!("{size} leaves, as before"),
        Some(from) => format!("{size} leaves, and the first {from} are what they were"),
    };
    output::print(&format!("{line}\n"))?;
    Ok(())
}

fn shout(url: &str, alarm: &Alarm, format: Format) -> anyhow::Result<Exit> {
    say!("ALARM: the log at {} is not what it was", plain(&wire::address::shown(url)));
    alarm.to_string().lines().for_each(|line| say!("{}", plain(line)));
    if format == Format::Json {
        let (before, now) = match alarm {
            Alarm::Inconsistent { before, now, .. } => (Some(before), Some(now)),
            _ => (None, None),
        };
        let reason = match alarm {
            Alarm::Inconsistent { reason, .. } => reason.clone(),
            other => other.to_string(),
        };
        let told = json!({ "ok": false, "reason": reason, "before": before, "now": now });
        output::print(&format!("{told}\n"))?;
    }
    Ok(Exit::Negative)
}
