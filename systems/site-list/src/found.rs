//! The output of a validation: everything observed, in its one form.

use serde::{Deserialize, Serialize};

use crate::action::Action;
use crate::policy::{Policy, Signer};
use crate::rules::Csp;

/// All that a validation found. The machine compares the second with the first, all but the contact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Found {
    pub signers: Option<Vec<Signer>>,
    pub threshold: Option<u32>,
    pub csp: Option<Csp>,
    pub action: Action,
    /// The digest of the list's entry.
    pub entry: Option<String>,
    pub contact: Option<String>,
    /// The digest by which the contact's mails are counted; none where there is no mail left for it today.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<String>,
}

impl Found {
    #[must_use]
    pub fn new(action: Action, policy: Option<Policy>) -> Found {
        let (signers, threshold) = policy.map(|policy| (policy.signers, policy.threshold)).unzip();
        Found { signers, threshold, csp: None, action, entry: None, contact: None, told: None }
    }

    #[must_use]
    pub fn policy(&self) -> Option<Policy> {
        Some(Policy { signers: self.signers.clone()?, threshold: self.threshold? })
    }
}
