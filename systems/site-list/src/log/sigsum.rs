//! Logs that speak as Sigsum logs do: leaves are signed checksums, accepted later than they are taken.

use std::collections::BTreeMap;
use std::path::PathBuf;

use fetch::{Fetch, HeaderMap, Policy, Response, SystemResolver};
use tlog::note::{Algorithm, Checkpoint, SigningKey, VerifierKey};
use tlog::tree::{leaf_hash, verify_inclusion};
use wire::Digest;

use super::seen::{Seen, check_follows};
use super::{Lie, Path, Proof, Standing, Submitted, Taken, Unreachable};
use crate::hex::{hex, hex_of, unhex};

const LEAF_DOMAIN: &[u8] = b"sigsum.org/v1/tree-leaf\0";
/// More hashes than a proof of any tree has.
const HASHES_MAX: usize = 64;

/// A log's public key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SigsumKey(pub [u8; 32]);

/// A log of others, and the key by which leaves are ours.
#[derive(Debug)]
pub struct Sigsum {
    base: String,
    fetch: Fetch,
    log: VerifierKey,
    key: SigningKey,
    seen: Seen,
}

/// A signed tree head, as the log wrote it and as it is understood.
struct Head {
    text: String,
    checkpoint: Checkpoint,
}

type Asked<T> = Result<Result<T, Lie>, Unreachable>;

impl Sigsum {
    /// Names the log at an address that the operator chose. `memory` is the file that keeps the newest head that was believed.
    ///
    /// # Errors
    /// When the address is none that may be fetched from, or the key is none.
    pub fn new(
        url: &str,
        fetch: &Fetch,
        (log, key): (SigsumKey, SigningKey),
        memory: PathBuf,
    ) -> Result<Sigsum, String> {
        let base = fetch::normalized(url).map_err(|error| error.to_string())?;
        let policy = Policy { ports: (1..=u16::MAX).collect(), ..fetch.policy().clone() };
        policy.check(&base).map_err(|error| error.to_string())?;
        let origin = format!("sigsum.org/v1/tree/{}", hex(&Digest::of(&log.0)));
        let log = VerifierKey::new(&origin, Algorithm::Ed25519, &log.0).map_err(|error| error.to_string())?;
        let fetch = fetch.asking(policy, SystemResolver);
        let base = base.trim_end_matches('/').to_owned();
        Ok(Sigsum { base, fetch, log, key, seen: Seen::at(memory) })
    }

    pub(super) async fn submit(&self, leaf: &str) -> Result<Taken, Unreachable> {
        let message = Digest::of(leaf.as_bytes());
        let signature = self.signature(&message);
        let body = format!(
            "message={}\nsignature={}\npublic_key={}\n",
            hex(&message),
            hex_of(&signature),
            hex_of(self.key.verifier().public())
        );
        let response = self.fetch.post(&format!("{}/add-leaf", self.base), HeaderMap::new(), body).await;
        let response = response.map_err(|error| Unreachable(error.to_string()))?;
        match response.status {
            200 => {
                let signature = Some(hex_of(&signature));
                Ok(Taken::Accepted(Submitted { leaf: leaf.to_owned(), index: None, signature }))
            }
            202 => Ok(Taken::NotYet),
            status @ (429 | 500..) => Err(Unreachable(format!("it answers {status} to a leaf"))),
            status => Ok(Taken::Rejected(format!("the log answers {status}"))),
        }
    }

    fn signature(&self, message: &Digest) -> Vec<u8> {
        let checksum = Digest::of(&message.0);
        self.key.sign_bytes(&[LEAF_DOMAIN, &checksum.0].concat())
    }

