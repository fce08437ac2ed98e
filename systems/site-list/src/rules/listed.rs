//! The list's own say: a site is added once, and changed or removed only while it is there.

use super::host::Host;
use crate::action::Action;
use crate::policy::Policy;
use crate::refused::{Code, Refused};

/// The list's entry of a host, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listed<'a> {
    Absent,
    /// On the list, with this policy; none where only the names of the sites are known.
    Present(Option<&'a Policy>),
}

/// Checks that a change fits the list.
///
/// # Errors
/// When the site is there already, is not there, or would stay as it is.
pub fn check_listed(
    host: &Host,
    action: Action,
    policy: Option<&Policy>,
    listed: Listed<'_>,
) -> Result<(), Refused> {
    match (action, listed) {
        (Action::Add, Listed::Absent) => Ok(()),
        (Action::Add, Listed::Present(_)) => {
            let message = format!("{host} is on the list already: ask for MODIFY to change its entry");
            Err(Refused::new(Code::ListPresent, message))
        }
        (_, Listed::Absent) => {
            Err(Refused::new(Code::ListAbsent, format!("{host} is not on the list: ask for ADD first")))
        }
        (Action::Modify, Listed::Present(known)) if known.is_some() && known == policy => {
            let message = format!("{host} is on the list with the same signers and threshold already");
            Err(Refused::new(Code::ListUnchanged, message))
        }
        (_, Listed::Present(_)) => Ok(()),
    }
}
