use proptest::prelude::*;
use site_list::distribute::{LogLeaves, UPDATE, VerifyError, build, verify};
use site_list::log::Source;
use tlog::follow::FolderStore;
use tlog::note::Trust;

use crate::machine::{ada, site};
use crate::support::World;
use crate::support::running::{Running, log_key};
use site_list::list::{BadDistribution, Distribution, ENTRY_BYTES, domain_digest};
use site_list::{Policy, Signer};
use wire::Digest;

use crate::support::{host, policy};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_domain_is_known_by_the_digest_of_its_name() {
    assert_eq!(
        hex(&domain_digest(&host("example.com")).0),
        "a379a6f6eeafb9a55e378c118034e2751e682fab9f2d30ab13d2125586ce1947"
    );
}

#[test]
fn the_bytes_of_a_list_are_as_the_format_says() {
    let signer = Signer { identity: "ada@example.com".into(), issuer: "https://accounts.google.com".into() };
    let listed = Policy { signers: vec![signer], threshold: 1 };
    let json = r#"{"x-sigstore-signers":[{"identity":"ada@example.com","issuer":"https://accounts.google.com"}],"x-sigstore-threshold":1}"#;
    assert_eq!(listed.json(), json);
    assert_eq!(Policy::read(json).unwrap(), listed);
    let (com, org) = (host("example.com"), host("example.org"));
    let built = Distribution::of_policies([(&com, &listed), (&org, &listed)].into_iter());
    // sha256 of example.org begins with bf, behind a3 of example.com.
    let policy_digest = hex(&Digest::of(json.as_bytes()).0);
    let expected = format!(
        "a379a6f6eeafb9a55e378c118034e2751e682fab9f2d30ab13d2125586ce1947{policy_digest}{}{policy_digest}",
        hex(&Digest::of(b"example.org").0)
    );
    assert_eq!(hex(built.bytes()), expected);
    assert_eq!(built.name(), hex(&Digest::of(built.bytes()).0));
}

#[test]
fn an_empty_list_is_no_bytes_and_has_a_name() {
    let empty = Distribution::of_policies(std::iter::empty());
    assert!(empty.is_empty());
    assert_eq!(empty.name(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

#[test]
fn bytes_that_are_cut_or_not_sorted_are_refused() {
    let one = policy(&["a@b.example"], 1);
    let (com, org) = (host("example.com"), host("example.org"));
    let good = Distribution::of_policies([(&com, &one), (&org, &one)].into_iter()).bytes().to_vec();
    assert!(Distribution::read(good.clone()).is_ok());
    assert_eq!(Distribution::read(good[..100].to_vec()), Err(BadDistribution::Length(100)));
    let (first, second) = good.split_at(ENTRY_BYTES);
    assert_eq!(Distribution::read([second, first].concat()), Err(BadDistribution::Order(1)));
    assert_eq!(Distribution::read([first, first].concat()), Err(BadDistribution::Order(1)));
}

proptest! {
    #[test]
    fn every_site_is_found_and_no_other(names in prop::collection::btree_set("[a-z]{1,8}", 0..40)) {
        let one = policy(&["a@b.example"], 1);
        let hosts: Vec<_> = names.iter().map(|name| host(&format!("{name}.example"))).collect();
        let built = Distribution::of_policies(hosts.iter().map(|host| (host, &one)));
        let backwards = Distribution::of_policies(hosts.iter().rev().map(|host| (host, &one)));
        prop_assert_eq!(&built, &backwards);
        let read = Distribution::read(built.bytes().to_vec()).unwrap();
        prop_assert!(hosts.iter().all(|host| read.policy_digest(host) == Some(one.digest())));
        prop_assert_eq!(read.policy_digest(&host("not.on.the.list.example")), None);
        prop_assert_eq!(read.len(), hosts.len());
    }

    #[test]
    fn any_bytes_are_a_distribution_or_none(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        if let Ok(read) = Distribution::read(bytes.clone()) {
            prop_assert_eq!(read.bytes(), &bytes[..]);
        }
    }
}

fn log_of(running: &Running) -> LogLeaves {
    let source = Source::Folder(FolderStore::open(running.folder.path().join("log")));
    LogLeaves::read(&source, &trust()).expect("the log is good")
}

fn trust() -> Trust {
    Trust::key(log_key().verifier())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_distribution_is_built_the_same_twice_and_verified_without_the_server() {
    let world = World::start().await;
    let running = Running::start(&world).await;
    site(&world, ada("ADD"));
    assert_eq!(&*running.change("site.example", "ADD").await.state, "COMPLETED");
    let (list, log) = (running.list().await, log_of(&running));
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    for folder in &folders {
        build(&list, &log).unwrap().write(folder.path()).unwrap();
    }
    let name = build(&list, &log).unwrap().latest().latest;
    let (bin, json) = (format!("{name}.bin"), format!("{name}.json"));
    for file in [UPDATE, &bin, &json] {
        let [one, other] = [0, 1].map(|at: usize| std::fs::read(folders[at].path().join(file)).unwrap());
        assert_eq!(one, other, "{file}");
    }
    let verified = verify(folders[0].path(), &trust(), Some(&log)).unwrap();
    assert!(verified.distribution.policy_digest(&host("site.example")).is_some());
    // What the follower built is the same.
    let followed = running.folder.path().join("desk/list");
    while std::fs::read(followed.join(UPDATE)).ok() != std::fs::read(folders[0].path().join(UPDATE)).ok() {
        tokio::task::yield_now().await;
    }
    assert_eq!(verify(&followed, &trust(), None).unwrap(), verified);

    // Each byte of each file counts.
    for file in [&bin, &json] {
        let path = folders[0].path().join(file);
        let good = std::fs::read(&path).unwrap();
        for at in (0..good.len()).step_by(7) {
            let mut bad = good.clone();
            bad[at] ^= 1;
            std::fs::write(&path, bad).unwrap();
            assert!(verify(folders[0].path(), &trust(), Some(&log)).is_err(), "{file} byte {at}");
        }
        std::fs::write(&path, good).unwrap();
    }
    let stranger =
        tlog::note::SigningKey::from_seed("list.example/log", tlog::note::Algorithm::Ed25519, &[3; 32]);
    let stranger = Trust::key(stranger.unwrap().verifier());
    assert!(matches!(verify(folders[0].path(), &stranger, None), Err(VerifyError::Head(_))));
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_built_of_a_list_that_does_not_follow_from_its_log() {
    let world = World::start().await;
    let running = Running::start(&world).await;
    site(&world, ada("ADD"));
    assert_eq!(&*running.change("site.example", "ADD").await.state, "COMPLETED");
    let log = log_of(&running);
    assert!(build(&site_list::list::List::default(), &log).is_err(), "a list without what the log says");
    let other = tempfile::tempdir().unwrap();
    let empty = LogLeaves::read(&Source::Folder(FolderStore::open(other.path())), &trust()).unwrap();
    assert!(build(&*running.list().await, &empty).is_err(), "a list of what the log does not say");
    assert!(build(&site_list::list::List::default(), &empty).is_ok(), "nothing, and nothing said");
}
