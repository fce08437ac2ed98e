//! Sites, signers and policies that the tests share.

use site_list::rules::{Host, ISSUERS, Onions};
use site_list::{Policy, Signer};

pub(crate) fn host(name: &str) -> Host {
    Host::read(name, Onions::Refused).expect("this is a host name")
}

pub(crate) fn signer(identity: &str) -> Signer {
    Signer { identity: identity.to_owned(), issuer: ISSUERS[0].to_owned() }
}

pub(crate) fn policy(identities: &[&str], threshold: u32) -> Policy {
    Policy { signers: identities.iter().copied().map(signer).collect(), threshold }
}

pub(crate) fn issuers() -> Vec<String> {
    ISSUERS.iter().map(|issuer| (*issuer).to_owned()).collect()
}

pub(crate) mod dns;
pub(crate) mod web;

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use fetch::{Fetch, Network, Policy as FetchPolicy};
use site_list::sites::{Reach, Sites};

use dns::{Dns, Says};
use web::{Answers, Shows, Web};

pub(crate) const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// The world as the list sees it: names and sites, all of them on this machine.
pub(crate) struct World {
    pub(crate) dns: Dns,
    pub(crate) web: Web,
}

impl World {
    pub(crate) async fn start() -> World {
        World { dns: Dns::start().await, web: Web::start().await }
    }

    /// A site with a name and an address.
    pub(crate) fn site(&self, name: &str, shows: Shows, answers: Answers) {
        self.dns.say(name, Says::Addresses(vec![LOOPBACK]));
        self.web.host(name, shows, answers);
    }

    /// The list's way to the sites. `within` is the time that one visit may take.
    pub(crate) fn sites(&self, within: Duration) -> Sites {
        let reach = Reach { port: self.web.port, within, ..Reach::new(self.dns.names()) };
        Sites::new(&self.fetch(), reach)
    }

    pub(crate) fn fetch(&self) -> Fetch {
        let allowed: Vec<Network> = vec!["127.0.0.0/8".parse().expect("this is a network")];
        let policy = FetchPolicy { allowed, ..FetchPolicy::default() };
        Fetch::new(policy).with_roots(self.web.roots().as_bytes()).expect("these are roots")
    }
}

/// The answer of a site that asks for an action and names these signers.
pub(crate) fn good(action: &str, signers: &[&str], threshold: u32) -> String {
    let signers: Vec<_> = signers.iter().copied().map(signer).collect();
    let signers = serde_json::to_string(&signers).expect("signers can be written");
    format!(
        "HTTP/1.1 200 OK\r\nx-sigstore-signers: {signers}\r\nx-sigstore-threshold: {threshold}\r\n\
         x-webcat-action: {action}\r\nx-webcat-contact: ada@example.com\r\n\
         content-security-policy: default-src 'none'; script-src 'self'\r\ncontent-length: 2\r\n\r\nhi"
    )
}
