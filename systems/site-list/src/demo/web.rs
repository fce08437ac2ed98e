//! Sites in miniature: real TLS on one port, with certificates of an authority of their own.

use std::collections::BTreeMap;
use std::io;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::Acceptor;
use system::Failed;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::LazyConfigAcceptor;

/// The longest request that is read.
const REQUEST_MAX: usize = 16 << 10;

/// A web server of several sites. It ends when it is dropped.
pub(super) struct Web {
    pub(super) port: u16,
    authority: CertifiedIssuer<'static, KeyPair>,
    sites: Sites,
    _serving: JoinSet<()>,
}

type Sites = Arc<Mutex<BTreeMap<String, Site>>>;

#[derive(Clone)]
struct Site {
    config: Arc<ServerConfig>,
    /// The answers to its visits; the last one to all later ones.
    answers: Vec<String>,
    visits: usize,
}

impl Web {
    pub(super) async fn start() -> Result<Web, Failed> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = listener.local_addr()?.port();
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "The demo's authority");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
        let sites = Sites::default();
        let mut serving = JoinSet::new();
        serving.spawn(accept(listener, sites.clone()));
        Ok(Web { port, authority, sites, _serving: serving })
    }

    /// Returns the authority's certificate, as PEM.
    pub(super) fn root(&self) -> String {
        self.authority.pem()
    }

    /// Has a site answer like this from now on, at one visit after the other.
    pub(super) fn host(&self, name: &str, answers: Vec<String>) -> Result<(), Failed> {
        let mut sites = self.sites.lock().unwrap_or_else(PoisonError::into_inner);
        let config = match sites.get(name) {
            Some(site) => site.config.clone(),
            None => Arc::new(self.config(name)?),
        };
        sites.insert(name.to_owned(), Site { config, answers, visits: 0 });
        Ok(())
    }

    fn config(&self, name: &str) -> Result<ServerConfig, Failed> {
        let key = KeyPair::generate()?;
        let params = CertificateParams::new(vec![name.to_owned()])?;
        let signed = params.signed_by(&key, &self.authority)?;
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?;
        Ok(builder.with_no_client_auth().with_single_cert(vec![signed.der().clone()], key)?)
    }
}

async fn accept(listener: TcpListener, sites: Sites) {
    let mut talking = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        talking.spawn(talk(stream, sites.clone()));
        while talking.try_join_next().is_some() {}
    }
}

/// Talks to one visitor. One that goes away in the middle is not missed.
async fn talk(stream: TcpStream, sites: Sites) {
    let _ = answer(stream, sites).await;
}

async fn answer(stream: TcpStream, sites: Sites) -> io::Result<()> {
    let begun = LazyConfigAcceptor::new(Acceptor::default(), stream).await?;
    let name = begun.client_hello().server_name().unwrap_or_default().to_owned();
    let Some(site) = visit(&sites, &name) else { return Ok(()) };
    let mut stream = begun.into_stream(site.config).await?;
    let mut asked = Vec::new();
    while !asked.ends_with(b"\r\n\r\n") && asked.len() < REQUEST_MAX {
        asked.push(stream.read_u8().await?);
    }
    let answer = site.answers.get(site.visits).or(site.answers.last()).cloned().unwrap_or_default();
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await
}

/// Counts a visit, and returns the site as it was before.
fn visit(sites: &Sites, name: &str) -> Option<Site> {
    let mut sites = sites.lock().unwrap_or_else(PoisonError::into_inner);
    let site = sites.get_mut(name)?;
    let before = site.clone();
    site.visits += 1;
    Some(before)
}
