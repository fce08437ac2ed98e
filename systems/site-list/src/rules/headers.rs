//! The headers by which a site says what it wants.

use serde::Deserialize;
use wire::Json;

use super::csp::Csp;
use crate::action::Action;
use crate::policy::{Policy, SIGNERS_MAX, Signer};
use crate::refused::{Code, Refused, shown};

/// The issuers of identities that a list trusts unless its settings say otherwise.
pub const ISSUERS: &[&str] = &[
    "https://accounts.google.com",
    "https://login.microsoftonline.com",
    "https://github.com/login/oauth",
    "https://gitlab.com",
];

const SIGNERS: &str = "x-sigstore-signers";
const THRESHOLD: &str = "x-sigstore-threshold";
const OF_SIGSTORE: &str = "x-sigstore-";
const ACTION: &str = "x-webcat-action";
const CONTACT: &str = "x-webcat-contact";
const CSP: &str = "content-security-policy";

/// The change that is asked for, and the issuers that may vouch for signers.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    pub action: Action,
    pub issuers: &'a [String],
}

/// The wishes that a site's headers state, in their one form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observed {
    /// None where the site asks to leave the list.
    pub policy: Option<Policy>,
    pub csp: Option<Csp>,
    pub contact: Option<String>,
}

/// The contact that the headers name, as far as there is one to write to.
#[must_use]
pub fn contact_of(headers: &[(String, Vec<u8>)]) -> Option<String> {
    contact(headers).ok().flatten()
}

/// Reads the headers of a site's answer, in the order in which they are named to people: signers, threshold, action,
/// contact, content security policy.
///
/// # Errors
/// With the first header that is missing, repeated or wrong.
pub fn observe(headers: &[(String, Vec<u8>)], wanted: Wanted<'_>) -> Result<Observed, Refused> {
    let policy = match wanted.action {
        Action::Delete => {
            check_no_signers(headers)?;
            None
        }
        _ => Some(policy(headers, wanted.issuers)?),
    };
    check_action(headers, wanted.action)?;
    let contact = contact(headers)?;
    let csp = match wanted.action {
        Action::Delete => None,
        _ => Some(csp(headers)?),
    };
    Ok(Observed { policy, csp, contact })
}

/// Reads the headers that stand as long as a site is on the list: signers, threshold, content security policy.
///
/// # Errors
/// With the first header that is missing, repeated or wrong.
pub fn standing(headers: &[(String, Vec<u8>)], issuers: &[String]) -> Result<(Policy, Csp), Refused> {
    Ok((policy(headers, issuers)?, csp(headers)?))
}

/// Values of a header, in the order in which they came.
fn values<'a>(headers: &'a [(String, Vec<u8>)], name: &'a str) -> impl Iterator<Item = &'a [u8]> {
    headers.iter().filter(move |(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| &**value)
}

/// Returns the one value of a header; none where it is not there.
fn single(headers: &[(String, Vec<u8>)], name: &str, repeated: Code) -> Result<Option<String>, Refused> {
    let mut values = values(headers, name);
    let first = values.next();
    if values.next().is_some() {
        let message = format!("the header `{name}` is there more than once: send it once");
        return Err(Refused::new(repeated, message));
    }
    Ok(first.map(|value| String::from_utf8_lossy(value).trim().to_owned()))
}

fn required(
    headers: &[(String, Vec<u8>)],
    name: &str,
    (repeated, missing): (Code, Code),
) -> Result<String, Refused> {
    single(headers, name, repeated)?
        .ok_or_else(|| Refused::new(missing, format!("the header `{name}` is missing: add it to the answer")))
}

fn check_no_signers(headers: &[(String, Vec<u8>)]) -> Result<(), Refused> {
    let is_of_sigstore = |name: &str| {
        name.get(..OF_SIGSTORE.len()).is_some_and(|start| start.eq_ignore_ascii_case(OF_SIGSTORE))
    };
    match headers.iter().find(|(name, _)| is_of_sigstore(name)) {
        None => Ok(()),
        Some((name, _)) => {
            let name = name.to_ascii_lowercase();
            let message =
                format!("the header `{}` is still there: remove it to leave the list", shown(&name));
            Err(Refused::new(Code::SignersPresent, message))
        }
    }
}

fn policy(headers: &[(String, Vec<u8>)], issuers: &[String]) -> Result<Policy, Refused> {
    let signers = required(headers, SIGNERS, (Code::SignersRepeated, Code::SignersMissing))?;
    let invalid = |reason: String| {
        let message = format!("the header `{SIGNERS}` is no array of {{\"identity\",\"issuer\"}}: {reason}");
        Refused::new(Code::SignersInvalid, message)
    };
    Json::check_bytes(signers.as_bytes()).map_err(|error| invalid(error.to_string()))?;
    let signers: Vec<SignerHeader> =
        serde_json::from_str(&signers).map_err(|error| invalid(error.to_string()))?;
    let signers = signers.into_iter().map(|SignerHeader { identity, issuer }| Signer { identity, issuer });
    let threshold = required(headers, THRESHOLD, (Code::ThresholdRepeated, Code::ThresholdMissing))?;
    let is_number = !threshold.is_empty() && threshold.bytes().all(|byte| byte.is_ascii_digit());
    let threshold = threshold.parse().ok().filter(|_| is_number).ok_or_else(|| {
        let message = format!("the header `{THRESHOLD}` is `{}`: give a whole number", shown(&threshold));
        Refused::new(Code::ThresholdInvalid, message)
    })?;
    normalized(signers.collect(), threshold, issuers)
}

/// A signer as the header has it. Unknown fields are refused: whoever wrote one meant something by it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SignerHeader {
    identity: String,
    issuer: String,
}

