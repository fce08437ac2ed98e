use clap::Args;
use model::Time;
use wire::api::SubmitBody;

use super::list::table;
use crate::exit::{Exit, Stop};
use crate::output::{self, Format, Table, say};
use crate::remote::{DataArgs, ServerArgs, WaitArgs, block_on, idempotency_key, rested};

/// Submit to a pipeline
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  milepost submit skill-review --data '{\"repo_url\":\"https://github.com/you/skills\",\"skill_name\":\"notes\"}'
  milepost submit skill-review skill.json --wait --timeout 5m
  generate | milepost submit skill-review - -o json
  id=$(milepost submit skill-review skill.json --quiet)")]
pub(crate) struct Submit {
    /// The pipeline's name
    #[arg(value_name = "PIPELINE")]
    pipeline: String,

    #[command(flatten)]
    payload: DataArgs,

    /// The submission's key, where the pipeline does not derive one: unique while it is open
    #[arg(long)]
    key: Option<String>,

    /// Lower goes first
    #[arg(long, allow_negative_numbers = true, value_name = "NUMBER")]
    priority: Option<i64>,

    /// Not to be looked at before this time, such as 2026-02-15T18:00:00Z
    #[arg(long, value_name = "TIME")]
    not_before: Option<Time>,

    /// The reason, for the record
    #[arg(long)]
    reason: Option<String>,

    /// Makes the submission safe to repeat with the same key; made up if not given
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,

    /// Print the id alone, for scripts
    #[arg(short, long)]
    quiet: bool,

    #[command(flatten)]
    wait: WaitArgs,

    #[command(flatten)]
    server: ServerArgs,
}

impl Submit {
    pub(crate) fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let payload = self.payload.read()?.ok_or_else(|| {
            Stop::usage("there is no payload")
                .next("give it with --data JSON, as a FILE, or on stdin with `-`")
        })?;
        let body = SubmitBody {
            payload,
            key: self.key.clone(),
            priority: self.priority,
            not_before: self.not_before,
            reason: self.reason.clone(),
        };
        block_on(self.submit(&body, format))
    }

    async fn submit(&self, body: &SubmitBody, format: Format) -> anyhow::Result<Exit> {
        let client = self.server.client()?;
        let once = self.idempotency_key.clone().unwrap_or_else(idempotency_key);
        let answer = client.submit(&self.pipeline, body, Some(&once)).await?;
        if answer.duplicate {
            say!("an open submission has this key already; nothing new was made");
        }
        if !self.wait.wait {
            match format {
                _ if self.quiet => output::print(&format!("{}\n", answer.id))?,
                Format::Json => output::print_json(&answer)?,
                Format::Table => {
                    let mut table = Table::new(["ID", "PIPELINE", "STATE", "CREATED"]);
                    let (id, created_at) = (answer.id.to_string(), answer.created_at.to_string());
                    table.row([id, answer.pipeline.to_string(), answer.state.to_string(), created_at]);
                    output::print(&table.render())?;
                }
            }
            return Ok(Exit::Fine);
        }
        let waited = self.wait.wait(&client, answer.id).await?;
        match format {
            _ if self.quiet => output::print(&format!("{}\n", waited.submission.id))?,
            Format::Json => output::print_json(&waited.submission)?,
            Format::Table => output::print(&table([&waited.submission]))?,
        }
        Ok(rested(&waited, &self.server))
    }
}
