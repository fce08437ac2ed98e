//! Ledgers, each in its own language, behind two questions: take this batch, and what became of those.

mod batch_list;
mod ethereum;
mod link;
mod sawtooth;
mod scabbard;
pub(crate) mod transaction;

use async_trait::async_trait;
use serde_json::Value;

use crate::settings::{Kind, LedgerSettings};
pub(crate) use batch_list::fields;
pub(crate) use link::Link;

/// A batch on its way to a ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outgoing {
    /// The service, as the label has it.
    pub(crate) service: String,
    /// The name by which the ledger will know it.
    pub(crate) header: String,
    /// The whole batch.
    pub(crate) bytes: Vec<u8>,
    pub(crate) nonce: Option<u64>,
}

/// The answer of a ledger that was given a batch.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Submitted {
    /// The ledger has it, and names the place where its status is.
    Accepted { link: Option<String> },
    /// No ledger will ever take it, and here is why.
    Invalid { code: &'static str, message: String },
}

/// A batch to ask about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Watched {
    pub(crate) service: String,
    /// The names by which the ledger may know it: a replaced transaction has two.
    pub(crate) headers: Vec<String>,
    pub(crate) nonce: Option<u64>,
}

/// The word of a ledger about one batch.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Standing {
    Unknown,
    Pending,
    /// The ledger has it and will not go on with it as it is.
    Stuck(String),
    Valid,
    Committed(Vec<Value>),
    Invalid(Vec<Value>),
}

/// The standings that an answer has: a place for each batch that was asked for.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Statuses {
    /// In the order of the question. None: the answer does not say.
    pub(crate) of: Vec<Option<Standing>>,
    /// Ids in the answer that nobody asked for.
    pub(crate) foreign: Vec<String>,
}

/// The place of a committed transaction in its chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// Deep enough to stay.
    Final,
    Shallow,
    /// In no block any more.
    Gone,
}

/// A request that did not come to what it was for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Trouble {
    /// Stable, for programs: the code of a fetch, `http-503`, `garbled`, ...
    pub(crate) code: String,
    pub(crate) message: String,
    /// Set if another attempt at once may do: the ledger is busy, or did not answer in time.
    pub(crate) is_busy: bool,
}

impl Trouble {
    pub(crate) fn new(code: impl Into<String>, message: impl Into<String>) -> Trouble {
        Trouble { code: code.into(), message: message.into(), is_busy: false }
    }

    /// Makes the trouble of an answer that cannot be understood.
    pub(crate) fn garbled(reason: &str) -> Trouble {
        Trouble::new("garbled", format!("the ledger's answer cannot be understood: {reason}"))
    }
}

/// The language of a ledger.
#[async_trait]
pub(crate) trait Adapter: Send + Sync {
    /// Sends a batch once.
    async fn submit(&self, batch: &Outgoing) -> Result<Submitted, Trouble>;

    /// Returns the name of those batches that can be asked about in one request.
    fn group(&self, service: &str) -> String;

    /// Returns the most batches of one request.
    fn statuses_max(&self) -> usize;

    /// Asks about batches of one group.
    async fn statuses(&self, group: &str, batches: &[Watched]) -> Result<Statuses, Trouble>;

    /// Asks how deep a committed batch is, where a ledger may go back behind what it committed. One that never does says
    /// that it is final.
    async fn depth(&self, headers: &[String], finality: u64) -> Result<Depth, Trouble> {
        let _ = (headers, finality);
        Ok(Depth::Final)
    }
}

/// Returns the adapter that speaks a ledger's language over a link.
pub(crate) fn of(settings: &LedgerSettings, link: Link) -> Box<dyn Adapter> {
    match settings.kind {
        Kind::Sawtooth => Box::new(sawtooth::Sawtooth::new(link, settings.wait)),
        Kind::Scabbard => Box::new(scabbard::Scabbard::new(link, settings.wait)),
        Kind::Ethereum => Box::new(ethereum::Ethereum::new(link, settings.confirmations)),
    }
}

impl Statuses {
    /// Puts found standings in the order of the question. An id that is there twice with two meanings says nothing.
    fn arrange(batches: &[Watched], found: impl IntoIterator<Item = (String, Standing)>) -> Statuses {
        let mut statuses = Statuses { of: vec![None; batches.len()], foreign: Vec::new() };
        let mut contradicted = vec![false; batches.len()];
        for (id, standing) in found {
            let mut is_foreign = true;
            // Headers are unique within a service: two services may have a batch by the same name.
            for at in (0..batches.len()).filter(|at| batches[*at].headers.contains(&id)) {
                contradicted[at] |= statuses.of[at].as_ref().is_some_and(|earlier| *earlier != standing);
                statuses.of[at] = Some(standing.clone());
                is_foreign = false;
            }
            if is_foreign {
                statuses.foreign.push(id);
            }
        }
        for (of, _) in statuses.of.iter_mut().zip(contradicted).filter(|(_, contradicted)| *contradicted) {
            *of = None;
        }
        statuses
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watched(service: &str, headers: &[&str]) -> Watched {
        let headers = headers.iter().map(|header| (*header).to_owned()).collect();
        Watched { service: service.to_owned(), headers, nonce: None }
    }

    fn arranged(batches: &[Watched], found: &[(&str, Standing)]) -> Statuses {
        let found = found.iter().map(|(id, standing)| ((*id).to_owned(), standing.clone()));
        Statuses::arrange(batches, found)
    }

    #[test]
    fn batches_of_two_services_by_the_same_name_get_the_same_word() {
        let batches = [watched("r", &["a"]), watched("s", &["a"]), watched("s", &["b"])];
        let found = arranged(&batches, &[("a", Standing::Valid), ("a", Standing::Valid)]);
        assert_eq!(found.of, [Some(Standing::Valid), Some(Standing::Valid), None]);
        assert!(found.foreign.is_empty());
    }

    #[test]
    fn an_answer_that_contradicts_itself_says_nothing_and_one_about_others_is_foreign() {
        let batches = [watched("s", &["a", "replaced"]), watched("s", &["b"])];
        let words = [
            ("b", Standing::Pending),
            ("c", Standing::Valid),
            ("a", Standing::Valid),
            ("a", Standing::Pending),
        ];
        let found = arranged(&batches, &words);
        assert_eq!((found.of, found.foreign), (vec![None, Some(Standing::Pending)], vec!["c".to_owned()]));
    }
}
