//! The checks of `doctor`: each has a verdict, and says what to do where it is not fine.

mod certificate;
mod folder;
mod operators;
mod server;

pub(crate) use certificate::certificate;
pub(crate) use folder::{audit_key, folder, postgres};
pub(crate) use server::server;

use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    Fine,
    /// Worth knowing; nothing is broken yet.
    Warning,
    Wrong,
}

impl Verdict {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Verdict::Fine => "fine",
            Verdict::Warning => "warning",
            Verdict::Wrong => "wrong",
        }
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct Check {
    pub(crate) check: &'static str,
    pub(crate) verdict: Verdict,
    pub(crate) found: String,
    /// The thing to do about what was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
}

impl Check {
    fn fine(check: &'static str, found: impl Into<String>) -> Check {
        Check { check, verdict: Verdict::Fine, found: found.into(), next: None }
    }

    fn warning(check: &'static str, found: impl Into<String>, next: impl Into<String>) -> Check {
        Check { check, verdict: Verdict::Warning, found: found.into(), next: Some(next.into()) }
    }

    fn wrong(check: &'static str, found: impl Into<String>, next: impl Into<String>) -> Check {
        Check { check, verdict: Verdict::Wrong, found: found.into(), next: Some(next.into()) }
    }
}
