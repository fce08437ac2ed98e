//! Every line of "queue now", "queue later" and "don't queue", and the queuer against the document's steps.

use std::collections::BTreeSet;

use ledger::Seconds;
use ledger::queuer::{Batch, BatchStatus, Round, WINDOW, Wait, round};
use proptest::prelude::*;

use crate::seed::batch_queue;

use BatchStatus::{Committed, Delayed, Invalid, Pending, Unknown, Valid};

const NOW: Seconds = Seconds::whole(1_000);

fn batch(header: &str, service: &str, submitted: bool, status: Option<BatchStatus>) -> Batch {
    Batch {
        header: header.to_owned(),
        service: (!service.is_empty()).then(|| service.to_owned()),
        nonce: None,
        created_at: Seconds::whole(100),
        submitted,
        status,
        last_submitted_at: None,
    }
}

fn new(header: &str, service: &str, created_at: u32) -> Batch {
    Batch { created_at: Seconds::whole(created_at), ..batch(header, service, false, None) }
}

fn delayed(header: &str, service: &str, last: &str) -> Batch {
    let last_submitted_at = Some(Seconds::parse(last).unwrap());
    Batch { last_submitted_at, ..batch(header, service, false, Some(Delayed)) }
}

fn headers<'a>(batches: &[&'a Batch]) -> Vec<&'a str> {
    batches.iter().map(|batch| &*batch.header).collect()
}

/// Checks the headers of the three lists of a round.
fn check(batches: &[Batch], queue: &[&str], later: &[&str], never: &[&str]) {
    let Round { queue: queued, later: waiting, never: left } = round(batches, NOW, WINDOW);
    let waiting: Vec<&Batch> = waiting.into_iter().map(|(batch, _)| batch).collect();
    assert_eq!(
        (headers(&queued), headers(&waiting), headers(&left)),
        (queue.to_vec(), later.to_vec(), never.to_vec())
    );
}

#[test]
fn queue_now_a_new_batch_of_a_service_that_has_none_under_way() {
    check(&[new("a", "s", 1)], &["a"], &[], &[]);
}

#[test]
fn queue_now_a_batch_that_the_ledger_does_not_recognize() {
    check(&[batch("a", "s", false, Some(Unknown))], &["a"], &[], &[]);
}

#[test]
fn queue_now_a_delayed_batch_whose_window_has_expired_to_the_very_moment() {
    check(&[delayed("a", "s", "985")], &["a"], &[], &[]);
    check(&[delayed("a", "s", "1")], &["a"], &[], &[]);
}

#[test]
fn queue_later_a_delayed_batch_whose_window_has_not_expired() {
    let batches = [delayed("a", "s", "985.000000001"), delayed("b", "t", "2000")];
    check(&batches, &[], &["a", "b"], &[]);
    let ends_at = Seconds::parse("1000.000000001").unwrap();
    assert_eq!(round(&batches, NOW, WINDOW).later[0].1, Wait::Window { ends_at });
}

#[test]
fn queue_later_a_new_batch_whose_service_has_one_pending_unknown_or_delayed() {
    check(&[new("n", "s", 1), batch("p", "s", true, Some(Pending))], &[], &["n"], &["p"]);
    check(&[new("n", "s", 1), batch("u", "s", false, Some(Unknown))], &["u"], &["n"], &[]);
    check(&[new("n", "s", 1), delayed("d", "s", "990")], &[], &["n", "d"], &[]);
    check(&[new("n", "s", 1), delayed("d", "s", "1")], &["d"], &["n"], &[]);
}

#[test]
fn do_not_queue_a_batch_that_is_pending_or_decided() {
    for status in [Pending, Invalid, Valid, Committed] {
        check(&[batch("a", "s", true, Some(status))], &[], &[], &["a"]);
    }
}

#[test]
fn do_not_queue_a_batch_that_is_being_submitted_nor_another_of_its_service() {
    check(&[batch("a", "s", true, None), new("n", "s", 1)], &[], &["n"], &["a"]);
}

#[test]
fn do_not_queue_again_what_the_submitter_took_up_again() {
    for status in [Unknown, Delayed] {
        check(&[batch("a", "s", true, Some(status)), new("n", "s", 1)], &[], &["n"], &["a"]);
    }
}

#[test]
fn a_decided_batch_does_not_keep_its_service() {
    for status in [Invalid, Valid, Committed] {
        check(&[batch("a", "s", true, Some(status)), new("n", "s", 1)], &["n"], &[], &["a"]);
    }
}

#[test]
fn the_oldest_batch_of_a_service_goes_first_and_of_the_oldest_the_smaller_header() {
    check(&[new("a", "s", 2), new("b", "s", 1)], &["b"], &["a"], &[]);
    check(&[new("c", "s", 1), new("B", "s", 1), new("b", "s", 1)], &["B"], &["c", "b"], &[]);
}

