//! One site's headers, judged against the list.

use super::known::Known;
use crate::action::Action;
use crate::found::Found;
use crate::policy::Policy;
use crate::refused::{Code, Refused};
use crate::rules::{Host, Listed, Observed, Wanted, check_listed, check_sources, observe, standing};

/// The change that is to be judged, and by whose rules.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    pub host: &'a Host,
    pub action: Action,
    pub issuers: &'a [String],
    pub known: &'a dyn Known,
}

impl std::fmt::Debug for Question<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Question { host, action, .. } = self;
        f.debug_struct("Question").field("host", host).field("action", action).finish_non_exhaustive()
    }
}

/// Checks that a site that is on the list still says what the list has of it. Whatever change it asks for does not matter.
///
/// # Errors
/// With the first rule that the site does not meet any more.
pub fn check_enrolled(
    (host, enrolled): (&Host, &Policy),
    headers: &[(String, Vec<u8>)],
    (issuers, known): (&[String], &dyn Known),
) -> Result<(), Refused> {
    let (policy, csp) = standing(headers, issuers)?;
    check_sources(&csp, &|other: &Host| other == host || known.listed(other) != Listed::Absent)?;
    if policy != *enrolled {
        let message = format!("{host} names other signers or another threshold than the list has");
        return Err(Refused::new(Code::ListDiffers, message));
    }
    Ok(())
}

/// Judges the headers of a site's answer. What was found has no entry yet.
///
/// # Errors
/// With the first rule that the site does not meet.
pub fn judge(question: Question<'_>, headers: &[(String, Vec<u8>)]) -> Result<Found, Refused> {
    let Question { host, action, issuers, known } = question;
    let Observed { policy, csp, contact } = observe(headers, Wanted { action, issuers })?;
    if let Some(csp) = &csp {
        let is_enrolled = |other: &Host| other == host || known.listed(other) != Listed::Absent;
        check_sources(csp, &is_enrolled)?;
    }
    check_listed(host, action, policy.as_ref(), known.listed(host))?;
    Ok(Found { csp, contact, ..Found::new(action, policy) })
}
