//! A real node of Ethereum (anvil), accounts that sign, and a way to the node that breaks when told.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fetch::{Fetch, HeaderMap, Policy};
use k256::ecdsa::SigningKey;
use serde_json::{Value, json};
use sha3::{Digest as _, Keccak256};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::TcpListener;
use tokio::process::{Child, Command};
use tokio::task::AbortHandle;

const PACKAGE: &str = "@foundry-rs/anvil@1.7.1";
pub(crate) const CHAIN: u64 = 31_337;
pub(crate) const GWEI: u64 = 1_000_000_000;

/// A node, and the way by which the system reaches it, whose address stays when the node is started again.
pub(crate) struct Node {
    pub(crate) url: String,
    way: Arc<Way>,
    options: Vec<String>,
    folder: TempDir,
    child: Option<Child>,
    forwarding: AbortHandle,
}

/// The way to a node.
struct Way {
    fetch: Fetch,
    /// The address of the node, while there is one.
    node: Mutex<Option<String>>,
    /// The number of requests that came.
    requests: AtomicU64,
    /// One of so many requests is answered with 503, and another one is passed on and its answer lost. 0: none.
    breaks: AtomicU64,
}

impl Node {
    pub(crate) async fn start(options: &[&str]) -> Node {
        let policy = Policy {
            allowed: vec!["127.0.0.1".parse().unwrap()],
            ports: (1..=u16::MAX).collect(),
            body_bytes_max: 64 << 20,
            ..Policy::default()
        };
        let way = Arc::new(Way {
            fetch: Fetch::new(policy),
            node: Mutex::new(None),
            requests: AtomicU64::new(0),
            breaks: AtomicU64::new(0),
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().fallback(forward).with_state(way.clone());
        let forwarding = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        let options = options.iter().map(|option| (*option).to_owned()).collect();
        let folder = tempfile::tempdir().unwrap();
        let mut node = Node { url, way, options, folder, child: None, forwarding: forwarding.abort_handle() };
        node.go().await;
        node
    }

    /// Starts the node, with the chain that it had.
    pub(crate) async fn go(&mut self) {
        let state = self.folder.path().join("state.json");
        let mut command = Command::new(anvil());
        command.args(["--port", "0", "--accounts", "1", "--state"]).arg(&state).args(&self.options);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit()).kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let address = loop {
            let line = lines.next_line().await.unwrap().expect("the node says where it listens");
            if let Some(address) = line.strip_prefix("Listening on ") {
                break format!("http://{}", address.trim());
            }
        };
        // Read on, so that the node never waits for somebody to read.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        *self.way.node.lock().unwrap() = Some(address);
        self.child = Some(child);
    }

    /// Stops the node in good order. What waited in its pool is lost.
    pub(crate) async fn stop(&mut self) {
        *self.way.node.lock().unwrap() = None;
        let mut child = self.child.take().expect("it runs");
        let id = child.id().expect("it runs").to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().await.unwrap().success());
        child.wait().await.unwrap();
    }

    /// Breaks one of so many requests in each of two ways; 0 breaks none.
    pub(crate) fn breaks(&self, one_of: u64) {
        self.way.breaks.store(one_of, Ordering::Relaxed);
    }

    pub(crate) fn requests(&self) -> u64 {
        self.way.requests.load(Ordering::Relaxed)
    }

    /// Waits until so many requests have come in all.
    pub(crate) async fn asked(&self, count: u64) {
        while self.requests() < count {
            tokio::task::yield_now().await;
        }
    }

    /// Asks the node itself, by a way that does not break.
    pub(crate) async fn ask(&self, method: &str, params: Value) -> Value {
        let node = self.way.node.lock().unwrap().clone().expect("it runs");
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let answer = self.way.fetch.post(&node, headers(), call).await.unwrap();
        let mut answer: Value = serde_json::from_slice(&answer.body).unwrap();
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].take()
    }

    pub(crate) async fn number(&self, method: &str, params: Value) -> u64 {
        number(&self.ask(method, params).await)
    }

    /// Returns settings with this node alone, for all services.
    pub(crate) fn settings(&self, more: &str) -> String {
        crate::fake_ledger::settings(&self.url, "ethereum", more)
    }

    /// Makes an account with funds.
    pub(crate) async fn account(&self, seed: u8) -> Account {
        let account = Account::new(seed);
        self.ask("anvil_setBalance", json!([account.address, "0x56bc75e2d63100000"])).await;
        account
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.forwarding.abort();
    }
}

pub(crate) fn number(value: &Value) -> u64 {
    u64::from_str_radix(value.as_str().unwrap().trim_start_matches("0x"), 16).unwrap()
}

fn headers() -> HeaderMap {
    HeaderMap::from_iter([(fetch::header::CONTENT_TYPE, fetch::HeaderValue::from_static("application/json"))])
}

