//! Settings for how much a server takes from whom, and how it shows who it is.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use server::Tls;

use crate::exit::Stop;

#[derive(Debug, Args)]
#[command(next_help_heading = "TLS")]
pub(crate) struct TlsArgs {
    /// Talk TLS and show this certificate: a PEM file with its chain; SIGHUP reads both files again
    #[arg(long, requires = "tls_key", value_name = "FILE")]
    tls_cert: Option<PathBuf>,

    /// The certificate's key, a PEM file
    #[arg(long, requires = "tls_cert", value_name = "FILE")]
    tls_key: Option<PathBuf>,
}

impl TlsArgs {
    pub(crate) fn load(&self) -> Result<Option<Tls>, Stop> {
        let (cert, key) = match (&self.tls_cert, &self.tls_key) {
            (Some(cert), Some(key)) => (cert, key),
            (None, None) => return Ok(None),
            // One may come from the file of settings, where nothing asks for the other.
            _ => {
                return Err(Stop::usage(
                    "a certificate and its key belong together: give tls-cert and tls-key",
                ));
            }
        };
        let loaded = Tls::load(cert, key);
        loaded.map(Some).map_err(|error| Stop::usage(format!("the certificate cannot be used: {error}")))
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct Limits {
    /// Connections at a time; one more takes the place of the quietest of the address that has most
    #[arg(long, default_value_t = 10_000, value_name = "NUMBER")]
    connections: usize,

    /// Of these, from one address; one more takes the place of its quietest
    #[arg(long, default_value_t = 4_096, value_name = "NUMBER")]
    connections_per_address: usize,

    /// Of these, on which requests of one token are under way; more requests are refused
    #[arg(long, default_value_t = 4_096, value_name = "NUMBER")]
    connections_per_token: usize,

    /// Requests a second by one token, with five seconds' worth at once; without it, as many as it likes
    #[arg(long, value_name = "NUMBER")]
    rate_per_token: Option<u32>,

    /// Requests a second from one address; not for a server behind a proxy, where all come from one
    #[arg(long, value_name = "NUMBER")]
    rate_per_address: Option<u32>,
}

impl Limits {
    pub(crate) fn options(&self, listen: SocketAddr) -> Result<server::Options, Stop> {
        let rates = [self.rate_per_token, self.rate_per_address];
        let connections = [self.connections, self.connections_per_address, self.connections_per_token];
        if rates.contains(&Some(0)) || connections.contains(&0) {
            return Err(Stop::usage("a limit of 0 would let nobody in; leave it out for no limit"));
        }
        let mut options = server::Options::new(listen);
        options.connections_max = self.connections;
        options.connections_per_address_max = self.connections_per_address;
        options.connections_per_token_max = self.connections_per_token;
        options.rate_per_token = self.rate_per_token;
        options.rate_per_address = self.rate_per_address;
        Ok(options)
    }
}
