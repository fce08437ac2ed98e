//! The audit log: its files, and what its operators ask of it.

use std::sync::Arc;

use audit::tiles::TilePath;
use engine::Standing;
use model::{Code, Digest, Pipeline, Refusal};
use wire::api::{AuditView, ForkBody, LogKeyAnswer, LogKeyBody, WitnessView};

use crate::{App, quote};

impl App {
    /// Returns a tile. Leaves are of all pipelines: whoever may see some of them only gets the evidence of theirs.
    pub async fn tile(&self, path: &str) -> Result<Vec<u8>, Refusal> {
        self.check_unlimited("the log is of everything, and this token for a part; ask for evidence")?;
        let tile: TilePath = path.parse().map_err(|_| missing(path))?;
        self.engine.tile(tile).await?.ok_or_else(|| missing(path))
    }

    /// Returns a definition that was ever in force, by its digest.
    pub async fn definition(&self, text: &str) -> Result<Arc<Pipeline>, Refusal> {
        let unknown = || missing(&format!("definition/{text}"));
        let digest: Digest = text.parse().map_err(|_| unknown())?;
        let found = self.engine.definition(digest).await?;
        found.filter(|pipeline| self.visitor.sees(&pipeline.name)).ok_or_else(unknown)
    }

    /// Tells how the log stands. What a checkpoint says is for everybody; errors and what waits for the next are of all
    /// pipelines.
    pub async fn log_standing(&self) -> Result<AuditView, Refusal> {
        let view = self.whole_standing().await?;
        Ok(match self.visitor.is_unlimited() {
            true => view,
            false => AuditView { unpublished: None, reason: None, witnesses: Vec::new(), ..view },
        })
    }

    /// Has the log go on from what the store holds, after a fork.
    pub async fn fork(&self, body: ForkBody) -> Result<AuditView, Refusal> {
        self.by().fork(body.reason).await?;
        self.whole_standing().await
    }

    /// Adds a key to the log, or retires one.
    pub async fn change_log_keys(&self, body: LogKeyBody) -> Result<LogKeyAnswer, Refusal> {
        let engine = self.by();
        let key = match body.retire {
            None => engine.add_log_key().await?,
            Some(key) => engine.retire_log_key(&key).await?,
        };
        Ok(LogKeyAnswer { key, keys: self.engine.log_keys()? })
    }

    async fn whole_standing(&self) -> Result<AuditView, Refusal> {
        let (report, unpublished) = self.engine.log_report().await?;
        let (standing, reason) = match report.standing {
            Standing::Running => ("running", None),
            Standing::Refused { reason, .. } => ("refused", Some(reason)),
            Standing::Failing(reason) => ("failing", Some(reason)),
        };
        let witnesses = report.witnesses.into_iter().map(|witness| WitnessView {
            name: witness.name,
            cosigned: witness.cosigned,
            missing: witness.missing,
        });
        Ok(AuditView {
            origin: report.origin,
            size: report.size,
            checkpoint_at: report.published_at,
            unpublished: Some(unpublished),
            standing: standing.to_owned(),
            reason,
            keys: report.keys,
            witnesses: witnesses.collect(),
        })
    }
}

fn missing(path: &str) -> Refusal {
    Refusal::new(Code::UnknownTile, format!("the log has no {}, or not yet", quote(path)))
}
