use std::path::Path;

use site_list::log::{Log, Own, Reader, Source, Standing, Submitted, Taken};
use tlog::follow::FolderStore;
use tlog::note::{Trust, VerifierKey};
use tlog::tree::{leaf_hash, verify_inclusion};
use wire::Digest;

use crate::machine::{ada, leaves, looked_into, site};
use crate::support::World;
use crate::support::running::{ORIGIN, Running, Setup, log_key};
use crate::support::tiles::{Tells, TileServer, other_log};

fn own(folder: &Path) -> Own {
    Own::new(folder.join("log"), folder.join("guard"), log_key())
}

fn log(folder: &Path) -> Log {
    let writer = own(folder);
    let source = Source::Folder(FolderStore::open(folder.join("log")));
    let reader = Reader::new(source, writer.verifier(), folder.join("seen"));
    Log::Own { writer, reader }
}

fn checkpoint(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("log/checkpoint")).expect("there is one")
}

fn size(folder: &Path) -> u64 {
    let size = checkpoint(folder).lines().nth(1).and_then(|line| line.parse().ok());
    size.expect("a checkpoint has a size")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_leaf_that_is_put_often_is_there_once_and_proven_to_be() {
    let folder = tempfile::tempdir().unwrap();
    let log = log(folder.path());
    // More than a tile of them, so that proofs lead through full tiles and partial ones.
    for number in 0..300_u64 {
        let leaf = format!("leaf {}", number % 260);
        let Taken::Accepted(submitted) = log.submit(&leaf, 0).await.unwrap() else {
            panic!("it was not taken")
        };
        assert_eq!(submitted.index, Some(number % 260));
    }
    assert_eq!(size(folder.path()), 260);
    let opened = Trust::key(log_key().verifier()).open(checkpoint(folder.path()).as_bytes()).unwrap();
    assert_eq!(opened.checkpoint.origin, ORIGIN);
    for index in [0, 127, 255, 256, 259] {
        let leaf = format!("leaf {index}");
        let submitted = Submitted { leaf: leaf.clone(), index: Some(index), signature: None };
        let Standing::Included(proof) = log.prove(&submitted).await.unwrap() else { panic!("{index}") };
        // Whoever has the leaf and the answer verifies it without the log.
        let opened = Trust::key(log_key().verifier()).open(proof.tree_head.as_bytes()).unwrap();
        let hashes: Vec<Digest> = proof.proof.hashes.iter().map(|hash| digest(hash)).collect();
        verify_inclusion(index, opened.checkpoint.tree(), leaf_hash(leaf.as_bytes()), &hashes).unwrap();
    }
    let beyond = Submitted { leaf: "leaf 260".to_owned(), index: Some(260), signature: None };
    assert_eq!(log.prove(&beyond).await, Ok(Standing::NotYet));
    let elsewhere = Submitted { leaf: "leaf 1".to_owned(), index: Some(2), signature: None };
    assert!(matches!(log.prove(&elsewhere).await, Ok(Standing::Lies(_))));
}

fn digest(hex: &str) -> Digest {
    let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).expect("these are digits");
    Digest(std::array::from_fn(|at| byte(2 * at)))
}

#[test]
fn writers_of_one_folder_take_turns_and_none_loses_a_leaf() {
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let folder = folder.path();
            scope.spawn(move || {
                // Each with a guard of its own, as servers of a fleet have it.
                let guard = folder.join(format!("guard-{writer}"));
                let own = Own::new(folder.join("log"), guard, log_key());
                for number in 0..20 {
                    own.append(format!("leaf {number} of all").as_bytes()).unwrap();
                    own.append(format!("leaf {number} of {writer}").as_bytes()).unwrap();
                }
            });
        }
    });
    assert_eq!(size(folder.path()), 20 + 4 * 20);
}

