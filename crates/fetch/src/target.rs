//! An address, read once: what is checked here is what is connected to.

use std::net::IpAddr;

use rustls::pki_types::ServerName;
use url::{Host, Url};

use crate::address::plain;
use crate::error::Error;
use crate::policy::Policy;

const URL_BYTES_MAX: usize = 8_192;

#[derive(Debug, Clone)]
pub(crate) struct Target {
    url: Url,
    pub(crate) place: Place,
    pub(crate) port: u16,
    pub(crate) is_tls: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    Address(IpAddr),
    Name(String),
}

impl Target {
    pub(crate) fn read(text: &str, policy: &Policy) -> Result<Target, Error> {
        Target::of(parse(text)?, policy)
    }

    /// Returns the target that a redirect leads to.
    pub(crate) fn follow(&self, location: &str, policy: &Policy) -> Result<Target, Error> {
        let next = self.url.join(location).map_err(|_| Error::InvalidUrl("a redirect leads to no URL"))?;
        if self.is_tls && next.scheme() != "https" {
            return Err(Error::RefusedScheme(next.scheme().to_owned()));
        }
        Target::of(next, policy)
    }

    fn of(url: Url, policy: &Policy) -> Result<Target, Error> {
        let (place, is_tls) = place(&url)?;
        if !is_tls && !policy.http {
            return Err(Error::RefusedScheme(url.scheme().to_owned()));
        }
        let port = url.port_or_known_default().ok_or(Error::InvalidUrl("it names no port"))?;
        if !policy.ports.contains(&port) {
            return Err(Error::RefusedPort(port));
        }
        match &place {
            Place::Address(address) if !policy.allows_address(*address) => {
                Err(Error::RefusedAddress(address.to_string()))
            }
            _ => Ok(Target { url, place, port, is_tls }),
        }
    }

    /// The address in full, without what only its reader needs.
    pub(crate) fn url(&self) -> String {
        let mut url = self.url.clone();
        url.set_fragment(None);
        url.into()
    }

    /// Returns the host as people know it, for texts.
    pub(crate) fn host(&self) -> String {
        match &self.place {
            Place::Address(address) => address.to_string(),
            Place::Name(name) => name.clone(),
        }
    }

    /// The name a certificate must have.
    pub(crate) fn server_name(&self) -> Result<ServerName<'static>, Error> {
        match &self.place {
            Place::Address(address) => Ok(ServerName::IpAddress((*address).into())),
            Place::Name(name) => ServerName::try_from(name.clone())
                .map_err(|_| Error::InvalidUrl("its host can have no certificate")),
        }
    }

    /// The `Host` header: the name as it was asked for, and the port where it is not the usual one.
    pub(crate) fn authority(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        self.url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }

    pub(crate) fn path_and_query(&self) -> String {
        let path = self.url.path();
        self.url.query().map_or_else(|| path.to_owned(), |query| format!("{path}?{query}"))
    }

    pub(crate) fn is_same_origin(&self, other: &Target) -> bool {
        (self.is_tls, &self.place, self.port) == (other.is_tls, &other.place, other.port)
    }
}

/// The one spelling of an address that could be fetched from: two texts that lead to the same place by the same path are
/// the same text then. Whether it may be fetched from is the policy's to say.
pub fn normalized(url: &str) -> Result<String, Error> {
    let mut url = parse(url)?;
    place(&url)?;
    url.set_fragment(None);
    Ok(url.into())
}

/// Returns the host that an address leads to, in the one spelling.
pub fn host_of(url: &str) -> Result<String, Error> {
    Ok(match place(&parse(url)?)?.0 {
        Place::Address(address) => address.to_string(),
        Place::Name(name) => name,
    })
}

fn parse(text: &str) -> Result<Url, Error> {
    if text.len() > URL_BYTES_MAX {
        return Err(Error::InvalidUrl("it is too long"));
    }
    // The parser drops line ends and tabs silently, so that what a person reads is not what it means.
    if text.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err(Error::InvalidUrl("it has a blank or a control character"));
    }
    Url::parse(text).map_err(|_| Error::InvalidUrl("it is no absolute URL"))
}

/// Returns the place that a URL leads to, and whether by TLS.
fn place(url: &Url) -> Result<(Place, bool), Error> {
    let is_tls = match url.scheme() {
        "https" => true,
        "http" => false,
        other => return Err(Error::RefusedScheme(other.chars().take(20).collect())),
    };
    if !url.username().is_empty() || url.password().is_some() {
        return Err(Error::InvalidUrl("it has a user name or a password in it"));
    }
    let place = match url.host() {
        Some(Host::Ipv4(address)) => Place::Address(address.into()),
        Some(Host::Ipv6(address)) => Place::Address(plain(address.into())),
        Some(Host::Domain(name)) if !name.trim_end_matches('.').is_empty() => {
            Place::Name(name.trim_end_matches('.').to_owned())
        }
        _ => return Err(Error::InvalidUrl("it names no host")),
    };
    Ok((place, is_tls))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_place_has_one_spelling() {
        for url in
            ["https://Hooks.example/a", "https://hooks.example:443/a", "https://hooks.example/b/../a#x"]
        {
            assert_eq!(normalized(url).unwrap(), "https://hooks.example/a");
        }
        assert_eq!(normalized("http://2130706433/").unwrap(), "http://127.0.0.1/");
        assert_eq!(host_of("http://[::ffff:7f00:1]:8080/").unwrap(), "127.0.0.1");
        assert!(normalized("http://user@hooks.example/").is_err());
        assert!(normalized("ftp://hooks.example/").is_err());
    }
}
