use std::collections::{BTreeMap, BTreeSet};

use super::*;

fn way(host: &str, submitter: &str) -> Way {
    Way { host: host.to_owned(), submitter: Submitter::Subject(submitter.into()) }
}

fn after(start: Instant, millis: u64) -> Instant {
    start + Duration::from_millis(millis)
}

/// Asks for as many as `count` places, each of another host, and returns how many there were.
fn fill(places: &mut Places, submitter: &str, count: usize, now: Instant) -> usize {
    let asked = (0..count).map(|host| places.ask(&way(&format!("{submitter}-{host}"), submitter), now));
    asked.filter(Result::is_ok).count()
}

/// Has a host answer once, after so long.
fn known(places: &mut Places, host: &str, took_ms: u64, now: Instant) {
    let no = places.ask(&way(host, "scout"), now).unwrap();
    places.leave(no, after(now, took_ms));
}

#[test]
fn nobody_gets_all_places() {
    let start = engine::clock::instant();
    struct Case {
        says: &'static str,
        took_ms: Option<u64>,
        same_host: bool,
        submitters: usize,
        places: usize,
    }
    for case in [
        Case { says: "one host", took_ms: Some(10), same_host: true, submitters: 9, places: 8 },
        Case { says: "one of a host's", took_ms: Some(10), same_host: true, submitters: 1, places: 6 },
        Case { says: "a slow host", took_ms: Some(9_000), same_host: true, submitters: 9, places: 2 },
        Case {
            says: "one of a slow host's",
            took_ms: Some(9_000),
            same_host: true,
            submitters: 1,
            places: 1,
        },
        Case { says: "one, unknown hosts", took_ms: None, same_host: false, submitters: 1, places: 48 },
        Case { says: "one, good hosts", took_ms: Some(10), same_host: false, submitters: 1, places: 96 },
        Case { says: "one, slow hosts", took_ms: Some(9_000), same_host: false, submitters: 1, places: 16 },
        Case { says: "few, unknown hosts", took_ms: None, same_host: false, submitters: 8, places: 168 },
        Case { says: "few, slow hosts", took_ms: Some(9_000), same_host: false, submitters: 8, places: 56 },
        Case { says: "few, good hosts", took_ms: Some(10), same_host: false, submitters: 8, places: 224 },
        Case { says: "many, unknown hosts", took_ms: None, same_host: false, submitters: 400, places: 192 },
        Case {
            says: "many, slow hosts",
            took_ms: Some(9_000),
            same_host: false,
            submitters: 400,
            places: 64,
        },
        Case { says: "many, good hosts", took_ms: Some(10), same_host: false, submitters: 400, places: 256 },
    ] {
        let mut places = Places::default();
        let host = |n: usize| if case.same_host { "host".to_owned() } else { format!("host-{n}") };
        for n in 0..800 {
            if let Some(took_ms) = case.took_ms {
                known(&mut places, &host(n), took_ms, start);
                if case.same_host {
                    break;
                }
            }
        }
        let now = after(start, 9_000);
        let ask = |n: usize| places.ask(&way(&host(n), &format!("s{}", n % case.submitters)), now).is_ok();
        assert_eq!((0..800).map(ask).filter(|went| *went).count(), case.places, "{}", case.says);
    }
}

#[test]
fn a_stranger_finds_a_place_however_many_hosts_hang() {
    let start = engine::clock::instant();
    let mut places = Places::default();
    known(&mut places, "good", 10, start);
    let mut now = start;
    for _ in 0..20 {
        fill(&mut places, "flood", 2_000, now);
        now = after(now, 1_000);
        for host in ["good", &format!("new-{now:?}")] {
            let no = places.ask(&way(host, "stranger"), now).expect("there is a place");
            places.leave(no, after(now, 10));
        }
        // The flood's own messages to a host that answers go, too.
        let no = places.ask(&way("good", "flood"), now).expect("there is a place");
        places.leave(no, after(now, 10));
    }
}

#[test]
fn a_host_that_many_submitters_flood_has_a_place_for_one_more() {
    let (mut places, now) = (Places::default(), engine::clock::instant());
    for _ in 0..100 {
        let _ = places.ask(&way("shared", "flood"), now);
    }
    assert!(places.ask(&way("shared", "stranger"), now).is_ok());
}

#[test]
fn what_is_under_way_for_long_is_slow_whatever_was_known_before() {
    let start = engine::clock::instant();
    let mut places = Places::default();
    known(&mut places, "turned", 10, start);
    places.ask(&way("turned", "a"), start).unwrap();
    let now = after(start, 3_000);
    places.ask(&way("turned", "b"), now).unwrap();
    assert!(places.ask(&way("turned", "c"), now).is_err(), "two places for a slow host");
}

#[test]
fn turns_are_in_order_bounded_and_spread() {
    let (mut places, now) = (Places::default(), engine::clock::instant());
    let mut ask = || places.ask(&way("slow", "a"), now);
    while ask().is_ok() {}
    let waits: Vec<_> = (0..100).map(|_| ask().unwrap_err()).collect();
    assert!(waits.is_sorted() && waits[0] < waits[99], "{waits:?}");
    let waits: BTreeSet<_> = (0..100_000).map(|_| ask().unwrap_err()).collect();
    assert!(waits.iter().all(|wait| (TURN_MIN..=TURN_MAX).contains(wait)));
    assert!(waits.len() > 5_000, "not all at once: {}", waits.len());
}

/// Sends messages by the rule, each to a host of its own that takes so long, until all are through or the time is over.
/// Returns how many are through, and how often one was put off.
fn run(messages: usize, took_ms: u64, until_ms: u64) -> (usize, usize) {
    enum What {
        Asks,
        Leaves(u64),
    }
    let start = engine::clock::instant();
    let (mut places, mut through, mut put_off) = (Places::default(), 0, 0);
    let mut agenda: BTreeMap<(Duration, usize), What> =
        (0..messages).map(|n| ((Duration::ZERO, n), What::Asks)).collect();
    while let Some(((at, n), what)) = agenda.pop_first() {
        if at > Duration::from_millis(until_ms) {
            break;
        }
        match what {
            What::Leaves(no) => {
                places.leave(no, start + at);
                through += 1;
            }
            What::Asks => match places.ask(&way(&format!("host-{n}"), "a"), start + at) {
                Ok(no) => drop(agenda.insert((at + Duration::from_millis(took_ms), n), What::Leaves(no))),
                Err(turn) => {
                    put_off += 1;
                    agenda.insert((at + turn, n), What::Asks);
                }
            },
        }
    }
    (through, put_off)
}

#[test]
fn messages_to_hosts_that_hang_are_not_put_off_all_the_time() {
    let (_, put_off) = run(2_000, 12_000, 60_000);
    assert!(put_off < 5 * 2_000, "{put_off} times in a minute");
}

#[test]
fn everything_gets_through_in_the_end() {
    let (through, put_off) = run(5_000, 100, 60_000);
    assert_eq!(through, 5_000);
    assert!(put_off < 50_000, "{put_off}");
    let (through, _) = run(1_000, 12_000, 3_600_000);
    assert_eq!(through, 1_000, "in an hour");
}

#[test]
fn hosts_nobody_goes_to_any_more_are_forgotten() {
    let (mut places, now) = (Places::default(), engine::clock::instant());
    for host in 0..HOSTS_MAX + 10 {
        known(&mut places, &host.to_string(), 1, now);
    }
    assert_eq!(places.hosts.len(), HOSTS_MAX);
    known(&mut places, "last", 1, now + REMEMBERED_FOR * 2);
    assert_eq!(places.hosts.len(), 1);
}
