//! Acts of those who look after a server that are no event of a submission: on record in the commit that does them.
//!
//! The log cannot forget, so what goes into it says nothing about people: names are pseudonyms, reasons and the values of
//! labels stay out. What a pseudonym stands for is kept beside it, where it can be erased.

use std::collections::BTreeMap;

use audit::leaf::{Administered, Record};
use model::event::Pseudonym;
use model::{Actor, Name, SubmissionId};
use store::Store;

use super::commit::Commit;
use super::log::LOG;
use super::tokens::{TokenDeed, TokenEntry};
use super::{Ask, Input, Operation};
use crate::holds::Hold;
use crate::registry::{Entry, EntryKey, OneEntry};

/// The registry kind of the names that pseudonyms of acts stand for.
pub const ACTORS: &str = "actor";

/// The entry that counts these acts.
#[derive(Debug)]
pub(super) enum Count {}

impl Entry for Count {
    const KIND: &'static str = LOG;
    type Body = u64;
}

impl OneEntry for Count {
    const NAME: &'static str = "administered";
}

/// The names that pseudonyms of acts stand for.
#[derive(Debug)]
pub enum ActorNames {}

impl Entry for ActorNames {
    const KIND: &'static str = ACTORS;
    type Body = Name;
}

/// The most bytes of one word of the detail: with the few there are, the whole is far below what a leaf holds.
const WORD_BYTES_MAX: usize = 256;

/// The further details of an act: never a secret, never a name.
pub(super) type Detail = [(&'static str, String)];

#[must_use]
pub fn administered_series() -> SubmissionId {
    SubmissionId::of_series("administered")
}

/// Counts these acts so far.
pub fn administered_count(store: &dyn Store) -> Result<u64, store::Error> {
    Ok(count_key().readable(store)?.unwrap_or(0))
}

pub(super) fn count_key() -> EntryKey<Count> {
    EntryKey::one()
}

/// Tells whether a request may leave an act, so that the count of acts has to be at hand.
pub(super) fn is_recorded(input: &Input) -> bool {
    match &input.ask {
        Ask::Token(deed) => !matches!(**deed, TokenDeed::Used { .. }),
        Ask::Endpoint(deed) => deed.word().is_some(),
        Ask::RetireVersion { .. }
        | Ask::Hold(_)
        | Ask::Release(_)
        | Ask::Start(_)
        | Ask::Stop(_)
        | Ask::ConfirmClock => true,
        Ask::Tell(..)
        | Ask::Submit(_)
        | Ask::Claim(_)
        | Ask::MoveCursor(_)
        | Ask::DropCursor(_)
        | Ask::PutEntry(_) => false,
        _ => input.by.is_some(),
    }
}

pub(super) fn of_hold(hold: &Hold) -> Vec<(&'static str, String)> {
    let pipeline = hold.pipeline.as_ref().map(|name| ("pipeline", name.to_string()));
    let submission = hold.submission.map(|id| ("submission", id.to_string()));
    let lane = hold.lane.as_ref().map(|_| ("lane", "one".to_owned()));
    let labels = (!hold.labels.is_empty()).then(|| ("labels", list(hold.labels.keys())));
    let until = hold.expires_at.map(|at| ("expires_at", at.to_string()));
    [pipeline, submission, lane, labels, until].into_iter().flatten().collect()
}

pub(super) fn of_operation(operation: &Operation) -> Vec<(&'static str, String)> {
    let deed = serde_json::to_value(&operation.deed).ok();
    let deed = deed.and_then(|deed| match deed {
        serde_json::Value::String(word) => Some(word),
        serde_json::Value::Object(fields) => fields.keys().next().cloned(),
        _ => None,
    });
    let mut detail = vec![("pipeline", operation.filter.pipeline.to_string())];
    detail.extend(deed.map(|deed| ("deed", deed)));
    detail.extend(operation.dry_run.then(|| ("dry_run", "true".to_owned())));
    detail
}

fn list<'a>(names: impl Iterator<Item = &'a Name>) -> String {
    names.map(|name| &**name).collect::<Vec<_>>().join(", ")
}

impl Commit<'_> {
    pub(super) fn of_token(&mut self, entry: &TokenEntry) -> Vec<(&'static str, String)> {
        let subject = self.pseudonym(&Actor::new(entry.role.into(), entry.subject.clone()));
        let mut detail = vec![("role", entry.role.to_string()), ("subject", subject.id.to_string())];
        detail.extend(entry.pipelines.as_ref().map(|names| ("pipelines", list(names.iter()))));
        detail.extend((!entry.labels.is_empty()).then(|| ("labels", list(entry.labels.keys()))));
        detail.extend(entry.expires_at.map(|at| ("expires_at", at.to_string())));
        detail
    }

    /// Puts on record what is done in this commit, in the name of whoever asks for it.
    pub(super) fn administered(&mut self, deed: &str, of: &str, detail: &Detail) {
        let no = self.readable(&count_key()).unwrap_or(0) + 1;
        let by = self.by.as_ref().map(|asker| asker.caller.clone());
        let actor = self.pseudonym(&by.as_ref().map_or_else(Actor::system, model::Caller::actor));
        let words = detail.iter().map(|(name, word)| (Name::from(*name), short(word)));
        let act = Record::Administered(Administered {
            no,
            deed: deed.into(),
            of: short(of),
            at: self.now,
            actor,
            role: by.map(|caller| caller.role),
            detail: words.collect::<BTreeMap<_, _>>(),
        });
        self.push_act(administered_series(), no, &act).expect("a few short words fit a leaf");
        self.put(&count_key(), &no);
    }

    fn pseudonym(&mut self, actor: &Actor) -> Pseudonym {
        let pseudonym = Pseudonym::of(actor, &self.secret());
        self.put(&EntryKey::<ActorNames>::new(pseudonym.id.to_string()), &actor.name);
        pseudonym
    }
}

fn short(word: &str) -> Name {
    if word.len() <= WORD_BYTES_MAX {
        return word.into();
    }
    let end = (0..=WORD_BYTES_MAX).rev().find(|at| word.is_char_boundary(*at)).unwrap_or(0);
    format!("{}…", &word[..end]).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_words_are_cut_between_letters() {
        assert_eq!(&*short("plain"), "plain");
        let cut = short(&"ä".repeat(1_000));
        assert!(cut.len() < WORD_BYTES_MAX + 4 && cut.ends_with("ä…"), "{cut}");
        assert_eq!(cut.chars().count(), WORD_BYTES_MAX / 2 + 1);
    }
}
