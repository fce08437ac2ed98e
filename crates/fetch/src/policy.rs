//! The policy: what a deployment lets out, and how much of an answer it takes in.

use std::net::IpAddr;
use std::time::Duration;

use crate::address::is_public;
use crate::error::Error;
use crate::network::Network;

#[derive(Debug, Clone)]
pub struct Policy {
    /// Set if plain HTTP may be spoken.
    pub http: bool,
    /// The ports that may be connected to.
    pub ports: Vec<u16>,
    /// Networks that may be reached though they are not public.
    pub allowed: Vec<Network>,
    /// The time for one request as a whole, redirects and the answer's body included.
    pub within: Duration,
    /// The time for connecting to one of a name's addresses.
    pub connect_within: Duration,
    /// The most bytes of an answer's head, all headers together.
    pub head_bytes_max: usize,
    pub headers_max: usize,
    /// The most bytes that are read of an answer's body; the rest is not.
    pub body_bytes_max: usize,
    /// The time the body is waited for where the status says all that matters: what has come by then is taken, and
    /// the rest is cut. `None`: the body belongs to the answer.
    pub body_within: Option<Duration>,
    /// The number of redirects that a `get` follows.
    pub redirects_max: usize,
}

impl Default for Policy {
    fn default() -> Policy {
        Policy {
            http: true,
            ports: vec![80, 443],
            allowed: Vec::new(),
            within: Duration::from_secs(30),
            connect_within: Duration::from_secs(5),
            head_bytes_max: 32 << 10,
            headers_max: 100,
            body_bytes_max: 1 << 20,
            body_within: None,
            redirects_max: 5,
        }
    }
}

impl Policy {
    #[must_use]
    pub fn allows_address(&self, address: IpAddr) -> bool {
        is_public(address) || self.allowed.iter().any(|network| network.contains(address))
    }

    /// Checks an address without going there: what is refused here is refused when it is fetched, too. Names are not
    /// resolved.
    pub fn check(&self, url: &str) -> Result<(), Error> {
        crate::target::Target::read(url, self).map(|_| ())
    }
}