#[test]
fn transactions_of_one_time_go_by_their_nonces_as_numbers() {
    let numbered = |header: &str, nonce| Batch { nonce: Some(nonce), ..new(header, "0x1", 1) };
    check(&[numbered("a", 10), numbered("b", 9)], &["b"], &["a"], &[]);
}

#[test]
fn one_round_has_the_unknown_then_the_delayed_then_one_new_batch_of_each_service() {
    let batches = [
        new("new-s", "s", 1),
        new("new-r", "r", 1),
        new("new-r-younger", "r", 2),
        new("plain", "", 3),
        new("plain-younger", "", 4),
        delayed("delayed", "d", "985"),
        batch("unknown", "u", false, Some(Unknown)),
    ];
    let queue = ["unknown", "delayed", "plain", "new-r", "new-s"];
    check(&batches, &queue, &["new-r-younger", "plain-younger"], &[]);
}

#[test]
fn whatever_waits_says_for_what() {
    let batches = [
        batch("taken", "s", true, None),
        new("n", "s", 1),
        batch("pending", "p", true, Some(Pending)),
        new("o", "p", 1),
        new("first", "f", 1),
        new("second", "f", 2),
        delayed("d", "t", "990.5"),
    ];
    let said: Vec<String> =
        round(&batches, NOW, WINDOW).later.iter().map(|(_, wait)| wait.to_string()).collect();
    let expected = [
        "batch taken of its service is being submitted",
        "batch pending of its service is pending",
        "batch first of its service goes first",
        "its delay window ends at 1005.5",
    ];
    assert_eq!(said, expected);
}

/// Makes batches of few services, times and headers, so that they meet.
fn batches(states: &'static [(bool, Option<BatchStatus>)]) -> impl Strategy<Value = Vec<Batch>> {
    let state = prop::sample::select(states);
    let one = (0..4_u32, "[ab]{1,3}", 0..3_u32, state, 980..990_u32);
    let one = one.prop_map(|(service, header, created_at, (submitted, status), last)| Batch {
        created_at: Seconds::whole(created_at),
        last_submitted_at: (submitted || status.is_some()).then(|| Seconds::whole(last)),
        ..batch(
            &header,
            if service == 0 { "" } else { ["r", "s", "t"][service as usize - 1] },
            submitted,
            status,
        )
    });
    prop::collection::vec(one, 0..24)
}

/// The states of the document that are not "in process of being submitted".
const STATES: [(bool, Option<BatchStatus>); 7] = [
    (false, None),
    (true, Some(Pending)),
    (false, Some(Unknown)),
    (false, Some(Delayed)),
    (true, Some(Valid)),
    (true, Some(Invalid)),
    (true, Some(Committed)),
];

const STATES_WITH_BEING_SUBMITTED: [(bool, Option<BatchStatus>); 8] =
    [STATES[0], STATES[1], STATES[2], STATES[3], STATES[4], STATES[5], STATES[6], (true, None)];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn the_queue_is_that_of_the_documents_steps(batches in batches(&STATES)) {
        let found = round(&batches, NOW, WINDOW).queue;
        prop_assert_eq!(found, batch_queue(&batches, NOW, WINDOW));
    }

    /// The document forgets a batch that is being submitted when it lists the services that are free.
    #[test]
    fn a_batch_being_submitted_keeps_new_ones_of_its_service_from_the_queue_and_changes_nothing_else(
        batches in batches(&STATES_WITH_BEING_SUBMITTED)
    ) {
        let taken: BTreeSet<&Option<String>> = batches
            .iter()
            .filter(|batch| batch.submitted && batch.status.is_none())
            .map(|batch| &batch.service)
            .collect();
        let mut expected = batch_queue(&batches, NOW, WINDOW);
        expected.retain(|batch| batch.status.is_some() || !taken.contains(&batch.service));
        prop_assert_eq!(round(&batches, NOW, WINDOW).queue, expected);
    }

    #[test]
    fn every_batch_is_in_one_list_of_a_round(batches in batches(&STATES_WITH_BEING_SUBMITTED)) {
        let Round { queue, later, never } = round(&batches, NOW, WINDOW);
        let later = later.into_iter().map(|(batch, _)| batch);
        let mut found: Vec<*const Batch> =
            queue.into_iter().chain(later).chain(never).map(std::ptr::from_ref).collect();
        found.sort_unstable();
        let expected: Vec<*const Batch> = batches.iter().map(std::ptr::from_ref).collect();
        prop_assert_eq!(found, expected);
    }
}
