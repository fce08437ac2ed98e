//! Connections from a checked target to one of its checked addresses.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, ConfigBuilder, RootCertStore, WantsVerifier};
use rustls_platform_verifier::BuilderVerifierExt as _;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
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

/// The facts about a secured connection, whose certificate was found to be good for the name in the address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tls {
    /// The version of TLS as the standards name it, such as `TLSv1_3`.
    pub version: String,
    /// The certificates that the other side showed, its own first.
    pub certificates: Vec<CertificateDer<'static>>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("these are no certificates in PEM to trust: {0}")]
pub struct InvalidRoots(String);

#[derive(Debug)]
pub(crate) struct Connector {
    pub(crate) resolver: Arc<dyn Resolve>,
    /// Made when it is first needed: a machine without certificates can still speak plain HTTP.
    pub(crate) tls: OnceLock<Result<Arc<ClientConfig>, String>>,
}

impl Connector {
    /// Connects to one of a target's addresses, all of which were checked. `idle` is for looking up its name.
    pub(crate) async fn reach(
        &self,
        target: &Target,
        policy: &Policy,
        idle: Duration,
    ) -> Result<TcpStream, Error> {
        let looking_up = self.addresses(target, policy);
        let addresses = timeout(idle, looking_up).await.unwrap_or(Err(Error::Timeout))?;
        reach(target, &addresses, policy).await
    }

    /// Secures a connection where the address asks for that.
    pub(crate) async fn secure(
        &self,
        target: &Target,
        stream: TcpStream,
        idle: Duration,
    ) -> Result<(Box<dyn Stream>, Option<Tls>), Error> {
        if !target.is_tls {
            return Ok((Box::new(stream), None));
        }
        let connector = TlsConnector::from(self.config(target)?);
        let securing = connector.connect(target.server_name()?, stream);
        let secured = timeout(idle, securing).await.map_err(|_| Error::Timeout)?;
        let secured = secured.map_err(|error| tls_error(target, &error.to_string()))?;
        let session = secured.get_ref().1;
        let tls = Tls {
            version: session.protocol_version().map(|version| format!("{version:?}")).unwrap_or_default(),
            certificates: session.peer_certificates().unwrap_or_default().to_vec(),
        };
        Ok((Box::new(secured), Some(tls)))
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
            let builder = builder()?.with_platform_verifier().map_err(|error| error.to_string())?;
            Ok(spoken(builder.with_no_client_auth()))
        });
        made.clone().map_err(|reason| tls_error(target, &reason))
    }
}

/// Trusts these roots and no others.
pub(crate) fn trusting(roots: &[u8]) -> Result<Arc<ClientConfig>, InvalidRoots> {
    let mut store = RootCertStore::empty();
    for root in CertificateDer::pem_slice_iter(roots) {
        let root = root.map_err(|error| InvalidRoots(error.to_string()))?;
        store.add(root).map_err(|error| InvalidRoots(error.to_string()))?;
    }
    if store.is_empty() {
        return Err(InvalidRoots("there is none in the text".to_owned()));
    }
    Ok(spoken(builder().map_err(InvalidRoots)?.with_root_certificates(store).with_no_client_auth()))
}

fn builder() -> Result<ConfigBuilder<ClientConfig, WantsVerifier>, String> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    builder.with_safe_default_protocol_versions().map_err(|error| error.to_string())
}

fn spoken(mut config: ClientConfig) -> Arc<ClientConfig> {
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Arc::new(config)
}

async fn reach(target: &Target, addresses: &[IpAddr], policy: &Policy) -> Result<TcpStream, Error> {
    let mut failed = Error::Timeout;
    for address in addresses.iter().take(TRIED_MAX) {
        let connecting = TcpStream::connect(SocketAddr::new(*address, target.port));
        match timeout(policy.connect_within, connecting).await {
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
