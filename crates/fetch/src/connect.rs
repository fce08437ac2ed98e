//! From a checked target to a connection with one of its checked addresses.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};

use rustls::ClientConfig;
use rustls::crypto::ring;
use rustls_platform_verifier::BuilderVerifierExt as _;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::address::plain;
use crate::error::Error;
use crate::policy::Policy;
use crate::resolve::Resolve;
use crate::target::{Place, Target};

/// A name with more addresses than this is somebody's joke.
const ADDRESSES_MAX: usize = 64;
/// Tried one after the other before giving up.
const TRIED_MAX: usize = 4;

pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

#[derive(Debug)]
pub(crate) struct Connector {
    pub(crate) resolver: Box<dyn Resolve>,
    /// Made when it is first needed: a machine without certificates can still speak plain HTTP.
    pub(crate) tls: OnceLock<Result<Arc<ClientConfig>, String>>,
}

impl Connector {
    pub(crate) async fn connect(&self, target: &Target, policy: &Policy) -> Result<Box<dyn Stream>, Error> {
        let addresses = self.addresses(target, policy).await?;
        let stream = reach(target, &addresses, policy).await?;
        if !target.is_tls {
            return Ok(Box::new(stream));
        }
        let connector = TlsConnector::from(self.config(target)?);
        let secured = connector.connect(target.server_name()?, stream).await;
        Ok(Box::new(secured.map_err(|error| tls_error(target, &error.to_string()))?))
    }

    /// Every address the name has, all of them checked: one that is not allowed spoils the name.
    async fn addresses(&self, target: &Target, policy: &Policy) -> Result<Vec<IpAddr>, Error> {
        let name = match &target.place {
            Place::Address(address) => return Ok(vec![*address]),
            Place::Name(name) => name,
        };
        let found = self.resolver.resolve(name).await.map_err(|_| Error::Dns(name.clone()))?;
        let addresses: Vec<IpAddr> = found.into_iter().map(plain).collect();
        if addresses.is_empty() || addresses.len() > ADDRESSES_MAX {
            return Err(Error::Dns(name.clone()));
        }
        match addresses.iter().find(|address| !policy.allows_address(**address)) {
            Some(address) => Err(Error::RefusedAddress(format!("{name} ({address})"))),
            None => Ok(addresses),
        }
    }

    fn config(&self, target: &Target) -> Result<Arc<ClientConfig>, Error> {
        let made = self.tls.get_or_init(|| {
            let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
                .with_safe_default_protocol_versions()
                .and_then(|builder| builder.with_platform_verifier());
            let mut config = builder.map_err(|error| error.to_string())?.with_no_client_auth();
            config.alpn_protocols = vec![b"http/1.1".to_vec()];
            Ok(Arc::new(config))
        });
        made.clone().map_err(|reason| tls_error(target, &reason))
    }
}

async fn reach(target: &Target, addresses: &[IpAddr], policy: &Policy) -> Result<TcpStream, Error> {
    let mut failed = Error::Timeout;
    for address in addresses.iter().take(TRIED_MAX) {
        let connecting = TcpStream::connect(SocketAddr::new(*address, target.port));
        match tokio::time::timeout(policy.connect_within, connecting).await {
            Ok(Ok(stream)) => {
                // One small request: waiting to fill a packet would only delay it.
                let _ = stream.set_nodelay(true);
                return Ok(stream);
            }
            Ok(Err(error)) => {
                failed = Error::Connect { host: target.host(), reason: error.kind().to_string() };
            }
            Err(_) => failed = Error::Timeout,
        }
    }
    Err(failed)
}

fn tls_error(target: &Target, reason: &str) -> Error {
    Error::Tls { host: target.host(), reason: reason.chars().take(200).collect() }
}
