//! Waits of a submission, and the places it holds meanwhile.

use serde::{Deserialize, Serialize};
use wire::submission::Reported;

use crate::Name;
use crate::time::{Millis, Time};
use crate::token::Bits;

/// The one thing that a submission waits for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "for", rename_all = "snake_case")]
pub enum Wait {
    /// A worker to claim its task. `rank` orders the queue.
    Worker { task: Name, rank: i64 },
    /// The worker that holds the lease.
    Lease(Lease),
    /// Time to pass before it may go on.
    Delay { until: Time, cause: Cause },
    /// The end of a wait state.
    Clock { until: Time },
    /// The submission's turn in a lane.
    Line,
    /// The end of the open submission that has its key.
    Key,
    /// The submission's children to end.
    Children,
    /// A person's action.
    Person,
    /// A guard of its pass state to hold.
    Guard,
    /// A redrive.
    Redrive,
    /// Nothing: it has ended.
    Nothing,
}

impl Wait {
    /// The one word for it.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Wait::Worker { .. } => "worker",
            Wait::Lease(_) => "lease",
            Wait::Delay { .. } => "delay",
            Wait::Clock { .. } => "clock",
            Wait::Line => "line",
            Wait::Key => "key",
            Wait::Children => "children",
            Wait::Person => "person",
            Wait::Guard => "guard",
            Wait::Redrive => "redrive",
            Wait::Nothing => "nothing",
        }
    }
}

/// A place in a lane.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredSeat", into = "StoredSeat")]
pub struct Seat {
    pub lane: Name,
    /// Orders those who came at the same time.
    pub tie: Name,
    /// The tie in a form that sorts as text as it does as a number; empty where the tie is no whole number.
    pub order: Name,
    pub stand: Stand,
}

/// The way in which a submission stands in its lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stand {
    /// The lane is its own.
    Holds,
    /// The submission waits for its turn.
    InLine,
    /// Beside the line: the state has no use for the lane.
    Away,
}

/// A seat as it is written in rows and events: two flags, which are never both set.
#[derive(Serialize, Deserialize)]
struct StoredSeat {
    lane: Name,
    #[serde(default, skip_serializing_if = "str::is_empty")]
    tie: Name,
    #[serde(default, skip_serializing_if = "str::is_empty")]
    order: Name,
    holds: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    away: bool,
}

impl From<StoredSeat> for Seat {
    fn from(StoredSeat { lane, tie, order, holds, away }: StoredSeat) -> Self {
        let stand = match (holds, away) {
            (true, _) => Stand::Holds,
            (false, true) => Stand::Away,
            (false, false) => Stand::InLine,
        };
        Seat { lane, tie, order, stand }
    }
}

impl From<Seat> for StoredSeat {
    fn from(Seat { lane, tie, order, stand }: Seat) -> Self {
        StoredSeat { lane, tie, order, holds: stand == Stand::Holds, away: stand == Stand::Away }
    }
}

impl Seat {
    /// A place in line.
    #[must_use]
    pub fn new(lane: impl Into<Name>, tie: impl Into<Name>) -> Self {
        let tie = tie.into();
        let order = numeric_order(&tie).map_or_else(|| "".into(), Name::from);
        Seat { lane: lane.into(), tie, order, stand: Stand::InLine }
    }

    /// Returns the same place in another stand.
    #[must_use]
    pub fn standing(self, stand: Stand) -> Self {
        Seat { stand, ..self }
    }

    /// The text that those who came at the same time are ordered by.
    #[must_use]
    pub fn tie_order(&self) -> &Name {
        if self.order.is_empty() { &self.tie } else { &self.order }
    }

    #[must_use]
    pub fn holds(&self) -> bool {
        self.stand == Stand::Holds
    }

    /// Tells whether it is in line, and not yet its turn.
    #[must_use]
    pub fn waits(&self) -> bool {
        self.stand == Stand::InLine
    }

    #[must_use]
    pub fn is_away(&self) -> bool {
        self.stand == Stand::Away
    }
}

