//! The payload of a submission, as the tasks read it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use worker::{Failure, Task};

use crate::adapter::{Outgoing, Watched};

/// The name of the lane of batches without a service.
pub(crate) const NO_SERVICE: &str = "----";

/// A batch, as far as the tasks need it.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Batch {
    #[serde(default)]
    pub(crate) service_id: Option<String>,
    batch_header: String,
    #[serde(default)]
    nonce: Option<u64>,
    serialized_batch: String,
    /// A transaction with the same nonce that is sent in the first one's place.
    #[serde(default)]
    replacement: Option<Replacement>,
}

#[derive(Debug, Clone, Deserialize)]
struct Replacement {
    batch_header: String,
    serialized_batch: String,
}

impl Batch {
    pub(crate) fn of(task: &Task) -> Result<Batch, Failure> {
        task.payload()
    }

    pub(crate) fn service(&self) -> &str {
        self.service_id.as_deref().unwrap_or(NO_SERVICE)
    }

    /// Returns what is to be sent. Bytes that are no base64 are no better the next time.
    pub(crate) fn outgoing(&self) -> Result<Outgoing, Failure> {
        let (header, text) = match &self.replacement {
            Some(replacement) => (&replacement.batch_header, &replacement.serialized_batch),
            None => (&self.batch_header, &self.serialized_batch),
        };
        let bytes = STANDARD.decode(text).map_err(|error| {
            Failure::new("not-base64", format!("`serialized_batch` is not base64: {error}")).permanent()
        })?;
        Ok(Outgoing { service: self.service().to_owned(), header: header.clone(), bytes, nonce: self.nonce })
    }

    /// Returns what is to be asked about: the first transaction may be mined though it was replaced.
    pub(crate) fn watched(&self) -> Watched {
        let replaced = self.replacement.iter().map(|replacement| replacement.batch_header.clone());
        Watched {
            service: self.service().to_owned(),
            headers: std::iter::once(self.batch_header.clone()).chain(replaced).collect(),
            nonce: self.nonce,
        }
    }
}
