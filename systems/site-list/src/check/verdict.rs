//! The verdict on a site, as programs get it.

use serde::Serialize;
use wire::Json;

use super::judge::{Question, judge};
use super::known::{Enrolled, Known, Unknown};
use super::saved::saved_head;
use crate::action::Action;
use crate::found::Found;
use crate::refused::Refused;
use crate::rules::{Host, ISSUERS, Onions};
use crate::sites::{Sites, Trouble};

/// The verdict: `policy` is what the list would hand out, `code` and `message` why it would not.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    pub ok: bool,
    pub code: Option<String>,
    pub message: Option<String>,
    pub policy: Option<Json>,
}

impl Verdict {
    fn accepted(found: &Found) -> Verdict {
        let policy = found.policy().map(|policy| Json::from_stored(&policy.json()));
        Verdict { ok: true, code: None, message: None, policy }
    }

    fn refused(code: &str, message: String) -> Verdict {
        Verdict { ok: false, code: Some(code.to_owned()), message: Some(message), policy: None }
    }

    fn of(judged: Result<Found, Refused>) -> Verdict {
        match judged {
            Ok(found) => Verdict::accepted(&found),
            Err(Refused { code, message }) => Verdict::refused(code.as_str(), message),
        }
    }
}

/// Judges a change by the head of an answer that was saved.
///
/// # Errors
/// When the saved head cannot be read.
pub fn check_saved(
    name: &str,
    action: Action,
    head: &[u8],
    enrolled: Option<&Enrolled>,
) -> Result<Verdict, super::BadHead> {
    let headers = saved_head(head)?;
    Ok(Verdict::of(Host::read(name, Onions::Reached).and_then(|host| {
        let unknown = Unknown { host: &host, action };
        let known: &dyn Known = enrolled.map_or(&unknown, |enrolled| enrolled);
        judge(Question { host: &host, action, issuers: &default_issuers(), known }, &headers)
    })))
}

/// Judges a change by the live site, in the order of a validation: name, DNS, HTTPS, headers, list.
pub async fn check_live(name: &str, action: Action, sites: &Sites, enrolled: Option<&Enrolled>) -> Verdict {
    let judged = async {
        let host = Host::read(name, Onions::Refused)?;
        sites.names().addresses(&host).await?;
        let headers = sites.visit(&host).await?;
        let unknown = Unknown { host: &host, action };
        let known: &dyn Known = enrolled.map_or(&unknown, |enrolled| enrolled);
        Ok(judge(Question { host: &host, action, issuers: &default_issuers(), known }, &headers)?)
    };
    match judged.await {
        Ok(found) => Verdict::accepted(&found),
        Err(Trouble::Refused(refused)) => Verdict::of(Err(refused)),
        Err(Trouble::Passing { code, message }) => Verdict::refused(code, message),
    }
}

fn default_issuers() -> Vec<String> {
    ISSUERS.iter().map(|issuer| (*issuer).to_owned()).collect()
}