/// The reason why a submission is delayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    Retry,
    Snooze,
    NotBefore,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    pub task: Name,
    pub worker: Name,
    pub no: u64,
    pub bits: Bits,
    pub span: Millis,
    pub granted_at: Time,
    /// The time at which the submission joined the queue it was taken from: its place there if the lease is given back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queued_at: Option<Time>,
    pub expires_at: Time,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times_out_at: Option<Time>,
    /// The slots the lease takes of its pipeline's limits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slots: Vec<Slot>,
    /// The task's progress, as its worker last said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<Reported>,
}

impl Lease {
    /// Tells whether a subject's worker has the lease. Workers are called `subject/name`; one that claimed while nobody
    /// needed a token has no subject, and whoever knows its lease settles it.
    #[must_use]
    pub fn is_of(&self, subject: &str) -> bool {
        self.worker.split_once('/').is_none_or(|(of, _)| of == subject)
    }

    /// Tells whether the lease was claimed with a token.
    #[must_use]
    pub fn has_subject(&self) -> bool {
        self.worker.contains('/')
    }
}

/// The number of times one try was given back, and how long it was with workers before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenBack {
    pub times: u32,
    pub took: Millis,
}

impl GivenBack {
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.times == 0
    }
}

/// One of the places a limit has. Two leases never have the same one, which is what keeps the limit.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Slot {
    pub label: Name,
    pub value: Name,
    /// From 0 to one less than the limit.
    pub no: u32,
}

/// A whole number as text that sorts as numbers do, byte by byte, in every store: its sign, how many digits it has, and
/// they. Of negative ones more digits, and larger ones, come first.
fn numeric_order(text: &str) -> Option<String> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    if digits.is_empty() || digits.len() > DIGITS_MAX || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let digits = digits.trim_start_matches('0');
    if !negative || digits.is_empty() {
        return Some(format!("1{:03}{digits}", digits.len()));
    }
    let turned: String = digits.bytes().map(|byte| char::from(b'9' - (byte - b'0'))).collect();
    Some(format!("0{:03}{turned}", DIGITS_MAX - digits.len()))
}

/// The most digits that a count of three digits can say; a tie has fewer.
const DIGITS_MAX: usize = 999;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_that_are_whole_numbers_are_ordered_as_numbers() {
        let long = "9".repeat(512);
        let ordered =
            ["-100", "-20", "-3", "-1", "0", "1", "2", "3", "10", "99", "100", "18446744073709551616", &long];
        let orders: Vec<Name> = ordered.iter().map(|tie| Seat::new("l", *tie).tie_order().clone()).collect();
        assert!(orders.is_sorted_by(|one, other| one < other), "{orders:?}");
        for same in ["007", "7"] {
            assert_eq!(&**Seat::new("l", same).tie_order(), "10017");
        }
        assert_eq!(Seat::new("l", "-0").tie_order(), Seat::new("l", "0").tie_order());
    }

    #[test]
    fn ties_that_are_text_are_ordered_as_text() {
        for text in ["", "-", "+7", "0x1f", "7.5", "1e3", " 7", "a"] {
            assert_eq!(&**Seat::new("l", text).tie_order(), text);
        }
    }

    #[test]
    fn seats_are_written_as_they_always_were() {
        let kept = [
            (Stand::Holds, r#"{"lane":"l","tie":"7","order":"10017","holds":true}"#),
            (Stand::InLine, r#"{"lane":"l","tie":"7","order":"10017","holds":false}"#),
            (Stand::Away, r#"{"lane":"l","tie":"7","order":"10017","holds":false,"away":true}"#),
        ];
        for (stand, text) in kept {
            let seat = Seat::new("l", "7").standing(stand);
            assert_eq!(serde_json::to_string(&seat).unwrap(), text);
            assert_eq!(serde_json::from_str::<Seat>(text).unwrap(), seat);
        }
        let plain = serde_json::to_string(&Seat::new("l", "").standing(Stand::Holds)).unwrap();
        assert_eq!(plain, r#"{"lane":"l","holds":true}"#);
        let both: Seat = serde_json::from_str(r#"{"lane":"l","holds":true,"away":true}"#).unwrap();
        assert!(both.holds(), "whoever holds a lane keeps others from it");
    }

    #[test]
    fn a_seat_kept_before_ties_were_numbers_is_ordered_by_its_text() {
        let kept: Seat = serde_json::from_str(r#"{"lane":"l","tie":"10","holds":false}"#).expect("a seat");
        assert_eq!(&**kept.tie_order(), "10");
    }
}
