//! Refusals that several questions share.

use engine::pipelines::Versions;
use model::{Code, Pipeline, Refusal, SubmissionId};

use crate::App;

/// Makes the refusal of a request that cannot be meant as it is written.
pub fn invalid(message: impl Into<String>) -> Refusal {
    Refusal::new(Code::InvalidRequest, message)
}

/// Returns text of the caller for use inside a message: bounded, and without what could steer a terminal.
#[must_use]
pub fn quote(text: &str) -> String {
    const CHARS_MAX: usize = 80;
    let plain = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let mut quoted: String = text.chars().take(CHARS_MAX).map(plain).collect();
    if text.chars().nth(CHARS_MAX).is_some() {
        quoted.push_str("..");
    }
    format!("`{quoted}`")
}

pub(crate) fn no_submission(id: SubmissionId) -> Refusal {
    Refusal::new(Code::UnknownSubmission, format!("no submission `{id}`"))
}

/// Makes the refusal of a submission whose version this server has not loaded: the store has it, so somebody erred.
pub(crate) fn not_loaded(row: &model::Submission) -> Refusal {
    Refusal::new(Code::Internal, format!("version {} of `{}` is not loaded", row.version, row.pipeline))
}

impl App {
    /// Returns the version of a pipeline that is in force, or a refusal that names those the visitor may know of.
    pub(crate) fn in_force<'v>(
        &self,
        versions: &'v Versions,
        name: &str,
    ) -> Result<&'v std::sync::Arc<Pipeline>, Refusal> {
        versions.in_force(name).ok_or_else(|| {
            let names = versions.all().map(|pipeline| &*pipeline.name);
            let known: Vec<&str> = names.filter(|known| self.visitor.sees(known)).collect();
            let there_is = if known.is_empty() {
                "none is applied yet".to_owned()
            } else {
                format!("there is {}", known.join(", "))
            };
            Refusal::new(Code::UnknownPipeline, format!("no pipeline {}; {there_is}", quote(name)))
        })
    }
}
