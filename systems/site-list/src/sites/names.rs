//! Names in DNS: the addresses of a host, and whether its domain is registered at all.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use fetch::{Resolve, Resolving};
use hickory_resolver::config::{
    ConnectionConfig, LookupIpStrategy, NameServerConfig, ResolveHosts, ResolverConfig, ResolverOpts,
};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::{DnsError, NetError, NoRecords};
use hickory_resolver::proto::op::ResponseCode;
use hickory_resolver::proto::rr::RecordType;
use hickory_resolver::{Resolver, TokioResolver};

use super::Trouble;
use crate::refused::{Code, Refused};
use crate::rules::Host;

/// The time one question to one server may take.
const WITHIN: Duration = Duration::from_secs(3);
const ATTEMPTS: usize = 2;

/// A resolver that keeps nothing: what a site's name says now is what counts.
#[derive(Clone)]
pub struct Names {
    resolver: Arc<TokioResolver>,
}

impl Names {
    /// Asks the name servers that the machine is set up with.
    ///
    /// # Errors
    /// When the machine's settings cannot be read.
    pub fn of_the_machine() -> Result<Names, NetError> {
        let builder = TokioResolver::builder_tokio()?;
        Ok(Names { resolver: Arc::new(builder.with_options(options()).build()?) })
    }

    /// Asks these name servers.
    ///
    /// # Errors
    /// When no resolver can be made of them.
    pub fn at(servers: &[SocketAddr]) -> Result<Names, NetError> {
        let server = |address: &SocketAddr| {
            let mut server = NameServerConfig::udp_and_tcp(address.ip());
            let at = |connection: &mut ConnectionConfig| connection.port = address.port();
            server.connections.iter_mut().for_each(at);
            server
        };
        let config = ResolverConfig::from_name_servers(servers.iter().map(server).collect());
        let builder = Resolver::builder_with_config(config, TokioRuntimeProvider::default());
        Ok(Names { resolver: Arc::new(builder.with_options(options()).build()?) })
    }

    /// Returns a host's addresses, of which there is at least one.
    pub async fn addresses(&self, host: &Host) -> Result<Vec<IpAddr>, Trouble> {
        let none = || {
            let message = format!("{host} has no address in DNS: add an A or AAAA record");
            Trouble::from(Refused::new(Code::DnsNone, message))
        };
        match self.resolver.lookup_ip(absolute(host.as_str())).await {
            Ok(found) => {
                let addresses: Vec<IpAddr> = found.iter().collect();
                if addresses.is_empty() { Err(none()) } else { Ok(addresses) }
            }
            Err(error) if denial(&error).is_some() => Err(none()),
            Err(error) => Err(Trouble::passing("dns", format!("cannot look up {host}: {error}"))),
        }
    }

    /// Returns whether a host's domain is registered. It is not where the zone above it says that there is no such name;
    /// a zone that says so of a name of its own is proof that the domain is there.
    pub async fn is_registered(&self, host: &Host) -> Result<bool, Trouble> {
        let unknown = |reason: String| {
            Trouble::passing(
                "dns",
                format!("cannot tell whether the domain of {host} is registered: {reason}"),
            )
        };
        let known = psl::domain(host.as_str().as_bytes());
        let domain = known.and_then(|domain| std::str::from_utf8(domain.as_bytes()).ok());
        let domain = domain.ok_or_else(|| unknown("it is a public suffix itself".to_owned()))?;
        match self.resolver.lookup(absolute(domain), RecordType::NS).await {
            Ok(_) => Ok(true),
            Err(error) => match denial(&error) {
                Some(denial) if denial.response_code == ResponseCode::NXDomain => {
                    let zone = denial.soa.as_ref().map(|soa| soa.name.to_ascii().to_lowercase());
                    let zone =
                        zone.ok_or_else(|| unknown("the answer names no zone that says so".to_owned()))?;
                    let zone = zone.trim_end_matches('.');
                    Ok(zone == domain || zone.ends_with(&format!(".{domain}")))
                }
                // The name is there, without name servers of its own.
                Some(_) => Ok(true),
                None => Err(unknown(error.to_string())),
            },
        }
    }
}

/// Returns the answer of a server that says that there is nothing. Any other error says nothing about the name.
fn denial(error: &NetError) -> Option<&NoRecords> {
    match error {
        NetError::Dns(DnsError::NoRecordsFound(none)) => {
            let is_denial = matches!(none.response_code, ResponseCode::NXDomain | ResponseCode::NoError);
            is_denial.then_some(none)
        }
        _ => None,
    }
}

/// Returns a name that no search list is tried with.
fn absolute(name: &str) -> String {
    format!("{name}.")
}

fn options() -> ResolverOpts {
    let mut options = ResolverOpts::default();
    options.timeout = WITHIN;
    options.attempts = ATTEMPTS;
    options.cache_size = 0;
    options.use_hosts_file = ResolveHosts::Never;
    options.ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
    options
}

impl Resolve for Names {
    fn resolve<'a>(&'a self, name: &'a str) -> Resolving<'a> {
        Box::pin(async move {
            let found = self.resolver.lookup_ip(absolute(name)).await.map_err(io::Error::other)?;
            Ok(found.iter().collect())
        })
    }
}

impl fmt::Debug for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Names").finish_non_exhaustive()
    }
}
