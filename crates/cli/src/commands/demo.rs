use std::net::SocketAddr;

use clap::Args;

use crate::demo;
use crate::exit::Exit;
use crate::logging::{self, LogFormat};
use crate::output::Format;

/// See it work: a server with every pipeline that ships, and submissions that move
#[derive(Debug, Args)]
#[command(after_help = "\
Everything is kept in a temporary folder that is removed at the end. While the demo runs, the other commands work on it
from another terminal: list, show, why, act, submit.")]
pub(crate) struct Demo {
    /// Address to listen on; if the port is taken, a free one is used
    #[arg(long, default_value = "127.0.0.1:8080", value_name = "ADDRESS", value_parser = crate::listen::read)]
    listen: SocketAddr,

    /// Stop as soon as the sample submissions have come to rest
    #[arg(long)]
    once: bool,
}

impl Demo {
    pub(crate) fn run(&self, format: Format) -> anyhow::Result<Exit> {
        // Some of its tasks fail as the story has it, which it tells itself.
        logging::start(LogFormat::Text, "warn,worker::speak=error")?;
        let demo = demo::Demo { listen: self.listen, once: self.once, format };
        tokio::runtime::Runtime::new()?.block_on(demo.run())
    }
}
