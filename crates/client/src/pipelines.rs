//! Pipelines: what is in force, and bringing new versions into force.

use wire::SubmissionId;
use wire::api::{ApplyAnswer, ApplyBody, PipelineList, PipelineView, RetireAnswer, RetireBody};

use crate::call::Call;
use crate::client::Client;
use worker::Error;

/// Options for applying a definition.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ApplyOptions {
    /// Says what applying would change, and changes nothing.
    pub dry_run: bool,
    /// Goes back to an older version than the one in force.
    pub rollback: bool,
}

impl Client {
    /// The version in force of every pipeline, with counts.
    pub async fn pipelines(&self) -> Result<PipelineList, Error> {
        self.json(Call::get(self.at(["pipelines"]))).await
    }

    /// The version in force of one pipeline, with counts.
    pub async fn pipeline(&self, name: &str) -> Result<PipelineView, Error> {
        self.json(Call::get(self.at(["pipelines", name]))).await
    }

    /// A certain version of a pipeline: submissions stay with the one they were made under.
    pub async fn pipeline_version(&self, name: &str, version: u32) -> Result<PipelineView, Error> {
        let mut url = self.at(["pipelines", name]);
        url.query_pairs_mut().append_pair("version", &version.to_string());
        self.json(Call::get(url)).await
    }

    /// The file of a pipeline's version in force.
    pub async fn pipeline_toml(&self, name: &str) -> Result<String, Error> {
        self.send(Call::get(self.at(["pipelines", name])).accepting("application/toml")?).await?.text()
    }

    /// The diagram of a pipeline's version in force, as Mermaid reads it.
    pub async fn pipeline_mermaid(&self, name: &str) -> Result<String, Error> {
        self.send(Call::get(self.at(["pipelines", name])).accepting("text/vnd.mermaid")?).await?.text()
    }

    /// The drawing of a pipeline's version in force, as SVG.
    pub async fn pipeline_svg(&self, name: &str) -> Result<String, Error> {
        self.send(Call::get(self.at(["pipelines", name])).accepting("image/svg+xml")?).await?.text()
    }

    /// The drawing of a submission's machine with the way it took, as SVG.
    pub async fn drawing(&self, id: SubmissionId) -> Result<String, Error> {
        let url = self.at(["submissions", &id.to_string(), "drawing"]);
        self.send(Call::get(url).accepting("image/svg+xml")?).await?.text()
    }

    /// Brings a definition of the pipeline `name` into force. Applying what is in force already changes nothing, so this
    /// is safe to repeat.
    pub async fn apply(&self, name: &str, body: &ApplyBody) -> Result<ApplyAnswer, Error> {
        self.json(Call::put(self.at(["pipelines", name]), body)?.repeatable()).await
    }

    /// Checks a definition and says what it would change, without applying it.
    pub async fn apply_dry_run(&self, name: &str, body: &ApplyBody) -> Result<ApplyAnswer, Error> {
        self.apply_with(name, body, ApplyOptions { dry_run: true, ..ApplyOptions::default() }).await
    }

    /// Lets go of versions that nothing follows. Retiring what was retired changes nothing, so this is safe to repeat.
    pub async fn retire(&self, name: &str, body: RetireBody) -> Result<RetireAnswer, Error> {
        self.json(Call::post(self.at(["pipelines", name, "retire"]), &body)?.repeatable()).await
    }

    /// Brings a definition into force as the options say.
    pub async fn apply_with(
        &self,
        name: &str,
        body: &ApplyBody,
        options: ApplyOptions,
    ) -> Result<ApplyAnswer, Error> {
        let mut url = self.at(["pipelines", name]);
        for (name, _) in
            [("dry_run", options.dry_run), ("rollback", options.rollback)].iter().filter(|(_, on)| *on)
        {
            url.query_pairs_mut().append_pair(name, "true");
        }
        self.json(Call::put(url, body)?.repeatable()).await
    }
}
