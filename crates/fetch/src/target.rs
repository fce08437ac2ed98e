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
        if text.len() > URL_BYTES_MAX {
            return Err(Error::InvalidUrl("it is too long"));
        }
        // The parser drops line ends and tabs silently, so that what a person reads is not what it means.
        if text.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return Err(Error::InvalidUrl("it has a blank or a control character"));
        }
        let url = Url::parse(text).map_err(|_| Error::InvalidUrl("it is no absolute URL"))?;
        Target::of(url, policy)
    }

    /// Where a redirect leads.
    pub(crate) fn follow(&self, location: &str, policy: &Policy) -> Result<Target, Error> {
        let next = self.url.join(location).map_err(|_| Error::InvalidUrl("a redirect leads to no URL"))?;
        if self.is_tls && next.scheme() != "https" {
            return Err(Error::RefusedScheme(next.scheme().to_owned()));
        }
        Target::of(next, policy)
    }

    fn of(url: Url, policy: &Policy) -> Result<Target, Error> {
        let is_tls = match url.scheme() {
            "https" => true,
            "http" if policy.http => false,
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

    /// As people know it, for texts.
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
