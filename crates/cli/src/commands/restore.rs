use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use audit::follow::TileStore as _;
use audit::guard::Guard;
use audit::note::{Checkpoint, Note};
use clap::Args;
use engine::core::{Ask, Core, LogDeed};
use engine::log::StoreTiles;
use engine::{Holds, Pipelines, SystemClock};
use serde_json::json;
use store_sqlite::{SqliteStore, backup};

use crate::copying::{bar, check_empty, private_copy, private_folder, sync};
use crate::exit::{Exit, Stop};
use crate::output::{self, Format, say};

/// Make a data folder from a backup
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  milepost restore /mnt/backups/2026-11-16 --data /var/lib/milepost --guard /mnt/other/log.guard
  milepost restore /mnt/backups/2026-11-16 --data /var/lib/milepost

The backup is copied and checked first; the data folder appears when all is well. What happened after the backup is gone,
but checkpoints that were signed over it are still with those who saw them. So the audit log has to say that it goes on
from an older state: that is done here, as an act that everybody who reads the log will read. With --guard, the signer's
memory if it survived, the act is made only if something that was signed is missing.

Start one server over it, with the same --audit-guard as before if that was another file. Where witnesses saw more,
the log stands still until `milepost audit fork` has given that up too.")]
pub(crate) struct Restore {
    /// The folder `milepost backup` made
    #[arg(value_name = "BACKUP")]
    backup: PathBuf,

    /// The data folder to make; it must not be there, or be empty
    #[arg(long, value_name = "DIR")]
    data: PathBuf,

    /// The signer's memory of what it signed last (log.guard of the old server), where it survived
    #[arg(long, value_name = "FILE")]
    guard: Option<PathBuf>,

    /// Compare every index with its table, too: takes longer
    #[arg(long)]
    thorough: bool,
}

impl Restore {
    pub(crate) fn run(&self, format: Format) -> anyhow::Result<Exit> {
        if self.data.exists() {
            check_empty(&self.data)?;
        }
        let beside = beside(&self.data);
        private_folder(&beside)?;
        let restored = self.fill(&beside).and_then(|done| {
            put(&beside, &self.data)?;
            Ok(done)
        });
        if restored.is_err() {
            let _ = std::fs::remove_dir_all(&beside);
        }
        let (look, forked) = restored?;
        match format {
            Format::Json => output::print_json(&json!({
                "data": self.data, "submissions": look.submissions, "first": look.first, "last": look.last,
                "given_up": forked.as_ref().map(|checkpoint| checkpoint.size),
            }))?,
            Format::Table => output::print(&format!(
                "{} has {} submissions and all up to position {}\n",
                self.data.display(),
                look.submissions,
                look.last
            ))?,
        }
        match forked {
            Some(Checkpoint { size, .. }) if size > look.last => say!(
                "what was signed beyond this backup, up to {size} leaves, is given up, and the audit log says so from \
                 here on; monitors and witnesses will object until somebody has looked"
            ),
            Some(Checkpoint { size, .. }) => say!(
                "the {size} leaves that were signed as far as this backup knows are all there; what was signed after \
                 it, if anything, is given up, and the audit log says so from here on. Monitors and witnesses that saw more \
                 will object until somebody has looked; --guard says whether there was more"
            ),
            None if self.guard.is_some() => {
                say!("nothing that was signed is missing: the audit log goes on as it was")
            }
            None => say!("no checkpoint had been signed when the backup was made"),
        }
        Ok(Exit::Fine)
    }

    /// Everything, in a folder that nobody uses yet.
    fn fill(&self, folder: &Path) -> anyhow::Result<(backup::Look, Option<Checkpoint>)> {
        let bad = |error: store::Error| Stop::new(Exit::Negative, format!("the backup is no good: {error}"));
        let bar = bar("pages");
        let copied = backup::copy(&self.backup, &folder.join("milepost.db"), &mut |progress| {
            bar.set_length(progress.total);
            bar.set_position(progress.done);
        });
        bar.finish_and_clear();
        copied.map_err(bad)?;
        let look = backup::look(&folder.join("milepost.db"), self.thorough).map_err(bad)?;
        if self.backup.join("log.key").exists() {
            private_copy(&self.backup.join("log.key"), &folder.join("log.key"))?;
        } else {
            say!(
                "the backup has no key of the audit log: put the old log.key into the folder before you start"
            );
        }
        if let Some(guard) = &self.guard {
            private_copy(guard, &folder.join("log.guard"))?;
        }
        let store = SqliteStore::open(folder, Arc::new(SystemClock::new())).map_err(bad)?;
        let forked = self.fork(Arc::new(store), folder, look.last)?;
        sync(folder)?;
        Ok((look, forked))
    }

    /// Puts on record that the log goes on from an older state, where it does.
    fn fork(&self, store: Arc<SqliteStore>, folder: &Path, last: u64) -> anyhow::Result<Option<Checkpoint>> {
        let signed = match &self.guard {
            Some(_) => {
                let guard = Guard::open(folder.join("log.guard"), Vec::new())
                    .map_err(|error| Stop::usage(format!("the guard cannot be used: {error}")))?;
                // All that was signed is here: the signer will see whether it is the same.
                guard.last().filter(|signed| signed.size > last).cloned()
            }
            None => published(&store)?,
        };
        let Some(signed) = signed else { return Ok(None) };
        let reason = format!("restored from a backup that ends at position {last}");
        let (size, root) = (signed.size, signed.root);
        let deed = LogDeed::Fork { size, root, forgiven: size, reason };
        let mut core = Core::new(store, Pipelines::default(), Holds::default(), [0; 32]);
        let mut step = core.step(&[Ask::Log(Box::new(deed)).into()], 0, &mut engine::clock::entropy);
        match step.outcomes.pop() {
            Some(Ok(_)) => Ok(Some(signed)),
            Some(Err(refusal)) => Err(refusal).context("the fork cannot be put on record"),
            None => Err(Stop::new(Exit::Negative, "the fork was not answered").into()),
        }
    }
}

/// The checkpoint that was published when the backup was made.
fn published(store: &Arc<SqliteStore>) -> anyhow::Result<Option<Checkpoint>> {
    let Some(note) = StoreTiles(&**store).checkpoint()? else { return Ok(None) };
    let checkpoint = Note::parse(note.as_bytes())?.text.parse::<Checkpoint>()?;
    Ok(Some(checkpoint))
}

/// On the same disk as the folder it becomes.
fn beside(data: &Path) -> PathBuf {
    let mut name = data.file_name().unwrap_or_default().to_owned();
    name.push(format!(".restoring-{}", std::process::id()));
    data.with_file_name(name)
}

fn put(beside: &Path, data: &Path) -> anyhow::Result<()> {
    if data.exists() {
        std::fs::remove_dir(data).with_context(|| format!("cannot replace {}", data.display()))?;
    }
    std::fs::rename(beside, data).with_context(|| format!("cannot make {}", data.display()))?;
    sync(data.parent().unwrap_or(Path::new(".")))
}
