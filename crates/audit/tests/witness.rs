//! Witnesses, policies and monitors: whoever remembers keeps the log to one history.

use crate::common;

use audit::monitor::{Alarm, Monitor, Seen};
use audit::note::{Checkpoint, Distrust, Note, Trust, sign_checkpoint};
use audit::tree::{Memory, leaf_hash, prove_consistency};
use audit::witness::{
    AddCheckpoint, Answer, CollectError, FileState, MemoryState, Policy, Post, Witness, WitnessState, collect,
};
use common::{Deployment, ORIGIN, applied, key, trust, witness_key};
use model::Digest;

fn tree(size: u64, salt: u8) -> Memory {
    let mut tree = Memory::new();
    (0..size).for_each(|index| tree.push(leaf_hash(&[&index.to_be_bytes()[..], &[salt]].concat())));
    tree
}

fn signed(tree: &Memory) -> Note {
    sign_checkpoint(&Checkpoint::new(ORIGIN, tree.size(), tree.root()), &[Box::new(key(ORIGIN, 1))]).unwrap()
}

fn witness(state: impl WitnessState + 'static) -> Witness {
    let signer = Box::new(witness_key("witness.example/w1", 5));
    Witness { logs: vec![key(ORIGIN, 1).verifier()], signer, state: Box::new(state) }
}

fn ask(witness: &Witness, old_size: u64, proof: Vec<Digest>, note: &Note) -> Answer {
    let request = AddCheckpoint { old_size, proof, checkpoint: note.to_string() };
    witness.add_checkpoint(request.to_string().as_bytes(), 1_700_000_000).unwrap()
}

fn proof(tree: &Memory, old: u64) -> Vec<Digest> {
    let Ok(proof) = prove_consistency(tree, old, tree.size());
    proof
}

#[test]
fn a_witness_cosigns_what_follows_and_answers_what_does_not() {
    let witness = witness(MemoryState::default());
    let (small, large, other) = (tree(5, 0), tree(9, 0), tree(9, 1));
    let first = ask(&witness, 0, vec![], &signed(&small));
    assert_eq!(first.status, 200, "{first:?}");
    let mut note = signed(&small);
    note.signatures.extend(audit::note::Signature::parse_lines(&first.body).unwrap());
    let verifier = witness_key("witness.example/w1", 5).verifier();
    assert_eq!(verifier.cosigned_at(&note.text, &note.signatures[1].bytes), Some(1_700_000_000));

    let conflict = ask(&witness, 0, vec![], &signed(&large));
    assert_eq!((conflict.status, conflict.content_type, &*conflict.body), (409, "text/x.tlog.size", "5\n"));
    assert_eq!(ask(&witness, 5, vec![], &signed(&large)).status, 422);
    assert_eq!(ask(&witness, 5, proof(&other, 5), &signed(&other)).status, 422);
    assert_eq!(ask(&witness, 5, proof(&large, 5), &signed(&large)).status, 200);
    assert_eq!(ask(&witness, 9, vec![], &signed(&large)).status, 200, "asked again");
    assert_eq!(ask(&witness, 9, vec![], &signed(&other)).status, 409, "another log of the same size");
    assert_eq!(ask(&witness, 9, vec![], &signed(&small)).status, 400, "the old size is the larger one");
    assert_eq!(ask(&witness, 5, vec![], &signed(&small)).status, 409, "a step back");
}

#[test]
fn a_witness_knows_its_logs_by_name_and_key() {
    let witness = witness(MemoryState::default());
    let tree = tree(5, 0);
    let other = Checkpoint::new("other.example", 5, tree.root());
    let unknown = sign_checkpoint(&other, &[Box::new(key(ORIGIN, 1))]).unwrap();
    assert_eq!(ask(&witness, 0, vec![], &unknown).status, 404);
    let forged =
        sign_checkpoint(&Checkpoint::new(ORIGIN, 5, tree.root()), &[Box::new(key(ORIGIN, 2))]).unwrap();
    assert_eq!(ask(&witness, 0, vec![], &forged).status, 403);
    for body in [
        "",
        "old 0",
        "old 0\n\n",
        "old 00\n\nx",
        "new 0\n\nx\n",
        "old 0\nnonsense\n\nx\n",
        "old 0\n\nno checkpoint\n",
    ] {
        assert_eq!(witness.add_checkpoint(body.as_bytes(), 0).unwrap().status, 400, "{body:?}");
    }
    let too_many = ask(&witness, 0, vec![tree.root(); 64], &signed(&tree));
    assert_eq!(too_many.status, 400);
    assert_eq!(ask(&witness, 0, vec![tree.root()], &signed(&tree)).status, 422, "a proof from nothing");
}

