//! A whole log on disk: what is wrong in it is found and named; what its policy gave up is not missed.

use crate::common;

use std::path::{Path, PathBuf};

use audit::follow::{PublishError, Publisher, Swap, TileStore as _, prune};
use audit::guard::{Guard, GuardError};
use audit::leaf::{Administered, Entry, Forked, Pruned, Record};
use audit::note::{Checkpoint, Note};
use audit::tiles::{CheckedTiles, TilePath};
use audit::tree::prove_inclusion;
use audit::verify::{Fault, Finding, LogOptions, LogReport, verify_log};
use common::story::{Story, pipeline};
use common::{Deployment, ORIGIN, REPORT, eventful, key, leaves, trust};
use model::Time;

fn audit(deployment: &Deployment) -> Result<LogReport, Finding> {
    verify_log(&deployment.store, &deployment.checkpoint(), &trust(), &LogOptions::default())
}

/// A few hundred submissions, over several bundles.
fn busy(submissions: u32) -> Deployment {
    let pipeline = pipeline(REPORT);
    let mut deployment = Deployment::new();
    deployment.apply(&pipeline);
    let mut batch = Vec::new();
    for number in 0..submissions {
        let mut story = Story::of(pipeline.clone());
        story.now = Time::from_millis(1_200_000_000_000 + i64::from(number));
        story.submit(common::story::admin(), &format!(r#"{{"id":"r-{number}","pages":1}}"#)).unwrap();
        let token = story.claim_any();
        story.finish(token, "sent", r#"{"copies":1}"#).unwrap();
        batch.extend(leaves(&story.events));
    }
    deployment.publish(&batch);
    deployment
}

fn tree(deployment: &Deployment) -> Checkpoint {
    Note::parse(deployment.checkpoint().as_bytes()).unwrap().text.parse().unwrap()
}

fn file(deployment: &Deployment, path: &str) -> PathBuf {
    deployment.folder.path().join("log").join(path)
}

fn flip(path: &Path, at: usize) {
    let mut bytes = std::fs::read(path).unwrap();
    bytes[at] ^= 1;
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn a_log_of_many_submissions_verifies() {
    let deployment = busy(400);
    let report = audit(&deployment).unwrap();
    assert_eq!((report.events, report.submissions, report.definitions), (800, 400, 1));
    assert_eq!((report.pruned_below, report.acts.len()), (0, 0));
}

#[test]
fn a_changed_entry_is_named_by_its_index() {
    let deployment = busy(400);
    // 801 entries: three full bundles and one of 33.
    let bundle = file(&deployment, "tile/entries/001");
    flip(&bundle, 2 + 40);
    let finding = audit(&deployment).unwrap_err();
    assert_eq!((finding.fault, finding.place.index), (Fault::Tile, Some(256)), "{finding}");
    flip(&bundle, 2 + 40);
    let last = file(&deployment, "tile/entries/003.p/33");
    let length = std::fs::metadata(&last).unwrap().len();
    flip(&last, usize::try_from(length).unwrap() - 3);
    let finding = audit(&deployment).unwrap_err();
    assert_eq!((finding.fault, finding.place.index), (Fault::Tile, Some(800)), "{finding}");
}

#[test]
fn a_changed_tile_or_checkpoint_is_named() {
    let deployment = busy(400);
    for tile in ["tile/0/003.p/33", "tile/1/000.p/3"] {
        let path = file(&deployment, tile);
        flip(&path, 5);
        assert_eq!(audit(&deployment).unwrap_err().fault, Fault::Tile, "{tile}");
        flip(&path, 5);
    }
    let path = file(&deployment, "checkpoint");
    for at in [0, 25, 40, 120] {
        flip(&path, at);
        let fault = audit(&deployment).unwrap_err().fault;
        assert!(matches!(fault, Fault::Signature | Fault::Malformed), "{at}: {fault:?}");
        flip(&path, at);
    }
    std::fs::remove_file(file(&deployment, "tile/entries/001")).unwrap();
    assert_eq!(audit(&deployment).unwrap_err().place.index, Some(256));
    audit(&busy(3)).unwrap();
}

#[test]
fn a_log_that_was_set_back_is_caught_against_a_checkpoint_seen_before() {
    let deployment = busy(20);
    let seen = busy(21).checkpoint();
    let options = LogOptions { known: Some(&seen), ..LogOptions::default() };
    let finding = verify_log(&deployment.store, &deployment.checkpoint(), &trust(), &options).unwrap_err();
    assert_eq!(finding.fault, Fault::Consistency);
    assert!(finding.message.contains("tail was cut off"), "{finding}");
    let other = eventful();
    let mut forked = Deployment::new();
    forked.apply(&other.pipeline);
    forked.publish(&leaves(&other.events));
    let known = forked.checkpoint();
    let options = LogOptions { known: Some(&known), ..LogOptions::default() };
    let finding = verify_log(&deployment.store, &deployment.checkpoint(), &trust(), &options).unwrap_err();
    assert!(finding.message.contains("first 6 leaves"), "{finding}");
}

#[test]
fn a_leaf_that_says_more_than_a_leaf_says_is_malformed() {
    for leaf in [&b"{}"[..], b"", b"\xff", b"{\"format\":1,\"kind\":\"applied\"}", b"[1]"] {
        let mut deployment = busy(1);
        deployment.publish(&[leaf.to_vec()]);
        let finding = audit(&deployment).unwrap_err();
        assert_eq!((finding.fault, finding.place.index), (Fault::Malformed, Some(3)), "{finding}");
    }
    let story = eventful();
    let spaced =
        String::from_utf8(story.events[0].leaf.bytes()).unwrap().replace("{\"format\"", "{ \"format\"");
    let mut deployment = Deployment::new();
    deployment.apply(&story.pipeline);
    deployment.publish(&[spaced.into_bytes()]);
    assert_eq!(audit(&deployment).unwrap_err().fault, Fault::Malformed);
}

fn administered(no: u64) -> Record {
    let actor = model::Actor::new(model::ActorKind::Admin, "ada");
    Record::Administered(Administered {
        no,
        deed: "token-created".into(),
        of: "019a8c5e".into(),
        at: Time::EPOCH,
        actor: model::event::Pseudonym::of(&actor, &[9; 32]),
        role: Some(model::Role::Admin),
        detail: [("role".into(), "worker".into())].into(),
    })
}

#[test]
fn what_was_administered_is_counted_and_missed_when_it_is_left_out() {
    let mut deployment = busy(1);
    deployment.publish(&[administered(1).bytes(), administered(2).bytes()]);
    let report = audit(&deployment).unwrap();
    assert_eq!((report.administered, report.acts.len()), (2, 0));
    deployment.publish(&[administered(4).bytes()]);
    let finding = audit(&deployment).unwrap_err();
    assert_eq!((finding.fault, finding.place.index), (Fault::Chain, Some(5)), "{finding}");
    let mut repeated = busy(1);
    repeated.publish(&[administered(1).bytes(), administered(1).bytes()]);
    assert_eq!(audit(&repeated).unwrap_err().place.index, Some(4));
    let mut late = busy(1);
    late.publish(&[administered(2).bytes()]);
    assert_eq!(audit(&late).unwrap_err().place.index, Some(3));
}

#[test]
fn an_administered_act_has_one_spelling() {
    let bytes = administered(7).bytes();
    assert_eq!(Entry::read(&bytes).unwrap(), Entry::Record(administered(7)));
    let text = String::from_utf8(bytes).unwrap();
    let changed = [
        text.replace(",\"role\":\"admin\"", ",\"role\":\"owner\""),
        text.replace("\"no\":7", "\"no\":07"),
        text.replace("\"no\":7", "\"no\":7.0"),
        text.replace("\"detail\":{", "\"secret\":1,\"detail\":{"),
        text.replace("\"detail\":{", "\"detail\":{\"a\":1,"),
        text.replace("token-created", "token\\u002dcreated"),
    ];
    for changed in changed {
        assert_ne!(changed, text);
        assert!(Entry::read(changed.as_bytes()).is_err(), "{changed}");
    }
}

#[test]
fn pruned_entries_are_missed_only_where_no_policy_gave_them_up() {
    let mut deployment = busy(400);
    let policy = Pruned { minimum_index: 600, at: Time::EPOCH, reason: "kept for two years".to_owned() };
    let prove = |deployment: &Deployment, index: u64| {
        let tree = tree(deployment);
        let tiles = CheckedTiles::open(&deployment.store, tree.size, &tree.root).unwrap();
        prove_inclusion(&tiles, index, tree.size).unwrap()
    };
    let early = prune(&deployment.store, &policy, tree(&deployment).tree(), (800, &prove(&deployment, 800)));
    assert!(early.is_err(), "a policy that is not logged prunes nothing");
    // Removed without a word.
    let bundle = deployment.store.clone();
    let removed = TilePath::of_entry(0, 10_000);
    let kept = std::fs::read(file(&deployment, &removed.to_string())).unwrap();
    bundle.remove(&[removed]).unwrap();
    assert_eq!(audit(&deployment).unwrap_err().fault, Fault::Pruned);
    bundle.put(&[(removed, kept)]).unwrap();

    deployment.publish(&[Record::Pruned(policy.clone()).bytes()]);
    let gone =
        prune(&deployment.store, &policy, tree(&deployment).tree(), (801, &prove(&deployment, 801))).unwrap();
    assert_eq!(gone, 2);
    let report = audit(&deployment).unwrap();
    assert_eq!(report.pruned_below, 512);
    // Proofs of what is gone still hold: the hashes are there.
    let tree = tree(&deployment);
    let tiles = CheckedTiles::open(&deployment.store, tree.size, &tree.root).unwrap();
    let proof = prove_inclusion(&tiles, 7, tree.size).unwrap();
    let leaf = audit::tree::leaf_hash(&deployment.leaves[7]);
    audit::tree::verify_inclusion(7, tree.tree(), leaf, &proof).unwrap();
}

#[test]
fn a_store_that_was_set_back_signs_nothing_until_it_is_forked() {
    let mut deployment = busy(10);
    let old = deployment.checkpoint();
    let size = deployment.leaves.len();
    let more = leaves(&eventful().events);
    deployment.publish(&more);
    // The store is restored; the guard's file is not part of it.
    std::fs::write(file(&deployment, "checkpoint"), &old).unwrap();
    let mut publisher = Publisher::open(&deployment.store, ORIGIN, deployment.guard()).unwrap();
    let behind = publisher.advance(&more[..1]).unwrap_err();
    assert!(matches!(behind, PublishError::Guard(GuardError::Behind { .. })), "{behind}");
    let longer = vec![more[0].clone(); 30];
    let forked = publisher.advance(&longer).unwrap_err();
    assert!(matches!(forked, PublishError::Guard(GuardError::Forked { .. })), "{forked}");
    assert_eq!(deployment.checkpoint(), old, "nothing was published");

    let last = publisher.last_signed().unwrap().clone();
    let act =
        Forked { size: last.size, root: last.root, at: Time::EPOCH, reason: "restored a backup".to_owned() };
    let other = Forked { size: last.size - 1, ..act.clone() };
    let wrong = publisher.fork(&[], &other.decision()).unwrap_err();
    assert!(matches!(wrong, PublishError::Guard(GuardError::OtherFork { .. })), "{wrong}");
    publisher.fork(&[], &act.decision()).unwrap();
    publisher.advance(&more[..1]).unwrap();
    let report = audit(&deployment).unwrap();
    assert_eq!(report.acts, [(size as u64, Record::Forked(act))]);
    assert_eq!(report.forks_kept, [0; 0], "what was given up is not there");
}

#[test]
fn a_guard_survives_a_restart_and_refuses_a_damaged_memory() {
    let deployment = busy(2);
    let path = deployment.folder.path().join("guard");
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(deployment.guard().last().unwrap().size, 5);
    for damaged in ["", "x", &text[..text.len() - 1], &text.replace("5\n", "05\n")] {
        std::fs::write(&path, damaged).unwrap();
        let open = Guard::open(&path, vec![Box::new(key(ORIGIN, 1))]);
        assert!(matches!(open, Err(GuardError::File { .. })), "{damaged:?}");
    }
    std::fs::write(&path, text.replace(ORIGIN, "other.example")).unwrap();
    let mut publisher = Publisher::open(&deployment.store, ORIGIN, deployment.guard()).unwrap();
    let error = publisher.advance(&[b"x".to_vec()]).unwrap_err();
    assert!(matches!(error, PublishError::Guard(GuardError::Origin { .. })), "{error}");
}

#[test]
fn two_publishers_do_not_move_the_checkpoint_under_each_other() {
    let deployment = busy(2);
    let story = eventful();
    let mut first = Publisher::open(&deployment.store, ORIGIN, deployment.guard()).unwrap();
    let mut second = Publisher::open(&deployment.store, ORIGIN, deployment.guard()).unwrap();
    first.advance(&leaves(&story.events)).unwrap();
    let forked = second.advance(&vec![b"something else".to_vec(); 9]).unwrap_err();
    assert!(
        matches!(forked, PublishError::Guard(GuardError::Forked { .. })),
        "one guard, one history: {forked}"
    );
    let lost = second.advance(&leaves(&story.events)).unwrap_err();
    assert_eq!(lost, PublishError::Moved);
    assert_eq!(
        deployment.store.swap_checkpoint(None, "x").unwrap(),
        Swap::Lost(Some(deployment.checkpoint()))
    );
    audit(&deployment).unwrap();
}

#[test]
fn what_was_signed_and_not_published_is_published_again() {
    let deployment = busy(2);
    let (before, story) = (deployment.checkpoint(), eventful());
    let mut publisher = Publisher::open(&deployment.store, ORIGIN, deployment.guard()).unwrap();
    publisher.advance(&leaves(&story.events)).unwrap();
    // The machine stopped between the signature and the checkpoint.
    std::fs::write(file(&deployment, "checkpoint"), before).unwrap();
    let mut publisher = Publisher::open(&deployment.store, ORIGIN, deployment.guard()).unwrap();
    assert_eq!(publisher.owed(), 5);
    let short = publisher.advance(&leaves(&story.events)[..4]).unwrap_err();
    assert!(matches!(short, PublishError::Guard(GuardError::Behind { signed: 10, size: 9 })), "{short}");
    publisher.advance(&leaves(&story.events)).unwrap();
    assert_eq!(publisher.owed(), 0);
    audit(&deployment).unwrap();
}

#[test]
fn a_leaf_too_long_for_the_log_is_refused_before_anything_is_written() {
    let deployment = busy(1);
    let before = deployment.checkpoint();
    let mut publisher = Publisher::open(&deployment.store, ORIGIN, deployment.guard()).unwrap();
    let refused = publisher.advance(&[b"fine".to_vec(), vec![b'x'; 65_536]]).unwrap_err();
    assert!(matches!(refused, PublishError::Leaf(_)), "{refused}");
    assert_eq!((publisher.size(), deployment.checkpoint()), (3, before));
}
