//! A witness over HTTP: what the specification asks for, races, and a sudden death.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::Barrier;

use audit::follow::Publisher;
use audit::note::{Checkpoint, Note, Signature, SigningKey, VerifierKey, sign_checkpoint};
use audit::tiles::CheckedTiles;
use audit::tree::{Memory, leaf_hash, prove_consistency};
use audit::witness::{AddCheckpoint, Policy, Post, collect};
use tempfile::TempDir;

use crate::audit::deployment::{ORIGIN, key};
use crate::audit::{Logged, log_key};
use crate::common::{milepost, run};

/// A witness in a process of its own.
struct Watching {
    child: Child,
    address: String,
}

impl Watching {
    fn start(key: &Path, state: &Path) -> Watching {
        let (key, state) = (key.to_str().unwrap(), state.to_str().unwrap());
        let log = log_key();
        let args = ["witness", "--key", key, "--state", state, "--log", &log, "--listen", "127.0.0.1:0"];
        let mut child = milepost(&args).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let address = lines.find_map(|line| Some(line.strip_prefix("listening on http://")?.to_owned()));
        std::thread::spawn(move || lines.for_each(drop));
        Watching { child, address: address.expect("the witness starts") }
    }

    /// Status, content type and body of the answer to a request.
    fn post(&self, path: &str, body: &[u8]) -> (u16, String, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: w\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        // A witness that refuses a long body may close before it has all of it.
        let _ = stream.write_all(body);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8(answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let content_type = head.lines().find_map(|line| line.strip_prefix("content-type: "));
        (status, content_type.unwrap_or_default().to_owned(), body.to_owned())
    }

    fn add(&self, old: u64, tree: &Memory) -> (u16, String, String) {
        self.post("/add-checkpoint", request(old, tree, &signed(tree)).as_bytes())
    }

    fn kill(mut self) {
        self.child.kill().and_then(|()| self.child.wait()).unwrap();
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn tree(size: u64, salt: u8) -> Memory {
    let mut tree = Memory::new();
    (0..size).for_each(|index| tree.push(leaf_hash(&[&index.to_be_bytes()[..], &[salt]].concat())));
    tree
}

/// The same beginning, another end.
fn branch(common: u64, size: u64, salt: u8) -> Memory {
    let mut tree = tree(common, 0);
    (common..size).for_each(|index| tree.push(leaf_hash(&[&index.to_be_bytes()[..], &[salt]].concat())));
    tree
}

fn signed_by(tree: &Memory, origin: &str, key: SigningKey) -> Note {
    sign_checkpoint(&Checkpoint::new(origin, tree.size(), tree.root()), &[Box::new(key)]).unwrap()
}

fn signed(tree: &Memory) -> Note {
    signed_by(tree, ORIGIN, key(ORIGIN, 1))
}

fn request(old_size: u64, tree: &Memory, note: &Note) -> String {
    let Ok(proof) = prove_consistency(tree, old_size, tree.size());
    AddCheckpoint { old_size, proof, checkpoint: note.to_string() }.to_string()
}

struct Keys {
    folder: TempDir,
    key: PathBuf,
    verifier: VerifierKey,
}

fn new_key() -> Keys {
    let folder = TempDir::new().unwrap();
    let key = folder.path().join("witness.key");
    let said = run(&["witness", "new-key", "witness.example/w1", key.to_str().unwrap()]).ends(0);
    Keys { verifier: said.stdout.parse().unwrap(), key, folder }
}

#[test]
fn a_new_key_is_its_owners_alone_and_replaces_none() {
    let keys = new_key();
    let secret = std::fs::read_to_string(&keys.key).unwrap();
    assert_eq!(secret.parse::<SigningKey>().unwrap().verifier(), keys.verifier);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(std::fs::metadata(&keys.key).unwrap().permissions().mode() & 0o777, 0o600);
    }
    run(&["witness", "new-key", "witness.example/w1", keys.key.to_str().unwrap()]).ends(2);
    assert_eq!(std::fs::read_to_string(&keys.key).unwrap(), secret);
    run(&["witness", "new-key", "two words", "elsewhere"]).ends(2);
    assert_ne!(new_key().verifier.public(), keys.verifier.public());
}

#[test]
fn a_witness_needs_its_own_key_and_a_log_to_watch() {
    let keys = new_key();
    let state = keys.folder.path().join("state");
    let (own, state) = (keys.key.to_str().unwrap(), state.to_str().unwrap());
    run(&["witness"]).ends(2);
    run(&["witness", "--key", own, "--state", state]).ends(2);
    let witness = keys.verifier.to_string();
    run(&["witness", "--key", own, "--state", state, "--log", &witness]).ends(2);
    let log_secret = keys.folder.path().join("log.key");
    std::fs::write(&log_secret, key(ORIGIN, 1).to_secret()).unwrap();
    let log_secret = log_secret.to_str().unwrap();
    let said = run(&["witness", "--key", log_secret, "--state", state, "--log", &log_key()]).ends(2);
    assert!(said.stderr.contains("a witness needs its own"), "{}", said.stderr);
}

#[test]
fn every_answer_is_the_one_of_the_specification() {
    let keys = new_key();
    let witness = Watching::start(&keys.key, &keys.folder.path().join("state"));
    let (small, large, fork) = (tree(5, 0), tree(300, 0), branch(5, 300, 1));
    let (status, _, body) = witness.add(0, &small);
    assert_eq!(status, 200, "{body}");
    let lines = Signature::parse_lines(&body).unwrap();
    let at = keys.verifier.cosigned_at(&signed(&small).text, &lines[0].bytes);
    assert!(lines.len() == 1 && at.is_some_and(|at| at > 1_700_000_000), "{body}");

    let conflict = (409, "text/x.tlog.size".to_owned(), "5\n".to_owned());
    assert_eq!(witness.add(0, &large), conflict);
    assert_eq!(witness.add(4, &large), conflict);
    let unproven = AddCheckpoint { old_size: 5, proof: vec![], checkpoint: signed(&large).to_string() };
    assert_eq!(witness.post("/add-checkpoint", unproven.to_string().as_bytes()).0, 422);
    assert_eq!(witness.add(5, &tree(300, 7)).0, 422, "another past");
    assert_eq!(witness.add(5, &large).0, 200);
    assert_eq!(witness.add(300, &large).0, 200, "the same again");
    assert_eq!(witness.add(300, &fork).0, 409, "a second face of the same size");
    assert_eq!(witness.add(300, &small).0, 400, "the old size is the larger one");

    let forged = signed_by(&large, ORIGIN, key(ORIGIN, 2));
    assert_eq!(witness.post("/add-checkpoint", request(300, &large, &forged).as_bytes()).0, 403);
    let stranger = signed_by(&large, "other.example", key("other.example", 1));
    assert_eq!(witness.post("/add-checkpoint", request(0, &large, &stranger).as_bytes()).0, 404);
    assert_eq!(witness.post("/add-checkpoint", b"old 0\n\nnonsense\n").0, 400);
    assert_eq!(witness.post("/add-checkpoint", &[0xff; 100]).0, 400);
    assert_eq!(witness.post("/add-checkpoint", &vec![b'a'; 65 << 10]).0, 413);
    assert_eq!(witness.post("/elsewhere", b"").0, 404);
}

#[test]
fn of_two_that_race_with_two_histories_one_is_cosigned() {
    let keys = new_key();
    let state = keys.folder.path().join("state");
    // Two processes over one memory: the harder race.
    let witnesses = [Watching::start(&keys.key, &state), Watching::start(&keys.key, &state)];
    let mut known = 0;
    let mut past: Option<Memory> = None;
    for round in 1..=12_u8 {
        let size = u64::from(round) * 10;
        let grown = |salt: u8| {
            let mut tree = past.clone().unwrap_or_default();
            (known..size).for_each(|index| tree.push(leaf_hash(&[index.to_be_bytes()[7], salt, round])));
            tree
        };
        let faces = [grown(1), grown(2)];
        let barrier = Barrier::new(2);
        let statuses = std::thread::scope(|scope| {
            let asking = [0, 1].map(|at| {
                let (witness, face, barrier) = (&witnesses[at], &faces[at], &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    witness.add(known, face).0
                })
            });
            asking.map(|asked| asked.join().unwrap())
        });
        let cosigned: Vec<usize> = (0..2).filter(|at| statuses[*at] == 200).collect();
        assert_eq!(cosigned.len(), 1, "round {round}: {statuses:?}");
        assert!(statuses.contains(&409), "round {round}: {statuses:?}");
        past = Some(faces[cosigned[0]].clone());
        known = size;
    }
}

#[test]
fn what_was_cosigned_is_remembered_through_a_sudden_death() {
    let keys = new_key();
    let state = keys.folder.path().join("state");
    let mut known = 0;
    for size in [5, 6, 300, 777] {
        let witness = Watching::start(&keys.key, &state);
        assert_eq!(witness.add(known, &tree(size, 0)).0, 200, "{size}");
        witness.kill();
        known = size;
    }
    let witness = Watching::start(&keys.key, &state);
    assert_eq!(witness.add(0, &tree(800, 1)).2, "777\n");
    witness.kill();
    // A memory that is damaged is not taken for an empty one.
    let file = std::fs::read_dir(&state).unwrap().next().unwrap().unwrap().path();
    std::fs::write(file, "rubbish").unwrap();
    let witness = Watching::start(&keys.key, &state);
    assert_eq!(witness.add(0, &tree(800, 1)).0, 500);
}

impl Post for Watching {
    fn post(&self, url: &str, body: &str) -> Result<(u16, Vec<u8>), String> {
        assert_eq!(url, format!("http://{}", self.address));
        let (status, _, answer) = Watching::post(self, "/add-checkpoint", body.as_bytes());
        Ok((status, answer.into_bytes()))
    }
}

#[test]
fn a_log_collects_what_verifiers_ask_for() {
    let keys = new_key();
    let witness = Watching::start(&keys.key, &keys.folder.path().join("state"));
    let mut logged = Logged::new();
    let policy =
        format!("log {}\nwitness w1 {} http://{}\nquorum w1\n", log_key(), keys.verifier, witness.address);
    let file = logged.file("policy", &policy);
    let policy = Policy::parse(policy.as_bytes()).unwrap();
    let verified = |logged: &Logged| {
        let evidence = logged.file("evidence.json", logged.evidence());
        run(&["verify", evidence.to_str().unwrap(), "--policy", file.to_str().unwrap(), "-o", "json"])
    };
    for _ in 0..2 {
        logged.grow(300);
        assert_eq!(verified(&logged).ends(1).json()["fault"], "witness");
        let note = Note::parse(logged.deployment.checkpoint().as_bytes()).unwrap();
        let checkpoint: Checkpoint = note.text.parse().unwrap();
        let (store, guard) = (&logged.deployment.store, logged.deployment.guard());
        let tiles = CheckedTiles::open(store, checkpoint.size, &checkpoint.root).unwrap();
        let mut prove =
            |old| prove_consistency(&tiles, old, checkpoint.size).map_err(|error| error.to_string());
        let collected = collect(&policy, &note, &witness, &mut prove).unwrap();
        assert!(collected.quorum, "{collected:?}");
        let mut publisher = Publisher::open(store, ORIGIN, guard).unwrap();
        publisher.cosigned(&collected.note).unwrap();
        let told = verified(&logged).ends(0).json();
        assert_eq!(told["cosigned_by"][0]["name"], "witness.example/w1");
    }
}