#[test]
fn a_witness_remembers_over_a_restart_and_refuses_to_forget() {
    let folder = tempfile::tempdir().unwrap();
    let (small, large) = (tree(5, 0), tree(300, 0));
    assert_eq!(
        ask(&witness(FileState::open(folder.path()).unwrap()), 0, vec![], &signed(&small)).status,
        200
    );
    let again = witness(FileState::open(folder.path()).unwrap());
    assert_eq!(&*ask(&again, 0, vec![], &signed(&large)).body, "5\n");
    assert_eq!(ask(&again, 5, proof(&large, 5), &signed(&large)).status, 200);
    let file = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
    std::fs::write(&file, "rubbish").unwrap();
    let request = AddCheckpoint { old_size: 0, proof: vec![], checkpoint: signed(&small).to_string() };
    assert!(again.add_checkpoint(request.to_string().as_bytes(), 0).is_err());
}

fn policy(rest: &str) -> Policy {
    let lines = format!(
        "# who watches\nlog {} https://log.example\n\nwitness A {} https://a.example\n\twitness B {}\n witness C {}\n{rest}\n",
        key(ORIGIN, 1).verifier(),
        witness_key("a.example", 11).verifier(),
        witness_key("b.example", 12).verifier(),
        witness_key("c.example", 13).verifier(),
    );
    Policy::parse(lines.as_bytes()).unwrap()
}

#[test]
fn a_policy_says_who_is_enough() {
    let enough = |rest: &str, cosigned: &[usize]| policy(rest).is_satisfied_by(cosigned);
    assert!(enough("quorum none", &[]));
    assert!(enough("quorum B", &[1]) && !enough("quorum B", &[0, 2]));
    assert!(enough("group g any A B C\nquorum g", &[2]) && !enough("group g any A B C\nquorum g", &[]));
    assert!(
        enough("group g all A B C\nquorum g", &[2, 0, 1]) && !enough("group g all A B C\nquorum g", &[0, 1])
    );
    assert!(enough("group g 2 A B C\nquorum g", &[2, 0]) && !enough("group g 2 A B C\nquorum g", &[0]));
    let nested = "group inner any A B\ngroup outer all inner C\nquorum outer";
    assert!(enough(nested, &[1, 2]) && !enough(nested, &[0, 1]) && !enough(nested, &[2]));
}

#[test]
fn a_policy_with_a_mistake_names_its_line() {
    let a = witness_key("a.example", 11).verifier();
    let log = key(ORIGIN, 1).verifier();
    let bad = [
        (String::new(), 0),
        ("log\nquorum none".to_owned(), 1),
        (format!("log {a}\nquorum none"), 1),
        (format!("witness A {log}\nquorum none"), 1),
        (format!("witness A {a}\nwitness B {a}\nquorum none"), 2),
        (format!("witness none {a}\nquorum none"), 1),
        (format!("witness A {a}\ngroup A any A\nquorum A"), 2),
        (format!("witness A {a}\ngroup g any A A\nquorum g"), 2),
        (format!("witness A {a}\ngroup g 2 A\nquorum g"), 2),
        (format!("witness A {a}\ngroup g 0 A\nquorum g"), 2),
        (format!("witness A {a}\ngroup g 01 A\nquorum g"), 2),
        (format!("witness A {a}\ngroup g all\nquorum g"), 2),
        (format!("witness A {a}\ngroup g any A\ngroup h any A g\nquorum h"), 3),
        ("quorum later\n".to_owned(), 1),
        ("quorum none\nquorum none".to_owned(), 2),
        ("quorum none\u{7f}".to_owned(), 1),
        ("quorum none\r\n".to_owned(), 1),
        ("query none".to_owned(), 1),
    ];
    for (text, line) in bad {
        assert_eq!(Policy::parse(text.as_bytes()).unwrap_err().line, line, "{text}");
    }
}

#[test]
fn a_checkpoint_without_its_quorum_is_not_believed() {
    let trust = Trust { keys: Vec::new(), policy: Some(policy("group g 2 A B C\nquorum g")) };
    let mut note = signed(&tree(5, 0));
    let cosign = |name: &str, seed| {
        use audit::note::Cosigner as _;
        witness_key(name, seed).cosign(&signed(&tree(5, 0)).text, 1_700_000_000).unwrap()
    };
    note.signatures.push(cosign("a.example", 11));
    note.signatures.push(cosign("a.example", 11));
    note.signatures.push(cosign("stranger.example", 99));
    let refused = trust.open(note.to_string().as_bytes());
    assert_eq!(
        refused,
        Err(Distrust::Unwitnessed { cosigned: 1 }),
        "one witness counts once, a stranger not at all"
    );
    note.signatures.push(cosign("c.example", 13));
    let opened = trust.open(note.to_string().as_bytes()).unwrap();
    assert_eq!(opened.cosigned_by.len(), 2);
    assert_eq!(opened.unknown, ["stranger.example"]);
    note.signatures[1].bytes[20] ^= 1;
    assert_eq!(trust.open(note.to_string().as_bytes()), Err(Distrust::Forged("a.example".to_owned())));
}