/// Brings signers into their one form: trimmed, in lower case, sorted.
///
/// # Errors
/// When there are none or too many, one is wrong or there twice, or the threshold cannot be met.
pub fn normalized(signers: Vec<Signer>, threshold: u32, issuers: &[String]) -> Result<Policy, Refused> {
    if !(1..=SIGNERS_MAX).contains(&signers.len()) {
        let message = format!("there are {} signers: name 1 to {SIGNERS_MAX}", signers.len());
        return Err(Refused::new(Code::SignersNumber, message));
    }
    let mut signers: Vec<Signer> = signers
        .into_iter()
        .map(|signer| Signer {
            identity: signer.identity.trim().to_lowercase(),
            issuer: signer.issuer.trim().to_lowercase(),
        })
        .collect();
    for Signer { identity, issuer } in &signers {
        if !is_mail_address(identity) {
            let message = format!("the identity `{}` is no mail address", shown(identity));
            return Err(Refused::new(Code::SignerIdentity, message));
        }
        if !issuers.contains(issuer) {
            let message = format!(
                "the issuer `{}` is not among those of this list: {}",
                shown(issuer),
                issuers.join(", ")
            );
            return Err(Refused::new(Code::SignerIssuer, message));
        }
    }
    signers.sort();
    if let Some(pair) = signers.windows(2).find(|pair| pair[0] == pair[1]) {
        let message = format!("the signer `{}` is there twice", shown(&pair[0].identity));
        return Err(Refused::new(Code::SignersDuplicate, message));
    }
    let count = u32::try_from(signers.len()).unwrap_or(u32::MAX);
    match (1..=count).contains(&threshold) {
        true => Ok(Policy { signers, threshold }),
        false => {
            let message = format!("the threshold is {threshold} with {count} signers: give 1 to {count}");
            Err(Refused::new(Code::ThresholdRange, message))
        }
    }
}

fn check_action(headers: &[(String, Vec<u8>)], wanted: Action) -> Result<(), Refused> {
    let text = required(headers, ACTION, (Code::ActionRepeated, Code::ActionMissing))?;
    match Action::read(&text) == Some(wanted) {
        true => Ok(()),
        false => {
            let message = format!(
                "the header `{ACTION}` is `{}`, and the change that was asked for is `{}`",
                shown(&text),
                wanted.as_str()
            );
            Err(Refused::new(Code::ActionOther, message))
        }
    }
}

fn contact(headers: &[(String, Vec<u8>)]) -> Result<Option<String>, Refused> {
    let Some(contact) = single(headers, CONTACT, Code::ContactRepeated)? else { return Ok(None) };
    match is_mail_address(&contact) {
        true => Ok(Some(contact)),
        false => {
            let message = format!("the header `{CONTACT}` is `{}`: give one mail address", shown(&contact));
            Err(Refused::new(Code::ContactInvalid, message))
        }
    }
}

fn csp(headers: &[(String, Vec<u8>)]) -> Result<Csp, Refused> {
    let mut all = values(headers, CSP);
    let missing =
        || Refused::new(Code::CspMissing, format!("the header `{CSP}` is missing: add it to the answer"));
    let value = all.next().ok_or_else(missing)?;
    if all.next().is_some() {
        let message = format!("the header `{CSP}` is there more than once: send one policy");
        return Err(Refused::new(Code::CspRepeated, message));
    }
    if value.contains(&b',') {
        let message = format!("the header `{CSP}` has a comma, which makes several policies of it: send one");
        return Err(Refused::new(Code::CspComma, message));
    }
    // One character a byte, as the standard reads it: none that is not ASCII survives.
    let csp = Csp::read(&value.iter().map(|byte| char::from(*byte)).collect::<String>());
    if csp.is_empty() { Err(missing()) } else { Ok(csp) }
}

/// Returns whether a text is one plain mail address: no name, no comment, no quoting.
#[must_use]
pub fn is_mail_address(text: &str) -> bool {
    let Some((local, domain)) = text.split_once('@') else { return false };
    let is_atom = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~.".contains(&byte);
    let is_label = |label: &str| {
        let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        (1..=63).contains(&label.len())
            && label.bytes().all(is_inner)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    text.len() <= 254
        && (1..=64).contains(&local.len())
        && local.bytes().all(is_atom)
        && !local.starts_with('.')
        && !local.ends_with('.')
        && !local.contains("..")
        && domain.contains('.')
        && domain.split('.').all(is_label)
}
