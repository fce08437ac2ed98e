use clap::{Args, Subcommand};
use wire::api::ClockView;

use crate::exit::Exit;
use crate::output::{self, Format, plain, say};
use crate::remote::{ServerArgs, block_on};

/// Show the clock a server goes by, and confirm it where it is in doubt
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  milepost clock show
  milepost clock confirm

A clock that is more than 7 days after the last time the server saw, or more than 5 minutes before it, is in doubt: erasing,
forgetting and the end of tokens wait until it is set right, or confirmed here by an admin. The audit log has it on record.")]
pub(crate) struct Clock {
    #[command(subcommand)]
    deed: Deed,
}

#[derive(Debug, Subcommand)]
enum Deed {
    /// Show what the clock says, and whether it is believed; exits with 1 if it is not
    Show(Asked),
    /// Say that the clock is right, so that what waits for that goes on
    Confirm(Asked),
}

#[derive(Debug, Args)]
struct Asked {
    #[command(flatten)]
    server: ServerArgs,
}

impl Clock {
    pub(crate) fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let (Deed::Show(asked) | Deed::Confirm(asked)) = &self.deed;
        let client = asked.server.client()?;
        let clock = block_on(async {
            Ok(match self.deed {
                Deed::Show(_) => client.clock().await?,
                Deed::Confirm(_) => client.confirm_clock().await?,
            })
        })?;
        match format {
            Format::Json => output::print_json(&clock)?,
            Format::Table => output::print(&told(&clock))?,
        }
        if let (Some(doubt), Format::Table) = (&clock.doubt, format) {
            say!("{}", plain(doubt));
        }
        Ok(if clock.doubt.is_none() { Exit::Fine } else { Exit::Negative })
    }
}

fn told(clock: &ClockView) -> String {
    match clock.doubt {
        None => format!("it is {}, and the clock is believed\n", clock.now),
        Some(_) => format!("the clock says {}, and is in doubt; known is {}\n", clock.now, clock.known_at),
    }
}
