//! Real sites over real TLS, good ones and all kinds of bad ones, behind one port.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose,
    date_time_ymd,
};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::Acceptor;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::LazyConfigAcceptor;

/// The certificate that a site shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shows {
    Good,
    Expired,
    NotYetValid,
    OtherName,
    SelfSigned,
    OfUnknownAuthority,
    WithoutIntermediate,
}

/// The answer of a site to whatever it is asked.
#[derive(Debug, Clone)]
pub(crate) enum Answers {
    /// These bytes.
    Bytes(String),
    /// These bytes at the first visit, and those ever after.
    Then(String, String),
    /// These bytes at this path; all other paths redirect to it.
    At(&'static str, String),
    /// Nothing, and the connection stays open.
    Nothing,
    /// Nothing, and the connection is closed.
    Close,
    /// A head that comes byte by byte and never ends.
    Drip,
    /// A head without end.
    EndlessHead,
    /// These bytes, and a body without end.
    EndlessBody(String),
}

#[derive(Debug, Clone)]
struct Site {
    config: Arc<ServerConfig>,
    answers: Answers,
    visits: usize,
}

/// A gauge of connections.
#[derive(Debug, Default)]
pub(crate) struct Busy {
    now: AtomicUsize,
    pub(crate) most: AtomicUsize,
}

type Sites = Arc<Mutex<BTreeMap<String, Site>>>;

pub(crate) struct Web {
    pub(crate) port: u16,
    sites: Sites,
    /// Connections that are answered now, and the most there were.
    pub(crate) busy: Arc<Busy>,
    root: Authority,
    intermediate: Authority,
    stranger: Authority,
}

type Authority = CertifiedIssuer<'static, KeyPair>;

impl Web {
    pub(crate) async fn start() -> Web {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("there is a free port");
        let port = listener.local_addr().expect("it is bound").port();
        let sites = Sites::default();
        let (serving, busy) = (sites.clone(), Arc::new(Busy::default()));
        let counted = busy.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (serving, counted) = (serving.clone(), counted.clone());
                tokio::spawn(async move {
                    let now = counted.now.fetch_add(1, Ordering::Relaxed) + 1;
                    counted.most.fetch_max(now, Ordering::Relaxed);
                    serve(stream, serving).await;
                    counted.now.fetch_sub(1, Ordering::Relaxed);
                });
            }
        });
        let root = authority("Root", None);
        let intermediate = authority("Intermediate", Some(&root));
        Web { port, sites, busy, root, intermediate, stranger: authority("Stranger", None) }
    }

    /// The roots that visitors trust, as PEM.
    pub(crate) fn roots(&self) -> String {
        self.root.pem()
    }

    pub(crate) fn host(&self, name: &str, shows: Shows, answers: Answers) {
        let config = Arc::new(self.config(name, shows));
        let site = Site { config, answers, visits: 0 };
        self.sites.lock().expect("no test panicked with it").insert(name.to_owned(), site);
    }

    pub(crate) fn visits(&self, name: &str) -> usize {
        self.sites.lock().expect("no test panicked with it").get(name).map_or(0, |site| site.visits)
    }

    fn config(&self, name: &str, shows: Shows) -> ServerConfig {
        let key = KeyPair::generate().expect("a key can be made");
        let subject = if shows == Shows::OtherName { "other.example" } else { name };
        let mut params = CertificateParams::new(vec![subject.to_owned()]).expect("this is a name");
        (params.not_before, params.not_after) = match shows {
            Shows::Expired => (date_time_ymd(2020, 1, 1), date_time_ymd(2021, 1, 1)),
            Shows::NotYetValid => (date_time_ymd(4000, 1, 1), date_time_ymd(4001, 1, 1)),
            _ => (date_time_ymd(2020, 1, 1), date_time_ymd(4000, 1, 1)),
        };
        let signed = match shows {
            Shows::SelfSigned => params.self_signed(&key),
            Shows::OfUnknownAuthority => params.signed_by(&key, &self.stranger),
            _ => params.signed_by(&key, &self.intermediate),
        };
        let mut chain: Vec<CertificateDer<'static>> = vec![signed.expect("it can be signed").der().clone()];
        if shows != Shows::WithoutIntermediate {
            chain.push(self.intermediate.der().clone());
        }
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("these are the usual ones")
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .expect("the key is that of the certificate")
    }
}

fn authority(name: &str, above: Option<&Authority>) -> Authority {
    let key = KeyPair::generate().expect("a key can be made");
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    let made = match above {
        None => CertifiedIssuer::self_signed(params, key),
        Some(above) => CertifiedIssuer::signed_by(params, key, above),
    };
    made.expect("an authority can be made")
}

/// Serves one connection. A visitor that does not like the certificate goes away, and that is that.
async fn serve(stream: TcpStream, sites: Sites) {
    let Ok(begun) = LazyConfigAcceptor::new(Acceptor::default(), stream).await else { return };
    let name = begun.client_hello().server_name().unwrap_or_default().to_owned();
    let Some(site) = sites.lock().expect("no test panicked with it").get(&name).cloned() else { return };
    let Ok(stream) = begun.into_stream(site.config).await else { return };
    let visits = match sites.lock().expect("no test panicked with it").get_mut(&name) {
        Some(site) => {
            site.visits += 1;
            site.visits
        }
        None => 0,
    };
    let answers = match site.answers {
        Answers::Then(first, later) => Answers::Bytes(if visits == 1 { first } else { later }),
        answers => answers,
    };
    answer(stream, answers).await;
}

/// Answers one request. Whoever stops listening ends it.
async fn answer(mut stream: impl AsyncRead + AsyncWrite + Unpin, answers: Answers) {
    let mut asked = Vec::new();
    while !asked.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => asked.push(byte),
            Err(_) => return,
        }
    }
    match answers {
        Answers::Bytes(bytes) => {
            let _ = stream.write_all(bytes.as_bytes()).await;
            let _ = stream.shutdown().await;
        }
        Answers::Then(..) => unreachable!("one of the two was chosen"),
        Answers::At(path, page) => {
            let is_there = asked.starts_with(format!("GET {path} ").as_bytes());
            let redirect = format!("HTTP/1.1 302 Found\r\nlocation: {path}\r\ncontent-length: 0\r\n\r\n");
            let _ = stream.write_all(if is_there { page } else { redirect }.as_bytes()).await;
            let _ = stream.shutdown().await;
        }
        Answers::Close => {}
        // Until the visitor has had enough.
        Answers::Nothing => drop(stream.read_u8().await),
        Answers::Drip => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nx-drip: ").await;
            let mut pace = tokio::time::interval(Duration::from_millis(20));
            while stream.write_all(b"a").await.is_ok() && stream.flush().await.is_ok() {
                pace.tick().await;
            }
        }
        Answers::EndlessHead => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n").await;
            while stream.write_all(format!("x-more: {}\r\n", "a".repeat(1_000)).as_bytes()).await.is_ok() {}
        }
        Answers::EndlessBody(head) => {
            let _ = stream.write_all(head.as_bytes()).await;
            while stream.write_all(&[b'a'; 16 << 10]).await.is_ok() {}
        }
    }
}
