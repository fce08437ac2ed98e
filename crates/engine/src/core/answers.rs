//! The answers that are kept to be given again to the same `Idempotency-Key`, and how many each subject has.
//!
//! They are counted in memory, by the hour, by each server for itself and since it started: the store would have to be searched.

use std::collections::{BTreeMap, HashMap};

use model::{Code, Json, Millis, Name, Refusal, Time};
use store::changes::AnswerChange;

use super::commit::Commit;
use super::input::Receipt;
use super::{Answered, Once, Reply};

/// The time for which a repeat of a request is recognised.
const ONCE_FOR: Millis = Millis::from_secs(24 * 3600);
const HOUR: Millis = Millis::from_secs(3_600);

/// The numbers of answers of each subject, by the hour in which they were kept.
#[derive(Debug, Default)]
pub(super) struct KeptAnswers(HashMap<Name, BTreeMap<i64, usize>>);

/// The numbers of answers that a batch keeps, by subject.
pub(super) type Kept = HashMap<Name, usize>;

impl KeptAnswers {
    pub(super) fn add(&mut self, kept: &Kept, now: Time) {
        for (subject, count) in kept {
            let hours = self.0.entry(subject.clone()).or_default();
            *hours.entry(hour(now)).or_default() += count;
            hours.retain(|hour, _| lasts(*hour, now));
        }
    }

    fn count(&self, subject: &str, now: Time) -> usize {
        let hours = self.0.get(subject).into_iter().flatten();
        hours.filter(|(hour, _)| lasts(**hour, now)).map(|(_, count)| count).sum()
    }

    /// The time until the oldest of them are gone.
    fn frees_in(&self, subject: &str, now: Time) -> Millis {
        let mut hours = self.0.get(subject).into_iter().flatten().map(|(hour, _)| *hour);
        let oldest = hours.find(|hour| lasts(*hour, now)).unwrap_or_else(|| hour(now));
        end(oldest).since(now)
    }
}

fn length() -> i64 {
    i64::try_from(HOUR.millis()).expect("an hour has few milliseconds")
}

fn hour(at: Time) -> i64 {
    at.millis().div_euclid(length())
}

/// The time at which all that was kept in an hour is gone.
fn end(hour: i64) -> Time {
    Time::from_millis(hour.saturating_mul(length())).plus(HOUR).plus(ONCE_FOR)
}

fn lasts(hour: i64, now: Time) -> bool {
    end(hour) > now
}

impl Commit<'_> {
    /// Returns the answer that was given to this very request before.
    pub(super) fn repeated(&self, once: &Once) -> Option<Reply> {
        let kept = self.taken.answers.get(&once.key)?;
        Some(match serde_json::from_str::<Receipt>(kept.as_str()) {
            Ok(receipt) => receipt.answer(once),
            Err(_) => {
                Err(Refusal::new(Code::Internal, "the answer kept for this Idempotency-Key cannot be read"))
            }
        })
    }

    /// Returns the latest time that is certain to have come.
    fn certain(&self) -> Time {
        self.trust.known().unwrap_or(self.now)
    }

    /// Keeps an answer to be given again.
    pub(super) fn keep(&mut self, once: &Once, answered: &Answered) {
        let text =
            serde_json::to_string(&Receipt::new(once, answered)).expect("a receipt has only string keys");
        let body = Json::parse(&text).expect("serde writes strict JSON");
        // Seen by a repeat later in the same batch.
        self.taken.answers.insert(once.key.clone(), body.clone());
        *self.kept.entry(once.key.subject.clone()).or_default() += 1;
        // By the clock in doubt it might be gone tomorrow, or be kept for months.
        let expires_at = self.certain().plus(ONCE_FOR);
        self.changes.answers.push(AnswerChange { key: once.key.clone(), body, expires_at });
    }

    /// Checks that one more answer may be kept.
    pub(super) fn check_answers(&self, once: &Once) -> Result<(), Refusal> {
        let Some(most) = once.most else { return Ok(()) };
        let (subject, answers, certain) = (&once.key.subject, self.answers(), self.certain());
        let here = self.kept.get(subject).copied().unwrap_or_default();
        if answers.count(subject, certain) + here < most {
            return Ok(());
        }
        let message = format!(
            "{most} answers to an Idempotency-Key are kept for you already, which is one subject's share of a day; send \
             fewer keys, or wait"
        );
        let seconds = answers.frees_in(subject, certain).millis().div_ceil(1_000);
        Err(Refusal::new(Code::RateLimited, message).with("retry_after_s", seconds).with("max", most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_count_for_as_long_as_they_are_kept() {
        let mut answers = KeptAnswers::default();
        let at = |hours: i64| Time::from_millis(hours * length());
        let keep = |count| Kept::from([("ada".into(), count)]);
        answers.add(&keep(3), at(100));
        answers.add(&keep(2), at(110));
        assert_eq!((answers.count("ada", at(110)), answers.count("bob", at(110))), (5, 0));
        assert_eq!(answers.frees_in("ada", at(124)), HOUR);
        assert_eq!((answers.count("ada", at(124)), answers.count("ada", at(125))), (5, 2));
        answers.add(&keep(1), at(140));
        assert_eq!((answers.count("ada", at(140)), answers.0["ada"].len()), (1, 1), "old hours are not kept");
    }
}
