use site_list::leaf::{Leaf, Phase};
use site_list::list::{Applied, Change, Completed, Disagreement, Distribution, List, Note, Replay};
use site_list::rules::Host;
use site_list::{Action, Policy};
use wire::{SubmissionId, Time};

use crate::support::{host, policy};

const AT: Time = Time::from_millis(1_795_068_000_000);

fn submission(number: u128) -> SubmissionId {
    SubmissionId(uuid::Uuid::from_u128(number))
}

fn change(number: u128, note: Note) -> Change {
    Change {
        seq: u64::try_from(number).expect("numbers of tests are small"),
        submission: submission(number),
        at: AT,
        note,
    }
}

/// A change that is complete, validated against the list as it is.
fn completed(list: &List, number: u128, (name, action): (&str, Action), policy: Option<Policy>) -> Change {
    let domain = host(name);
    let entry = list.entry(&domain).map(|entry| entry.digest(&domain));
    let contact = Some("ada@example.com".to_owned());
    change(number, Note::Completed(Completed { domain, action, policy, contact, entry }))
}

fn one() -> Policy {
    policy(&["a@b.example"], 1)
}

fn two() -> Policy {
    policy(&["a@b.example", "c@d.example"], 2)
}

#[test]
fn the_list_is_the_sum_of_its_changes() {
    let mut list = List::default();
    let site = host("example.com");
    let steps = [
        (Action::Add, Some(one())),
        (Action::Modify, Some(two())),
        (Action::ServiceModified, Some(one())),
        (Action::Delete, None),
        (Action::Add, Some(two())),
        (Action::DomainDeleted, None),
    ];
    for (number, (action, policy)) in (1..).zip(steps) {
        let change = completed(&list, number, ("example.com", action), policy.clone());
        assert_eq!(list.apply(&change), Applied::Changed, "{action:?}");
        assert_eq!(list.entry(&site).map(|entry| entry.policy.clone()), policy, "{action:?}");
        assert_eq!(u128::from(list.seq), number);
    }
    assert!(list.is_empty());
}

#[test]
fn an_event_that_comes_twice_changes_nothing_the_second_time() {
    let mut list = List::default();
    let add = completed(&list, 1, ("example.com", Action::Add), Some(one()));
    assert_eq!(list.apply(&add), Applied::Changed);
    let before = list.clone();
    assert_eq!(list.apply(&add), Applied::Nothing);
    assert_eq!(list, before);
}

#[test]
fn an_emergency_is_not_undone_by_a_change_that_was_validated_before_it() {
    let mut list = List::default();
    list.apply(&completed(&list, 1, ("example.com", Action::Add), Some(one())));
    let ordinary = completed(&list, 3, ("example.com", Action::Modify), Some(two()));
    let emergency =
        completed(&list, 2, ("example.com", Action::ServiceModified), Some(policy(&["x@y.example"], 1)));
    assert_eq!(list.apply(&emergency), Applied::Changed);
    assert_eq!(list.apply(&ordinary), Applied::Superseded);
    assert_eq!(list.entry(&host("example.com")).unwrap().policy, policy(&["x@y.example"], 1));
}

#[test]
fn an_entry_that_was_changed_and_changed_back_is_not_as_it_was() {
    let mut list = List::default();
    let site = host("example.com");
    list.apply(&completed(&list, 1, ("example.com", Action::Add), Some(one())));
    let before = list.entry(&site).unwrap().digest(&site);
    list.apply(&completed(&list, 2, ("example.com", Action::Modify), Some(two())));
    list.apply(&completed(&list, 3, ("example.com", Action::Modify), Some(one())));
    assert_ne!(list.entry(&site).unwrap().digest(&site), before);
}

#[test]
fn a_site_is_marked_while_a_report_that_it_is_gone_is_open() {
    let mut list = List::default();
    let site = host("example.com");
    list.apply(&completed(&list, 1, ("example.com", Action::Add), Some(one())));
    list.apply(&change(2, Note::Submitted(site.clone(), Action::DomainDeleted)));
    assert!(list.is_marked(&site));
    assert!(list.entry(&site).is_some(), "it is on the list until the report is complete");
    list.apply(&change(2, Note::Discarded));
    assert!(!list.is_marked(&site));
}

#[test]
fn submissions_are_numbered_in_their_order_for_ever() {
    let mut list = List::default();
    for number in 1..=3 {
        let submitted = Note::Submitted(host("example.com"), Action::Add);
        list.apply(&change(number, submitted.clone()));
        list.apply(&change(number, submitted));
    }
    let kept: List = serde_json::from_str(&serde_json::to_string(&list).unwrap()).unwrap();
    for list in [list, kept] {
        assert_eq!((list.submissions(), list.number_of(submission(2))), (3, Some(2)));
        assert_eq!(list.submission(3), Some(submission(3)));
        assert_eq!(
            (list.submission(0), list.submission(4), list.number_of(submission(9))),
            (None, None, None)
        );
    }
}

#[test]
fn a_list_is_kept_and_read_again() {
    let mut list = List::default();
    list.apply(&completed(&list, 1, ("example.com", Action::Add), Some(one())));
    list.apply(&change(2, Note::Submitted(host("example.com"), Action::DomainDeleted)));
    let kept = serde_json::to_string(&list).unwrap();
    let read: List = serde_json::from_str(&kept).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), kept);
    assert!(read.is_marked(&host("example.com")));
}

