use clap::Args;
use model::Status;
use wire::api::{OperationBody, PipelineView};
use wire::operation::Filter;

use super::read_label;
use crate::bulk::{self, Bulk};
use crate::exit::{Exit, Stop};
use crate::output::{self, Format, say};
use crate::remote::{ServerArgs, block_on};

/// Let submissions that have not ended follow another version of their pipeline
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  milepost migrate skill-review --to 2 --dry-run
  milepost migrate skill-review --to 2 --reason 'scores are stricter now' --yes
  milepost migrate skill-review --to 3 --from 1 --map NEEDS_REVIEW=REVIEW --map OLD_SCAN=TIER1_SCANNING

Submissions stay with the version they were made under until somebody migrates them. Each is decided alone, and leaves
an event. One that cannot follow stays where it is, and the reason is told. Open submissions are migrated first, then
dead letters. With -o json it prints a list of operations.
Exits with 1 if one could not follow. Ctrl-C leaves the server at it.")]
pub(crate) struct Migrate {
    /// The pipeline
    #[arg(value_name = "PIPELINE")]
    pipeline: String,

    /// The version to follow
    #[arg(long, value_name = "VERSION")]
    to: u32,

    /// Only those that follow this version; may be left out where there is only one other
    #[arg(long, value_name = "VERSION")]
    from: Option<u32>,

    /// Destination, as FROM=TO, of those in a state that the version does not have; may be given several times
    #[arg(long = "map", value_name = "OLD=NEW", value_parser = read_label)]
    map: Vec<(String, String)>,

    /// Only say what would come of it
    #[arg(long)]
    dry_run: bool,

    /// Do not ask whether it is meant
    #[arg(long)]
    yes: bool,

    /// The reason, for the record
    #[arg(long)]
    reason: Option<String>,

    #[command(flatten)]
    server: ServerArgs,
}

impl Migrate {
    pub(crate) fn run(&self, format: Format) -> anyhow::Result<Exit> {
        block_on(self.migrate(format))
    }

    async fn migrate(&self, format: Format) -> anyhow::Result<Exit> {
        let bulk = Bulk { client: self.server.client()?, server: &self.server };
        let view = bulk.client.pipeline(&self.pipeline).await?;
        let from = self.from(&view)?;
        // With nobody there, one operation says so.
        let statuses = [Status::Open, Status::Dead].into_iter();
        let statuses = statuses.filter(|status| *status == Status::Open || count(&view, *status) > 0);
        let bodies: Vec<OperationBody> = statuses.map(|status| self.body(from, status)).collect();
        let Some(operations) = bulk.perform_all(&bodies, self.yes).await? else {
            return Ok(Exit::Negative);
        };
        match format {
            Format::Json => output::print_json(&operations)?,
            Format::Table => {
                let all: Vec<_> = operations.iter().collect();
                output::print(&bulk.told(&all).await?)?;
            }
        }
        let done: u64 = operations.iter().map(|operation| operation.done).sum();
        let would = if self.dry_run { "could" } else { "now" };
        say!("{done} {would} follow version {}", self.to);
        Ok(bulk::exit(&operations))
    }

    /// The version they come from.
    fn from(&self, view: &PipelineView) -> Result<u32, Stop> {
        let others: Vec<u32> = view.versions.iter().copied().filter(|version| *version != self.to).collect();
        match (self.from, others.as_slice()) {
            (Some(from), _) => Ok(from),
            (None, [only]) => Ok(*only),
            (None, []) => {
                let message = format!("there is no version of {} but {}", view.name, self.to);
                Err(Stop::new(Exit::NotFound, message)
                    .next("bring the next one into force with `milepost apply FILE`"))
            }
            (None, many) => {
                let list: Vec<String> = many.iter().map(u32::to_string).collect();
                let message =
                    format!("{} has the versions {} besides {}", view.name, list.join(", "), self.to);
                Err(Stop::usage(message).next("say which with --from"))
            }
        }
    }

    fn body(&self, from: u32, status: Status) -> OperationBody {
        let pipeline = self.pipeline.as_str().into();
        OperationBody {
            filter: Filter { version: Some(from), status: Some(status), ..Filter::of(pipeline) },
            action: "migrate".into(),
            reason: self.reason.clone(),
            data: None,
            to: None,
            version: Some(self.to),
            map: self.map.iter().map(|(old, new)| (old.as_str().into(), new.as_str().into())).collect(),
            dry_run: self.dry_run,
        }
    }
}

fn count(view: &PipelineView, status: Status) -> u64 {
    let counts = view.states.iter().flat_map(|state| &state.counts);
    counts.filter(|count| count.status == status).map(|count| count.count).sum()
}
