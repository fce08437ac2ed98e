//! Operations on many submissions at once: one is started, watched and told about.

mod tables;
mod watch;

pub(crate) use tables::{does, results, status, table};
pub(crate) use watch::{Bulk, exit};

use clap::Args;
use model::submission::Fingerprint;
use model::{InvestigationStatus, Millis, Status, SubmissionId, Time};
use wire::api::OperationBody;
use wire::operation::Filter;

use crate::commands::read_label;
use crate::exit::{Exit, Stop};
use crate::output::{self, Format};
use crate::remote::{ServerArgs, read_id};

/// The submissions that are meant, where they may be many.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Many at once")]
pub(crate) struct BulkArgs {
    /// Every submission of this pipeline that fits what else is given, instead of one
    #[arg(long, value_name = "NAME")]
    pub(crate) pipeline: Option<String>,

    /// In this state
    #[arg(long, value_name = "NAME", requires = "pipeline")]
    state: Option<String>,

    /// open, dead, succeeded, failed or cancelled
    #[arg(long, requires = "pipeline")]
    status: Option<Status>,

    /// The progress of the investigation of their end; only set by commands that are about nothing else.
    #[arg(skip)]
    investigation: Option<InvestigationStatus>,

    /// With this label; may be given several times
    #[arg(long = "label", value_name = "NAME=VALUE", value_parser = read_label, requires = "pipeline")]
    labels: Vec<(String, String)>,

    /// Whose last error has this code
    #[arg(long, value_name = "CODE", requires = "pipeline")]
    error: Option<String>,

    /// Whose last error has this fingerprint, as `figures` shows it
    #[arg(long, value_name = "FINGERPRINT", requires = "pipeline")]
    fingerprint: Option<Fingerprint>,

    /// Children of this submission
    #[arg(long, value_name = "ID", value_parser = read_id, requires = "pipeline")]
    parent: Option<SubmissionId>,

    /// In their state for longer than this, such as 2d
    #[arg(long, value_name = "SPAN", requires = "pipeline")]
    in_state_for: Option<Millis>,

    /// That this worker has leased
    #[arg(long, value_name = "NAME", requires = "pipeline")]
    worker: Option<String>,

    /// Created before this time, such as 2026-02-15T18:00:00Z
    #[arg(long, value_name = "TIME", requires = "pipeline")]
    created_before: Option<Time>,

    /// Only say what would come of it
    #[arg(long, requires = "pipeline")]
    dry_run: bool,

    /// Do not ask whether it is meant
    #[arg(long, requires = "pipeline")]
    yes: bool,
}

/// The deed to do to each.
#[derive(Debug, Default)]
pub(crate) struct Deed<'a> {
    pub(crate) action: &'a str,
    pub(crate) reason: Option<&'a str>,
    pub(crate) data: Option<model::Json>,
    pub(crate) to: Option<&'a str>,
}

impl BulkArgs {
    /// The given one of some statuses, or all of them, where no other makes sense.
    pub(crate) fn among(&self, wanted: &[Status]) -> Result<Vec<Status>, Stop> {
        match self.status {
            None => Ok(wanted.to_vec()),
            Some(given) if wanted.contains(&given) => Ok(vec![given]),
            Some(given) => {
                let wanted: Vec<&str> = wanted.iter().map(|status| status.as_str()).collect();
                let message =
                    format!("this is for those that are {}, not {}", wanted.join(" or "), given.as_str());
                Err(Stop::usage(message).next("leave out --status"))
            }
        }
    }

    /// The same for those of one status.
    fn of(&self, status: Status) -> BulkArgs {
        BulkArgs { status: Some(status), ..self.clone() }
    }

    /// The same for those of one status, where nothing else makes sense.
    pub(crate) fn only(&self, status: Status) -> Result<BulkArgs, Stop> {
        self.among(&[status]).map(|_| self.of(status))
    }

    /// The same for ends whose investigation has come so far.
    pub(crate) fn investigated(&self, investigation: InvestigationStatus) -> BulkArgs {
        BulkArgs { investigation: Some(investigation), ..self.clone() }
    }

    fn filter(&self, pipeline: &str) -> Filter {
        Filter {
            state: self.state.as_deref().map(Into::into),
            status: self.status,
            investigation: self.investigation,
            parent: self.parent,
            labels: self
                .labels
                .iter()
                .map(|(name, value)| (name.as_str().into(), value.as_str().into()))
                .collect(),
            error: self.error.as_deref().map(Into::into),
            fingerprint: self.fingerprint,
            created_before: self.created_before,
            entered_before: self.in_state_for.map(|span| engine::clock::wall().minus(span)),
            worker: self.worker.as_deref().map(Into::into),
            ..Filter::of(pipeline.into())
        }
    }

    fn body(&self, pipeline: &str, deed: &Deed<'_>) -> OperationBody {
        OperationBody {
            filter: self.filter(pipeline),
            action: deed.action.into(),
            reason: deed.reason.map(str::to_owned),
            data: deed.data.clone(),
            to: deed.to.map(Into::into),
            version: None,
            map: Default::default(),
            dry_run: self.dry_run,
        }
    }

    /// Does it, unless whoever asks thinks better of it.
    pub(crate) async fn run(
        &self,
        pipeline: &str,
        deed: Deed<'_>,
        server: &ServerArgs,
        format: Format,
    ) -> anyhow::Result<Exit> {
        self.perform(vec![self.body(pipeline, &deed)], server, format).await
    }

    /// The same for several statuses, one after the other.
    pub(crate) async fn run_each(
        &self,
        statuses: &[Status],
        deed: Deed<'_>,
        server: &ServerArgs,
        format: Format,
    ) -> anyhow::Result<Exit> {
        let pipeline = self.pipeline.as_deref().unwrap_or_default();
        let bodies = statuses.iter().map(|status| self.of(*status).body(pipeline, &deed)).collect();
        self.perform(bodies, server, format).await
    }

    async fn perform(
        &self,
        bodies: Vec<OperationBody>,
        server: &ServerArgs,
        format: Format,
    ) -> anyhow::Result<Exit> {
        let bulk = Bulk { client: server.client()?, server };
        let Some(operations) = bulk.perform_all(&bodies, self.yes).await? else {
            return Ok(Exit::Negative);
        };
        match (format, operations.as_slice()) {
            (Format::Json, [one]) => output::print_json(one)?,
            (Format::Json, all) => output::print_json(&all)?,
            (Format::Table, all) => output::print(&bulk.told(&all.iter().collect::<Vec<_>>()).await?)?,
        }
        Ok(exit(&operations))
    }
}
