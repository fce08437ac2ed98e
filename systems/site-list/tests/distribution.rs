use proptest::prelude::*;
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
