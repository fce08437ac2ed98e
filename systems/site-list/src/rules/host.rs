//! Host names: what people type into the form, as the one name that is looked up, fetched and listed.

use std::fmt;
use std::net::Ipv6Addr;

use idna::AsciiDenyList;
use idna::uts46::{DnsLength, Hyphens, Uts46};
use serde::{Deserialize, Serialize};

use crate::refused::{Code, Refused, shown};

/// A host name that may be on the list: ASCII, lower case, two labels or more.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Host(String);

/// The deployment's way with names of onion services, which no DNS knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Onions {
    Refused,
    /// There is a proxy through which onion services are reached.
    Reached,
}

/// The most bytes that are looked at: a name in Unicode is longer than the one it stands for.
const BYTES_MAX: usize = 1_024;
const LABEL_MAX: usize = 63;
const NAME_MAX: usize = 253;
const NAME_MIN: usize = 3;

impl Host {
    /// Reads a host name.
    ///
    /// # Errors
    /// When the text is anything but a host name, with the first reason found.
    pub fn read(text: &str, onions: Onions) -> Result<Host, Refused> {
        let text = text.trim();
        let refused = |code, reason: &str| Refused::new(code, format!("`{}` {reason}", shown(text)));
        if text.is_empty() {
            return Err(Refused::new(
                Code::HostEmpty,
                "the host name is empty: give one such as example.com",
            ));
        }
        if text.len() > BYTES_MAX {
            return Err(refused(Code::HostLength, "is longer than any host name"));
        }
        check_not_a_url(text).map_err(|(code, reason)| refused(code, reason))?;
        // The lists of forbidden characters are ours, so that each has a code: nothing is denied here.
        let ascii = Uts46::new()
            .to_ascii(text.as_bytes(), AsciiDenyList::EMPTY, Hyphens::Allow, DnsLength::Ignore)
            .map_err(|_| refused(Code::HostIdna, "is not a valid international host name"))?;
        let name = ascii.to_ascii_lowercase();
        check_name(&name).map_err(|(code, reason)| refused(code, reason))?;
        if name.ends_with(".onion") && onions == Onions::Refused {
            return Err(refused(Code::HostOnion, "is an onion service, which this list cannot reach"));
        }
        Ok(Host(name))
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether the host is an onion service, which is not looked up in DNS.
    #[must_use]
    pub fn is_onion(&self) -> bool {
        self.0.ends_with(".onion")
    }
}

type Fault = (Code, &'static str);

/// Finds the parts of a URL that people paste along with a host name.
fn check_not_a_url(text: &str) -> Result<(), Fault> {
    if text.starts_with('[') || text.parse::<Ipv6Addr>().is_ok() || text.matches(':').count() > 1 {
        let is_url = text.contains("//");
        return Err(match is_url {
            true => (Code::HostScheme, "is a URL: give the host name alone"),
            false => (Code::HostAddress, "is an IP address: give a host name"),
        });
    }
    if text.contains("//") {
        return Err((Code::HostScheme, "is a URL: give the host name alone"));
    }
    if text.contains('@') {
        return Err((Code::HostUser, "has a user name in it: give the host name alone"));
    }
    if text.contains(['/', '\\', '?', '#']) {
        return Err((Code::HostPath, "has a path in it: give the host name alone"));
    }
    match text.split_once(':') {
        None => Ok(()),
        Some((_, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => {
            Err((Code::HostPort, "has a port in it: sites are listed by host name alone"))
        }
        Some(_) => Err((Code::HostScheme, "is a URL: give the host name alone")),
    }
}

/// Checks a name in ASCII and lower case.
fn check_name(name: &str) -> Result<(), Fault> {
    if name.starts_with('.') || name.ends_with('.') {
        return Err((Code::HostDot, "begins or ends with a dot"));
    }
    let labels: Vec<&str> = name.split('.').collect();
    if labels.iter().any(|label| label.is_empty()) {
        return Err((Code::HostEmptyLabel, "has two dots in a row"));
    }
    // As browsers have it: a name that ends in a number is an IPv4 address in some spelling, or nothing.
    if labels.last().is_some_and(|label| is_number(label)) {
        return Err((Code::HostAddress, "is an IP address: give a host name"));
    }
    if name.contains('_') {
        return Err((Code::HostUnderscore, "has an underscore, which no host name may have"));
    }
    if !name.chars().all(|c| matches!(c, 'a'..='z' | '0'..='9' | '-' | '.')) {
        return Err((Code::HostCharacter, "has a character that no host name may have"));
    }
    if labels.iter().any(|label| label.starts_with('-') || label.ends_with('-')) {
        return Err((Code::HostHyphen, "has a part that begins or ends with a hyphen"));
    }
    if labels.iter().any(|label| label.len() > LABEL_MAX) {
        return Err((Code::HostLabelLength, "has a part of over 63 characters"));
    }
    if !(NAME_MIN..=NAME_MAX).contains(&name.len()) {
        return Err((Code::HostLength, "does not have 3 to 253 characters"));
    }
    match labels.len() {
        1 => Err((Code::HostLabels, "has one part only: give a whole name such as example.com")),
        _ => Ok(()),
    }
}

fn is_number(label: &str) -> bool {
    let is_hex = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    label.bytes().all(|byte| byte.is_ascii_digit()) || label.strip_prefix("0x").is_some_and(is_hex)
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for Host {
    type Error = Refused;

    /// Takes a name that was read before: it must be in its one spelling.
    fn try_from(text: String) -> Result<Host, Refused> {
        let host = Host::read(&text, Onions::Reached)?;
        match host.0 == text {
            true => Ok(host),
            false => Err(Refused::new(
                Code::HostCharacter,
                format!("`{}` is not in lower case and ASCII: write `{host}`", shown(&text)),
            )),
        }
    }
}

impl From<Host> for String {
    fn from(host: Host) -> String {
        host.0
    }
}