#[test]
fn the_key_of_one_log_does_not_speak_for_another() {
    let other = key("other.example", 2);
    let trust = Trust { keys: vec![key(ORIGIN, 1).verifier(), other.verifier()], policy: None };
    let checkpoint = Checkpoint::new(ORIGIN, 5, tree(5, 0).root());
    let note = sign_checkpoint(&checkpoint, &[Box::new(other)]).unwrap();
    let opened = trust.open(note.to_string().as_bytes());
    assert!(matches!(opened, Err(Distrust::Unsigned { .. })), "{opened:?}");
}

/// Witnesses by address.
struct Network(Vec<(&'static str, Witness)>);

impl Post for Network {
    fn post(&self, url: &str, body: &str) -> Result<(u16, Vec<u8>), String> {
        let (_, witness) = self.0.iter().find(|(known, _)| *known == url).ok_or("nobody is there")?;
        let answer =
            witness.add_checkpoint(body.as_bytes(), 1_700_000_000).map_err(|error| error.to_string())?;
        Ok((answer.status, answer.body.into_bytes()))
    }
}

fn network() -> Network {
    let mut witness = witness(MemoryState::default());
    witness.signer = Box::new(witness_key("a.example", 11));
    Network(vec![("https://a.example", witness)])
}

#[test]
fn cosignatures_are_collected_and_stop_a_log_that_was_set_back() {
    let (network, policy) = (network(), policy("quorum A"));
    let collected =
        |tree: &Memory| collect(&policy, &signed(tree), &network, &mut |old| Ok(proof(tree, old)));
    let (small, large) = (tree(5, 0), tree(300, 0));
    for tree in [&small, &large] {
        let got = collected(tree).unwrap();
        assert!(got.quorum, "{got:?}");
        assert_eq!(got.missing.len(), 2, "those without an address");
        let trust = Trust { keys: Vec::new(), policy: Some(policy.clone()) };
        trust.open(got.note.to_string().as_bytes()).unwrap();
    }
    let behind = CollectError::Behind { witness: "A".to_owned(), seen: 300, size: 5 };
    assert_eq!(collected(&small), Err(behind));
    let forked = |size| Err(CollectError::Forked { witness: "A".to_owned(), size });
    assert_eq!(collected(&tree(300, 1)), forked(300));
    assert_eq!(collected(&tree(400, 1)), forked(300));
}

#[test]
fn a_monitor_shouts_with_both_checkpoints_in_hand() {
    let folder = tempfile::tempdir().unwrap();
    let monitor = Monitor::new(folder.path().join("seen"), trust());
    let story = common::eventful();
    let mut deployment = Deployment::new();
    deployment.apply(&story.pipeline);
    assert_eq!(monitor.look(&deployment.checkpoint(), &deployment.store), Ok(Seen::First { size: 1 }));
    deployment.publish(&vec![applied(&story.pipeline); 600]);
    assert_eq!(
        monitor.look(&deployment.checkpoint(), &deployment.store),
        Ok(Seen::Grown { from: 1, to: 601 })
    );
    assert_eq!(monitor.look(&deployment.checkpoint(), &deployment.store), Ok(Seen::Same { size: 601 }));

    let mut other = Deployment::new();
    other.publish(&[b"another history".to_vec()]);
    for size in [1, 601, 700] {
        let missing = size - other.leaves.len();
        other.publish(&vec![b"x".to_vec(); missing]);
        let alarm = monitor.look(&other.checkpoint(), &other.store).unwrap_err();
        let Alarm::Inconsistent { before, now, .. } = &alarm else { panic!("{alarm}") };
        assert_eq!((before, now), (&deployment.checkpoint(), &other.checkpoint()));
        for text in [before, now] {
            trust().open(text.as_bytes()).unwrap();
        }
    }
    assert_eq!(monitor.look(&deployment.checkpoint(), &deployment.store), Ok(Seen::Same { size: 601 }));
    let stranger = Monitor::new(folder.path().join("other"), Trust::key(key(ORIGIN, 3).verifier()));
    assert!(matches!(stranger.look(&deployment.checkpoint(), &deployment.store), Err(Alarm::Distrusted(_))));
}
