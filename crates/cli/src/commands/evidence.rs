use std::path::PathBuf;

use clap::Args;
use client::EvidenceWish;

use super::verify::read_checkpoint;
use crate::exit::Exit;
use crate::output;
use crate::remote::{ServerArgs, block_on};
use crate::which::Which;

/// Print everything a third party needs to check what happened to a submission
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  milepost evidence ID > evidence.json
  milepost evidence ID --since seen.checkpoint > evidence.json
  milepost verify evidence.json --key @log.vkey

The document is checked to the byte: keep it as it is printed.")]
pub(crate) struct Evidence {
    /// The submission: its id or the beginning of it, its key, or PIPELINE/KEY
    id: Which,

    /// A checkpoint you saved: the evidence will prove that the log goes on from there
    #[arg(long, value_name = "CHECKPOINT_FILE")]
    since: Option<PathBuf>,

    /// Leave out payloads, outputs and metadata: the proofs hold without them, guards that read them stay unknown
    #[arg(long)]
    no_documents: bool,

    #[command(flatten)]
    server: ServerArgs,
}

impl Evidence {
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        let known_size = self.since.as_deref().map(read_checkpoint).transpose()?.map(|(size, _)| size);
        let wish = EvidenceWish { known_size, without_documents: self.no_documents };
        let client = self.server.client()?;
        let text = block_on(async { Ok(client.evidence(self.id.id(&client).await?, wish).await?) })?;
        output::print(&text)?;
        Ok(Exit::Fine)
    }
}
