//! A submission as people name it: by its id, by the beginning of its id, or by its key.

use std::fmt;

use client::Client;
use model::SubmissionId;

use crate::commands::table;
use crate::exit::{Exit, Stop};
use crate::output::plain;
use crate::remote::program;

/// The text that names a submission.
#[derive(Debug, Clone)]
pub(crate) struct Which(String);

impl From<&str> for Which {
    fn from(text: &str) -> Which {
        Which(text.to_owned())
    }
}

impl fmt::Display for Which {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Which {
    /// Returns the id of the submission. The server is asked unless a whole id was given.
    pub(crate) async fn id(&self, client: &Client) -> anyhow::Result<SubmissionId> {
        if let Ok(id) = self.0.parse() {
            return Ok(id);
        }
        let found = client.find(&self.0).await?;
        if let Some(id) = found.meant {
            return Ok(id);
        }
        let text = plain(&self.0);
        if found.submissions.is_empty() {
            let message = format!("no submission has the id or the key `{text}`");
            let next = format!("`{} list` shows what there is", program());
            return Err(Stop::new(Exit::NotFound, message).next(next).into());
        }
        let more = if found.more { "\nand more" } else { "" };
        let candidates = table(&found.submissions);
        let message = format!("`{text}` may mean several submissions:\n{}{more}", candidates.trim_end());
        Err(Stop::usage(message)
            .next("give more of the id; a key alone means the submission that holds it")
            .into())
    }

    /// Returns the id of the submission, where one is named.
    pub(crate) async fn maybe(
        which: Option<&Which>,
        client: &Client,
    ) -> anyhow::Result<Option<SubmissionId>> {
        match which {
            Some(which) => Ok(Some(which.id(client).await?)),
            None => Ok(None),
        }
    }
}