#[test]
fn a_leaf_that_was_signed_and_not_published_is_completed_by_whoever_is_next() {
    let folder = tempfile::tempdir().unwrap();
    own(folder.path()).append(b"first").unwrap();
    let before = checkpoint(folder.path());
    own(folder.path()).append(b"second").unwrap();
    // As a stop between the signature and the checkpoint leaves it: the guard is ahead.
    std::fs::write(folder.path().join("log/checkpoint"), &before).unwrap();
    std::fs::write(folder.path().join("log/begun"), b"second").unwrap();
    assert_eq!(own(folder.path()).append(b"third").unwrap(), 2, "the second comes first");
    assert_eq!(size(folder.path()), 3);
    assert!(!folder.path().join("log/begun").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_is_not_the_fleets_takes_no_leaf() {
    let folder = tempfile::tempdir().unwrap();
    own(folder.path()).append(b"first").unwrap();
    let refused = log(folder.path()).submit("second", 2).await.unwrap_err();
    assert!(refused.0.contains("has a log of 1 leaves") && refused.0.contains("share"), "{refused}");
    assert_eq!(size(folder.path()), 1);
    assert!(matches!(log(folder.path()).submit("second", 1).await, Ok(Taken::Accepted(_))));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_was_set_back_takes_no_leaf() {
    let folder = tempfile::tempdir().unwrap();
    own(folder.path()).append(b"first").unwrap();
    let before = checkpoint(folder.path());
    own(folder.path()).append(b"second").unwrap();
    std::fs::write(folder.path().join("log/checkpoint"), &before).unwrap();
    let taken = log(folder.path()).submit("another", 0).await.unwrap();
    assert!(matches!(taken, Taken::Rejected(_)), "{taken:?}");
    assert_eq!(checkpoint(folder.path()), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_with_another_key_is_not_believed() {
    let folder = tempfile::tempdir().unwrap();
    own(folder.path()).append(b"first").unwrap();
    let stranger =
        tlog::note::SigningKey::from_seed(ORIGIN, tlog::note::Algorithm::Ed25519, &[2; 32]).unwrap();
    let key: VerifierKey = stranger.verifier();
    let reader = Reader::new(
        Source::Folder(FolderStore::open(folder.path().join("log"))),
        key,
        folder.path().join("seen"),
    );
    let log = Log::Own { writer: own(folder.path()), reader };
    let submitted = Submitted { leaf: "first".to_owned(), index: Some(0), signature: None };
    assert!(matches!(log.prove(&submitted).await, Ok(Standing::Lies(_))));
}

/// A list whose own log everybody reads from a server of these tests.
async fn read_over_http(world: &World) -> (Running, TileServer) {
    let folder = tempfile::tempdir().expect("there is room");
    let server = TileServer::start(folder.path().join("log")).await;
    let settings = format!("log-url = '{}'\n", server.url);
    (Running::with(world, Setup { settings, ..Setup::default() }, folder).await, server)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_lists_own_log_is_verified_as_everybody_reads_it() {
    let world = World::start().await;
    let (running, _server) = read_over_http(&world).await;
    site(&world, ada("ADD"));
    let added = running.change("site.example", "ADD").await;
    assert_eq!(&*added.state, "COMPLETED", "{:?}", added.error);
    let outputs = added.outputs.unwrap();
    let proof = &outputs["SECOND_SUBMISSION_TO_LOG_OK"];
    assert!(proof.as_str().contains(ORIGIN), "{}", proof.as_str());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_lies_ends_the_change_and_is_looked_into() {
    let world = World::start().await;
    let (running, server) = read_over_http(&world).await;
    world.site("before.example", crate::support::web::Shows::Good, ada("ADD"));
    assert_eq!(&*running.change("before.example", "ADD").await.state, "COMPLETED");
    let older = {
        // The very same log, as it was when it had one leaf.
        let folder = tempfile::tempdir().unwrap();
        own(folder.path()).append(&leaves(&running)[0]).unwrap();
        checkpoint(folder.path())
    };
    let elsewhere = tempfile::tempdir().unwrap();
    let forked = other_log(elsewhere.path().join("log"), 40);
    site(&world, ada("ADD"));
    for tells in [Tells::BadTiles, Tells::BadSignature, Tells::Older(older), Tells::Other(forked)] {
        server.tell(tells.clone());
        let ended = running.change("site.example", "ADD").await;
        assert_eq!(&*ended.state, "LOG_INCLUSION_ERROR", "{tells:?}: {:?}", ended.error);
        assert_eq!(&*ended.error.as_ref().unwrap().code, "bad-proof", "{tells:?}");
        looked_into(&running, ended.id).await;
    }
    server.tell(Tells::Truth);
    assert_eq!(&*running.change("site.example", "ADD").await.state, "COMPLETED");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_cannot_be_reached_says_nothing_about_what_it_holds() {
    let world = World::start().await;
    let (running, server) = read_over_http(&world).await;
    server.tell(Tells::Nothing);
    site(&world, ada("ADD"));
    let id = running.submit("site.example", "ADD").await;
    let waiting = running.reaches(id, "SUBMISSION_TO_LOG_OK").await;
    let tried = running.admin.wait_for_change(id, waiting.revision, None).await.unwrap();
    assert_eq!((&*tried.state, &*tried.error.unwrap().code), ("SUBMISSION_TO_LOG_OK", "log"));
}
