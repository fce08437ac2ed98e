//! Addresses to listen on, as people write them.

use std::io::{Error, ErrorKind};
use std::net::{Ipv4Addr, SocketAddr};

use crate::exit::{Exit, Stop};

/// Tells that an address cannot be listened at. `set_by` says where another is chosen.
pub(crate) fn failed(address: SocketAddr, error: &Error, set_by: &str) -> Stop {
    let stop = Stop::new(Exit::Negative, format!("cannot listen on {address}: {error}"));
    match error.kind() {
        ErrorKind::AddrInUse => {
            stop.next(format!("stop the server that has this port, or choose another {set_by}"))
        }
        _ => stop.next(format!("choose an address of this machine, and a port that you may use, {set_by}")),
    }
}

/// Reads an address. A port alone is one of this machine only, and so is `localhost`; a port after a colon is reached from
/// everywhere, as other servers have it.
pub(crate) fn read(text: &str) -> Result<SocketAddr, String> {
    let port = |text: &str| text.parse::<u16>().ok();
    let local = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let named = text.strip_prefix("localhost:").and_then(port).or_else(|| port(text)).map(local);
    let everywhere = || {
        let port = text.strip_prefix(':').and_then(port)?;
        Some(SocketAddr::from((Ipv4Addr::UNSPECIFIED, port)))
    };
    named.or_else(everywhere).map_or_else(|| text.parse(), Ok).map_err(|_| {
        "write an address and a port such as 127.0.0.1:8080 or [::1]:8080, `localhost:8080`, or a port alone; names are not \
         looked up"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_people_write_them() {
        for (text, address) in [
            ("8080", "127.0.0.1:8080"),
            ("0", "127.0.0.1:0"),
            ("localhost:8080", "127.0.0.1:8080"),
            (":8080", "0.0.0.0:8080"),
            ("0.0.0.0:80", "0.0.0.0:80"),
            ("[::1]:8080", "[::1]:8080"),
        ] {
            assert_eq!(read(text).map(|read| read.to_string()).as_deref(), Ok(address), "{text}");
        }
        for text in
            ["", ":", "localhost", "milepost.example:80", "127.0.0.1", "99999", "localhost:x", "::1:80"]
        {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