fn leaf(name: &str, action: Action, policy: Option<Policy>, phase: Phase) -> Vec<u8> {
    let (signers, threshold) = policy.map(|policy| (policy.signers, policy.threshold)).unzip();
    let leaf = Leaf {
        domain: host(name),
        action,
        signers,
        threshold,
        phase,
        date: "2026-11-19T06:00:00Z".to_owned(),
    };
    leaf.json().into_bytes()
}

fn both(name: &str, action: Action, policy: Option<Policy>) -> [Vec<u8>; 2] {
    [Phase::Preliminary, Phase::Confirmation].map(|phase| leaf(name, action, policy.clone(), phase))
}

fn replayed(leaves: &[Vec<u8>]) -> Result<Replay, Disagreement> {
    let mut replay = Replay::default();
    leaves.iter().try_for_each(|leaf| replay.push(leaf))?;
    Ok(replay)
}

#[test]
fn a_leaf_has_one_spelling() {
    let bytes = leaf("example.com", Action::Add, Some(one()), Phase::Preliminary);
    assert_eq!(
        String::from_utf8(bytes.clone()).unwrap(),
        "{\"domain\":\"example.com\",\"action\":\"ADD\",\"signers\":[{\"identity\":\"a@b.example\",\
         \"issuer\":\"https://accounts.google.com\"}],\"threshold\":1,\"phase\":\"preliminary\",\
         \"date\":\"2026-11-19T06:00:00Z\"}"
    );
    assert!(Leaf::read(&bytes).is_some());
    assert!(Leaf::read(&[b" ", &bytes[..]].concat()).is_none());
    let gone = leaf("example.com", Action::Delete, None, Phase::Confirmation);
    assert!(String::from_utf8(gone).unwrap().contains("\"signers\":null,\"threshold\":null"));
}

#[test]
fn a_list_that_follows_from_the_log_is_built_from_either() {
    let mut list = List::default();
    let mut leaves = Vec::new();
    for (number, (name, action, policy)) in (1..).zip([
        ("example.com", Action::Add, Some(one())),
        ("example.org", Action::Add, Some(two())),
        ("example.com", Action::Modify, Some(two())),
        ("example.org", Action::Delete, None),
    ]) {
        let change = completed(&list, number, (name, action), policy.clone());
        list.apply(&change);
        leaves.extend(both(name, action, policy));
    }
    let replay = replayed(&leaves).unwrap();
    assert_eq!(replay.check(&list), Ok(()));
    assert_eq!(Distribution::of_policies(replay.entries()), Distribution::of(&list));
    assert_eq!(replay.size(), 8);
}

#[test]
fn a_list_that_does_not_follow_from_the_log_is_refused() {
    let site: Host = host("example.com");
    let mut list = List::default();
    list.apply(&completed(&list, 1, ("example.com", Action::Add), Some(one())));
    let disagrees = |leaves: &[Vec<u8>]| replayed(leaves).unwrap().check(&list);
    let entry = Err(Disagreement::Entry(site.clone()));
    assert_eq!(disagrees(&[]), entry, "nothing was logged");
    let [announced, _] = both("example.com", Action::Add, Some(one()));
    assert_eq!(disagrees(&[announced]), entry, "announced and not confirmed");
    assert_eq!(disagrees(&both("example.com", Action::Add, Some(two()))), entry, "another policy");
    let and_gone =
        [both("example.com", Action::Add, Some(one())), both("example.com", Action::Delete, None)].concat();
    assert_eq!(disagrees(&and_gone), entry, "removed since");
    let and_more =
        [both("example.com", Action::Add, Some(one())), both("example.org", Action::Add, Some(one()))]
            .concat();
    assert_eq!(disagrees(&and_more), Err(Disagreement::Entry(host("example.org"))), "not in the list");
}

#[test]
fn a_change_that_is_logged_and_not_yet_complete_is_no_disagreement() {
    let mut list = List::default();
    list.apply(&completed(&list, 1, ("example.com", Action::Add), Some(one())));
    let leaves =
        [both("example.com", Action::Add, Some(one())), both("example.com", Action::Modify, Some(two()))]
            .concat();
    let replay = replayed(&leaves).unwrap();
    assert!(replay.check(&list).is_err());
    list.apply(&change(2, Note::Confirming(host("example.com"))));
    assert_eq!(replay.check(&list), Ok(()));
    list.apply(&completed(&list, 2, ("example.com", Action::Modify), Some(two())));
    assert_eq!(replay.check(&list), Ok(()));
    // A first entry, too.
    let mut empty = List::default();
    empty.apply(&change(1, Note::Confirming(host("example.com"))));
    assert_eq!(replayed(&leaves[..2]).unwrap().check(&empty), Ok(()));
}

#[test]
fn a_change_that_nobody_could_see_coming_is_refused() {
    let [announced, confirmed] = both("example.com", Action::Add, Some(one()));
    let not_announced =
        |leaves: &[Vec<u8>]| matches!(replayed(leaves), Err(Disagreement::NotAnnounced { .. }));
    assert!(not_announced(std::slice::from_ref(&confirmed)));
    assert!(not_announced(&[announced.clone(), confirmed.clone(), confirmed.clone()]));
    let [_, other] = both("example.com", Action::Add, Some(two()));
    assert!(not_announced(&[announced, other]));
    assert!(matches!(replayed(&[b"{}".to_vec()]), Err(Disagreement::Unreadable(0))));
    let without =
        [Phase::Preliminary, Phase::Confirmation].map(|phase| leaf("a.example", Action::Add, None, phase));
    assert!(matches!(replayed(&without), Err(Disagreement::NoPolicy(1))));
}
