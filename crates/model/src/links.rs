//! The addresses by which people find a submission: for messages, receipts and commands to copy.

use std::collections::BTreeSet;

use wire::receipt::ReceiptKey;

use crate::Name;
use crate::submission::SubmissionId;

/// The addresses of a deployment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Links {
    base: String,
    /// The pipelines that have public pages.
    public: BTreeSet<Name>,
    receipts: ReceiptKey,
}

impl Links {
    /// `base` is the address of the server as people reach it, with or without a slash at its end.
    #[must_use]
    pub fn new(base: &str, public: BTreeSet<Name>, receipts: ReceiptKey) -> Links {
        Links { base: base.trim_end_matches('/').to_owned(), public, receipts }
    }

    /// Returns the address of the server.
    #[must_use]
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Returns the address of a submission's page in the console.
    #[must_use]
    pub fn page(&self, id: SubmissionId) -> String {
        format!("{}/console/submissions/{id}", self.base)
    }

    /// Returns the address of a submission's receipt; none where its pipeline has no public pages.
    #[must_use]
    pub fn receipt(&self, pipeline: &str, id: SubmissionId) -> Option<String> {
        let path = || receipt_path(pipeline, &self.receipts.receipt(pipeline, id));
        self.public.contains(pipeline).then(|| format!("{}{}", self.base, path()))
    }
}

/// Returns the path of a pipeline's public form.
#[must_use]
pub fn form_path(pipeline: &str) -> String {
    format!("/public/{pipeline}")
}

/// Returns the path of a receipt.
#[must_use]
pub fn receipt_path(pipeline: &str, receipt: &str) -> String {
    format!("/public/{pipeline}/receipts/{receipt}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receipts_are_linked_of_public_pipelines_alone() {
        let key = ReceiptKey::new([1; 32]);
        let links = Links::new("https://m.example/", BTreeSet::from(["open".into()]), key.clone());
        let id: SubmissionId = "0192f0c1-2345-7abc-8def-0123456789ab".parse().expect("it is an id");
        assert_eq!(links.page(id), format!("https://m.example/console/submissions/{id}"));
        let receipt = links.receipt("open", id).expect("it is public");
        let last = receipt.rsplit('/').next().expect("it has parts");
        assert_eq!(receipt, format!("https://m.example/public/open/receipts/{last}"));
        assert_eq!(key.read("open", last), Some(id));
        assert_eq!(links.receipt("closed", id), None);
    }
}
