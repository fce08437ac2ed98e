//! A log that speaks as Sigsum logs do: it takes a leaf at the second asking, and merges it at the third.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use tlog::note::{Algorithm, Checkpoint, SigningKey, VerifierKey};
use tlog::tree::{Memory, leaf_hash, prove_consistency, prove_inclusion};
use wire::Digest;

use super::http::{Asked, serve};

/// The moment from which the log behaves badly, counted in leaves, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bad {
    Never,
    Rejects(u64),
    Proof(u64),
    Signature(u64),
    Forked(u64),
}

pub(crate) struct SigsumLog {
    pub(crate) url: String,
    pub(crate) key: [u8; 32],
    state: Arc<Mutex<State>>,
}

struct State {
    bad: Bad,
    key: SigningKey,
    tree: Memory,
    forked: Memory,
    places: HashMap<Digest, u64>,
    asked_to_add: HashMap<Digest, usize>,
    asked_to_prove: HashMap<String, usize>,
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    let pair = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).expect("these are digits");
    (0..text.len()).step_by(2).map(pair).collect()
}

impl SigsumLog {
    pub(crate) async fn start(bad: Bad) -> SigsumLog {
        let seed = [7; 32];
        let named =
            |name: &str| SigningKey::from_seed(name, Algorithm::Ed25519, &seed).expect("this is a name");
        let public = *named("x").verifier().public();
        let key = named(&format!("sigsum.org/v1/tree/{}", hex(&Digest::of(&public).0)));
        let state = Arc::new(Mutex::new(State {
            bad,
            key,
            tree: Memory::new(),
            forked: Memory::new(),
            places: HashMap::new(),
            asked_to_add: HashMap::new(),
            asked_to_prove: HashMap::new(),
        }));
        let serving = state.clone();
        let url = serve(move |asked| serving.lock().expect("no test panicked with it").answer(&asked)).await;
        SigsumLog { url, key: public, state }
    }

    pub(crate) fn size(&self) -> u64 {
        self.state.lock().expect("no test panicked with it").tree.size()
    }
}

impl State {
    fn answer(&mut self, asked: &Asked) -> (u16, Vec<u8>) {
        let parts: Vec<&str> = asked.path.trim_start_matches('/').split('/').collect();
        match (asked.method.as_str(), &parts[..]) {
            ("POST", ["add-leaf"]) => (self.add(&asked.body), Vec::new()),
            ("GET", ["get-tree-head"]) => (200, self.head().into_bytes()),
            ("GET", ["get-inclusion-proof", size, leaf]) => self.include(size, leaf),
            ("GET", ["get-consistency-proof", old, new]) => {
                let number = |text: &str| text.parse().expect("sizes are numbers");
                let Ok(proof) = prove_consistency(self.shown(), number(old), number(new));
                (200, hashes(&proof).into_bytes())
            }
            _ => (404, Vec::new()),
        }
    }

    /// The tree that is shown.
    fn shown(&self) -> &Memory {
        match self.bad {
            Bad::Forked(from) if self.tree.size() >= from => &self.forked,
            _ => &self.tree,
        }
    }

    fn add(&mut self, body: &str) -> u16 {
        let value = |name: &str| {
            let line = body.lines().find_map(|line| line.strip_prefix(&format!("{name}=")));
            unhex(line.expect("a leaf has this field"))
        };
        let (message, signature, key) = (value("message"), value("signature"), value("public_key"));
        let checksum = Digest::of(&message);
        let signed = [&b"sigsum.org/v1/tree-leaf\0"[..], &checksum.0].concat();
        let public = key.clone().try_into().expect("a key has 32 bytes");
        let verifier = VerifierKey::new("submitter", Algorithm::Ed25519, &public).expect("this is a key");
        if !verifier.verifies_bytes(&signed, &signature) {
            return 403;
        }
        let leaf = leaf_hash(&[&checksum.0[..], &signature, &Digest::of(&key).0].concat());
        let number = self.tree.size() + u64::from(!self.places.contains_key(&leaf));
        if matches!(self.bad, Bad::Rejects(from) if number >= from) {
            return 400;
        }
        let asked = self.asked_to_add.entry(leaf).or_default();
        *asked += 1;
        if *asked == 1 {
            return 202;
        }
        if !self.places.contains_key(&leaf) {
            self.places.insert(leaf, self.tree.size());
            self.tree.push(leaf);
            // The other tree has the same leaves, all but the first.
            self.forked.push(if self.forked.size() == 0 { Digest::of(b"another") } else { leaf });
        }
        200
    }

    fn head(&self) -> String {
        let tree = self.shown();
        let checkpoint = Checkpoint::new(self.key.verifier().name(), tree.size(), tree.root());
        let mut signature = self.key.sign_bytes(checkpoint.to_string().as_bytes());
        if matches!(self.bad, Bad::Signature(from) if tree.size() >= from) {
            signature[0] ^= 1;
        }
        format!("size={}\nroot_hash={}\nsignature={}\n", tree.size(), hex(&tree.root().0), hex(&signature))
    }

    fn include(&mut self, size: &str, leaf: &str) -> (u16, Vec<u8>) {
        let asked = self.asked_to_prove.entry(leaf.to_owned()).or_default();
        *asked += 1;
        let hash = Digest(unhex(leaf).try_into().expect("a hash has 32 bytes"));
        let Some(index) = self.places.get(&hash).filter(|_| *asked > 1) else { return (404, Vec::new()) };
        let size = size.parse().expect("sizes are numbers");
        let Ok(mut proof) = prove_inclusion(self.shown(), *index, size);
        if matches!(self.bad, Bad::Proof(from) if self.tree.size() >= from) {
            proof[0].0[0] ^= 1;
        }
        (200, format!("leaf_index={index}\n{}", hashes(&proof)).into_bytes())
    }
}

fn hashes(proof: &[Digest]) -> String {
    proof.iter().map(|hash| format!("node_hash={}\n", hex(&hash.0))).collect()
}
