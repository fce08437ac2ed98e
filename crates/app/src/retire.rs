//! Letting go of versions that nothing follows.

use model::{Name, Refusal};
use wire::api::{KeptVersion, RetireAnswer, RetireBody};

use crate::{App, invalid};

impl App {
    /// Retires one version of a pipeline, or all that nothing follows.
    pub async fn retire(&self, name: &str, body: RetireBody) -> Result<RetireAnswer, Refusal> {
        self.check_defines(name)?;
        let versions = self.engine.pipelines().current();
        let (name, engine): (Name, _) = (self.in_force(&versions, name)?.name.clone(), self.by());
        let done = match (body.version, body.unused) {
            (Some(version), false) => engine.retire_version(&name, version, body.dry_run).await?,
            (None, true) => engine.retire_unused(&name, body.dry_run).await?,
            _ => return Err(invalid("say either which `version` to retire, or `unused` for all of them")),
        };
        let kept = done.kept.into_iter();
        let kept = kept.map(|(version, refusal)| KeptVersion { version, reason: refusal.message });
        Ok(RetireAnswer { name, retired: done.retired, kept: kept.collect(), dry_run: body.dry_run })
    }
}