    pub(super) async fn prove(&self, submitted: &Submitted) -> Result<Standing, Unreachable> {
        let head = match self.head().await? {
            Ok(head) => head,
            Err(lie) => return Ok(Standing::Lies(lie)),
        };
        if let Err(lie) = self.follow(&head).await? {
            return Ok(Standing::Lies(lie));
        }
        let message = Digest::of(submitted.leaf.as_bytes());
        let signature =
            submitted.signature.as_deref().and_then(unhex).unwrap_or_else(|| self.signature(&message));
        let (checksum, key) = (Digest::of(&message.0), Digest::of(self.key.verifier().public()));
        let leaf = leaf_hash(&[&checksum.0[..], &signature, &key.0].concat());
        let (size, root) = head.checkpoint.tree();
        let lie = |reason: String| Standing::Lies(Lie { reason, tree_head: head.text.clone() });
        let (index, path) = match size {
            0 => return Ok(Standing::NotYet),
            1 => (0, Vec::new()),
            _ => {
                let response = self.get(&format!("get-inclusion-proof/{size}/{}", hex(&leaf))).await?;
                match response.status {
                    200 => match inclusion(&response.body) {
                        Some(proof) => proof,
                        None => return Ok(lie("the proof of the log cannot be read".to_owned())),
                    },
                    404 => return Ok(Standing::NotYet),
                    status => return Err(Unreachable(format!("it answers {status} to a proof"))),
                }
            }
        };
        match verify_inclusion(index, (size, root), leaf, &path) {
            // The only leaf of a log may be somebody else's.
            Err(_) if size == 1 => Ok(Standing::NotYet),
            Err(error) => Ok(lie(format!("the proof of the log does not verify: {error}"))),
            Ok(()) => {
                let proof = Path { index, size, hashes: super::hashes(&path) };
                Ok(Standing::Included(Proof { proof, tree_head: head.text.clone() }))
            }
        }
    }

    /// Asks for the tree head, and checks its signature.
    async fn head(&self) -> Asked<Head> {
        let response = self.get("get-tree-head").await?;
        if response.status != 200 {
            return Err(Unreachable(format!("it answers {} to its tree head", response.status)));
        }
        let text = String::from_utf8_lossy(&response.body).into_owned();
        let read = || -> Option<(Checkpoint, Vec<u8>)> {
            let values = values(&text)?;
            let size = values.get("size")?.first()?.parse().ok()?;
            let root = digest(values.get("root_hash")?.first()?)?;
            let signature = unhex(values.get("signature")?.first()?)?;
            Some((Checkpoint::new(self.log.name(), size, root), signature))
        };
        let lie = |reason: &str| Ok(Err(Lie { reason: reason.to_owned(), tree_head: text.clone() }));
        let Some((checkpoint, signature)) = read() else { return lie("the tree head cannot be read") };
        if !self.log.verifies(&checkpoint.to_string(), &signature) {
            return lie("the signature of the tree head is not the log's");
        }
        Ok(Ok(Head { text, checkpoint }))
    }

    /// Checks that a head follows from the newest one that was believed, and remembers it.
    async fn follow(&self, head: &Head) -> Asked<()> {
        let next = &head.checkpoint;
        let lie = |reason: String| Ok(Err(Lie { reason, tree_head: head.text.clone() }));
        if let Some(last) = self.seen.last()? {
            let mut proof = Vec::new();
            if 0 < last.size && last.size < next.size {
                let path = format!("get-consistency-proof/{}/{}", last.size, next.size);
                let response = self.get(&path).await?;
                if response.status != 200 {
                    return Err(Unreachable(format!("it answers {} to a proof", response.status)));
                }
                let text = String::from_utf8_lossy(&response.body).into_owned();
                match values(&text).and_then(|values| node_hashes(&values)) {
                    Some(hashes) => proof = hashes,
                    None => return lie("the proof of consistency cannot be read".to_owned()),
                }
            }
            if let Err(reason) = check_follows(&last, next, &proof) {
                return lie(reason);
            }
        }
        self.seen.remember(next)?;
        Ok(Ok(()))
    }

    async fn get(&self, path: &str) -> Result<Response, Unreachable> {
        let got = self.fetch.get(&format!("{}/{path}", self.base), HeaderMap::new()).await;
        got.map_err(|error| Unreachable(error.to_string()))
    }
}

/// Reads lines `name=value`; a name may be there several times.
fn values(text: &str) -> Option<BTreeMap<&str, Vec<&str>>> {
    let mut values: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in text.lines() {
        let (name, value) = line.split_once('=')?;
        values.entry(name).or_default().push(value);
    }
    Some(values)
}

fn inclusion(body: &[u8]) -> Option<(u64, Vec<Digest>)> {
    let values = values(std::str::from_utf8(body).ok()?)?;
    let index = values.get("leaf_index")?.first()?.parse().ok()?;
    Some((index, node_hashes(&values)?))
}

fn node_hashes(values: &BTreeMap<&str, Vec<&str>>) -> Option<Vec<Digest>> {
    let hashes = values.get("node_hash").map(Vec::as_slice).unwrap_or_default();
    if hashes.len() > HASHES_MAX {
        return None;
    }
    hashes.iter().map(|hash| digest(hash)).collect()
}

fn digest(text: &str) -> Option<Digest> {
    Some(Digest(unhex(text)?.try_into().ok()?))
}