async fn forward(State(way): State<Arc<Way>>, body: Bytes) -> Response {
    let no = way.requests.fetch_add(1, Ordering::Relaxed) + 1;
    let breaks = way.breaks.load(Ordering::Relaxed);
    if breaks > 0 && no.is_multiple_of(breaks) {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    let node = way.node.lock().unwrap().clone();
    let Some(node) = node else { return StatusCode::SERVICE_UNAVAILABLE.into_response() };
    let answer = way.fetch.post(&node, headers(), body).await;
    let is_lost = breaks > 0 && (no + breaks / 2).is_multiple_of(breaks);
    match answer {
        Ok(answer) if !is_lost => answer.body.into_response(),
        _ => StatusCode::BAD_GATEWAY.into_response(),
    }
}

/// Returns the path of the node's program, which is fetched once.
fn anvil() -> PathBuf {
    static ANVIL: OnceLock<PathBuf> = OnceLock::new();
    ANVIL.get_or_init(|| fetched(Path::new(env!("CARGO_TARGET_TMPDIR")))).clone()
}

fn fetched(folder: &Path) -> PathBuf {
    let folder = folder.join("anvil");
    let found = || {
        let packages = std::fs::read_dir(folder.join("node_modules/@foundry-rs")).ok()?;
        let mut programs = packages.filter_map(|package| Some(package.ok()?.path().join("bin/anvil")));
        programs.find(|program| {
            program.is_file() && !program.components().any(|part| part.as_os_str() == "anvil.js")
        })
    };
    // Two test runs at once fetch it once.
    std::fs::create_dir_all(&folder).unwrap();
    let lock = std::fs::File::create(folder.join("lock")).unwrap();
    lock.lock().unwrap();
    if let Some(program) = found() {
        return program;
    }
    let mut npm = std::process::Command::new("npm");
    npm.args(["install", "--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--prefix"])
        .arg(&folder)
        .arg(PACKAGE);
    let output =
        npm.output().unwrap_or_else(|error| panic!("{npm:?}: {error}; install the Debian package npm"));
    assert!(output.status.success(), "{npm:?}: {}", String::from_utf8_lossy(&output.stderr));
    found().expect("the package brings the program")
}

/// An account that signs.
pub(crate) struct Account {
    key: SigningKey,
    pub(crate) address: String,
}

/// A transaction to sign.
#[derive(Clone)]
pub(crate) struct Unsigned {
    pub(crate) nonce: u64,
    pub(crate) to: String,
    pub(crate) value: u64,
    pub(crate) fee: u64,
    pub(crate) chain: u64,
}

/// A signed transaction.
#[derive(Clone)]
pub(crate) struct Signed {
    pub(crate) hash: String,
    pub(crate) raw: Vec<u8>,
}

impl Unsigned {
    pub(crate) fn new(nonce: u64, to: &str) -> Unsigned {
        Unsigned { nonce, to: to.to_owned(), value: 1, fee: 20 * GWEI, chain: CHAIN }
    }
}

impl Account {
    pub(crate) fn new(seed: u8) -> Account {
        let key = SigningKey::from_slice(&[seed; 32]).unwrap();
        let point = key.verifying_key().to_sec1_point(false);
        let address = hex(&Keccak256::digest(&point.as_bytes()[1..])[12..]);
        Account { key, address }
    }

    /// Signs as EIP-1559 says.
    pub(crate) fn sign(&self, unsigned: &Unsigned) -> Signed {
        let Unsigned { nonce, to, value, fee, chain } = unsigned;
        let mut fields = vec![
            rlp_number(*chain),
            rlp_number(*nonce),
            rlp_number((*fee).min(GWEI)),
            rlp_number(*fee),
            rlp_number(100_000),
            rlp(&unhex(to)),
            rlp_number(*value),
            rlp(&[]),
            rlp_list(&[]),
        ];
        let typed = |fields: &[Vec<u8>]| [vec![2], rlp_list(fields)].concat();
        let (signature, parity) = self.key.sign_prehash_recoverable(&Keccak256::digest(typed(&fields)));
        let bytes = signature.to_bytes();
        fields.push(rlp_number(u64::from(parity.to_byte())));
        fields.extend(bytes.chunks(32).map(|part| rlp(trimmed(part))));
        let raw = typed(&fields);
        Signed { hash: hex(&Keccak256::digest(&raw)), raw }
    }

    /// Returns a batch, as it is submitted.
    pub(crate) fn batch(&self, unsigned: &Unsigned) -> Value {
        let Signed { hash, raw } = self.sign(unsigned);
        json!({
            "service_id": self.address, "batch_header": hash, "nonce": unsigned.nonce, "serialized_batch": STANDARD.encode(raw),
        })
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold("0x".to_owned(), |text, byte| format!("{text}{byte:02x}"))
}

fn unhex(text: &str) -> Vec<u8> {
    let digits = text.trim_start_matches("0x").as_bytes();
    digits.chunks(2).map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

fn trimmed(bytes: &[u8]) -> &[u8] {
    &bytes[bytes.iter().take_while(|byte| **byte == 0).count()..]
}

fn rlp_number(number: u64) -> Vec<u8> {
    rlp(trimmed(&number.to_be_bytes()))
}

fn rlp(bytes: &[u8]) -> Vec<u8> {
    match bytes {
        [small] if *small < 0x80 => vec![*small],
        _ => [head(0x80, bytes.len()), bytes.to_vec()].concat(),
    }
}

fn rlp_list(items: &[Vec<u8>]) -> Vec<u8> {
    let inner = items.concat();
    [head(0xc0, inner.len()), inner].concat()
}

fn head(kind: u8, length: usize) -> Vec<u8> {
    match u8::try_from(length).unwrap() {
        short @ ..=55 => vec![kind + short],
        long => vec![kind + 56, long],
    }
}
