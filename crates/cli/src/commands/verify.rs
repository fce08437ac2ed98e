use std::io::Read as _;
use std::path::{Path, PathBuf};

use audit::follow::{FolderStore, TileStore as _};
use audit::note::{Checkpoint, Note, Trust};
use audit::tiles::TileSource;
use audit::verify::{
    Definitions, EvidenceOptions, Finding, LogOptions, LogReport, verify_evidence, verify_log,
};
use clap::Args;
use model::SubmissionId;

use crate::audit::{KeyArgs, Served, Told, Watched};
use crate::exit::{Exit, Stop};
use crate::output::Format;
use crate::remote::{AccessArgs, read_id};

/// Check a history without believing whoever hands it out
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  milepost verify evidence.json --key @log.vkey             one submission, offline
  milepost verify ./log --key @log.vkey                     a whole log, from its folder
  milepost verify https://milepost.example --key @log.vkey --since seen.checkpoint
  milepost evidence ID | milepost verify - --key @log.vkey --policy witnesses.txt

Checked are signatures, places, chains, completeness, and that every move was legal under the definition it names.
The first thing wrong is named, with its place in the log. Exits with 1 if there is one.
A token of the environment is not shown to the address if MILEPOST_SERVER names another one.
What is and what is not proven: docs/audit.md.")]
pub(crate) struct Verify {
    /// Evidence (a file, or - for stdin), a log's folder, or the address of a log
    #[arg(value_name = "FILE|FOLDER|URL")]
    source: String,

    /// A checkpoint you saved: the log must go on from there
    #[arg(long, value_name = "CHECKPOINT_FILE")]
    since: Option<PathBuf>,

    /// The submission it must be about; of a whole log, the one whose end to report
    #[arg(long, value_name = "ID", value_parser = read_id)]
    submission: Option<SubmissionId>,

    #[command(flatten)]
    keys: KeyArgs,

    #[command(flatten)]
    access: AccessArgs,
}

impl Verify {
    pub(crate) fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let trust = self.keys.trust()?;
        let since = self.since.as_deref().map(read_checkpoint).transpose()?;
        let source = wire::address::shown(&self.source);
        let told = Told { source: &source, since: since.as_ref().map(|(size, _)| *size) };
        let known = since.as_ref().map(|(_, text)| &**text);
        let is_address = self.source.starts_with("http://") || self.source.starts_with("https://");
        let result = if is_address {
            self.served(&trust, known)?
        } else if Path::new(&self.source).is_dir() {
            self.folder(&trust, known)?
        } else {
            return self.evidence(&trust, known, &told, format);
        };
        match result {
            Ok(report) => told.log(&report, self.submission, format),
            Err(finding) => told.wrong(&finding, format),
        }
    }

    fn evidence(
        &self,
        trust: &Trust,
        known: Option<&str>,
        told: &Told<'_>,
        format: Format,
    ) -> anyhow::Result<Exit> {
        let bytes = read_evidence(&self.source)?;
        match verify_evidence(&bytes, &EvidenceOptions { trust: Some(trust), known }) {
            Ok(report) => match self.submission.filter(|wanted| *wanted != report.submission) {
                None => told.evidence(&report, format),
                Some(wanted) => {
                    let message =
                        format!("the evidence is about submission {}, not {wanted}", report.submission);
                    Err(Stop::new(Exit::Negative, message).into())
                }
            },
            Err(finding) => told.wrong(&finding, format),
        }
    }

    fn folder(&self, trust: &Trust, known: Option<&str>) -> anyhow::Result<Result<LogReport, Finding>> {
        let store = FolderStore::open(&self.source);
        let Some(checkpoint) = store.checkpoint()? else {
            let stop = Stop::usage(format!("{} holds no log: it has no file `checkpoint`", self.source));
            return Err(stop.next("name the folder that holds `checkpoint` and `tile`").into());
        };
        Ok(self.log(&store, &checkpoint, trust, known))
    }

    fn served(&self, trust: &Trust, known: Option<&str>) -> anyhow::Result<Result<LogReport, Finding>> {
        let mut served = Served::new(self.access.client_of_log(&self.source)?)?;
        let checkpoint = served.checkpoint()?;
        served.read_ahead(size_of(&checkpoint).unwrap_or(0));
        let result = self.log(&served, &checkpoint, trust, known);
        match served.failure() {
            // What could not be had is neither right nor wrong.
            Some(error) if result.is_err() => Err(error.into()),
            _ => Ok(result),
        }
    }

    fn log<S: TileSource + Definitions>(
        &self,
        source: &S,
        checkpoint: &str,
        trust: &Trust,
        known: Option<&str>,
    ) -> Result<LogReport, Finding> {
        let watched = Watched::new(source, size_of(checkpoint).unwrap_or(0));
        let options = LogOptions { known, watch: self.submission.into_iter().collect() };
        verify_log(&watched, checkpoint, trust, &options)
    }
}

/// Reads the size from a checkpoint before anybody believed it: good for a progress bar, and for asking ahead.
fn size_of(checkpoint: &str) -> Option<u64> {
    let note = Note::parse(checkpoint.as_bytes()).ok()?;
    let checkpoint: Checkpoint = note.text.parse().ok()?;
    Some(checkpoint.size)
}

pub(super) fn read_checkpoint(path: &Path) -> anyhow::Result<(u64, String)> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Stop::usage(format!("cannot read {}: {error}", path.display())))?;
    let Some(size) = size_of(&text) else {
        let stop = Stop::usage(format!("{} is no checkpoint", path.display()));
        return Err(stop.next("save what the log serves at /checkpoint, to the byte").into());
    };
    Ok((size, text))
}

fn read_evidence(source: &str) -> anyhow::Result<Vec<u8>> {
    if source == "-" {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes)?;
        return Ok(bytes);
    }
    Ok(std::fs::read(source).map_err(|error| Stop::usage(format!("cannot read {source}: {error}")))?)
}
