//! Finding a submission by what somebody has at hand: the beginning of its id, or its key.

use std::collections::BTreeSet;

use model::{Name, Refusal, Submission, SubmissionId};
use store::{Query, Store};
use wire::api::FindAnswer;

use crate::{App, invalid};

/// The candidates that are shown.
const SHOWN_MAX: usize = 20;
const TEXT_BYTES_MAX: usize = 1_024;

/// The submissions that a text may name.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Meaning {
    /// The ids that begin with it.
    ids: Option<(SubmissionId, SubmissionId)>,
    /// The keys it may be, each in one pipeline or in any.
    keys: Vec<(Option<Name>, Name)>,
}

impl App {
    /// Finds the submissions that a text may mean: an id or the beginning of one, a key, or `PIPELINE/KEY`.
    pub async fn find(&self, text: &str) -> Result<FindAnswer, Refusal> {
        let meaning = self.meaning(text)?;
        let base = self.visible()?;
        let found = self.engine.read(move |store| read(store, &meaning, &base)).await?;
        let holders: Vec<_> = found.rows.iter().filter(|row| found.held.contains(&row.id)).collect();
        let meant = match (&found.rows[..], &holders[..]) {
            ([only], _) if !found.more => Some(only.id),
            (_, [holder]) => Some(holder.id),
            _ => None,
        };
        let submissions = found.rows.iter().map(|row| self.listed(row)).collect();
        Ok(FindAnswer { meant, submissions, more: found.more })
    }

    /// Makes a query for each part of what the visitor may see.
    fn visible(&self) -> Result<Vec<Query>, Refusal> {
        let mut labels = std::collections::BTreeMap::new();
        self.visitor.narrow_labels(&mut labels)?;
        let of = |pipeline: Option<Name>| Query {
            pipeline,
            labels: labels.clone(),
            limit: SHOWN_MAX + 1,
            ..Query::default()
        };
        Ok(match &self.visitor.pipelines {
            None => vec![of(None)],
            Some(scope) => scope.iter().map(|name| of(Some(name.clone()))).collect(),
        })
    }

    fn meaning(&self, text: &str) -> Result<Meaning, Refusal> {
        let text = text.trim();
        if text.is_empty() || text.len() > TEXT_BYTES_MAX {
            return Err(invalid("say what to find: an id or the beginning of one, a key, or PIPELINE/KEY"));
        }
        let mut keys = vec![(None, text.into())];
        if let Some((pipeline, key)) = text.split_once('/').filter(|(_, key)| !key.is_empty()) {
            let versions = self.engine.pipelines().current();
            if self.visitor.sees(pipeline) && versions.in_force(pipeline).is_some() {
                keys.push((Some(pipeline.into()), key.into()));
            }
        }
        Ok(Meaning { ids: SubmissionId::beginning_with(text), keys })
    }
}

struct Found {
    /// Newest first.
    rows: Vec<Submission>,
    /// Those that hold the key they were found by.
    held: BTreeSet<SubmissionId>,
    more: bool,
}

fn read(store: &dyn Store, meaning: &Meaning, visible: &[Query]) -> Result<Found, store::Error> {
    let mut queries = Vec::new();
    for part in visible {
        queries.extend(meaning.ids.map(|ids| Query { ids: Some(ids), ..part.clone() }));
        for (pipeline, key) in &meaning.keys {
            // A pipeline that is named counts only in its own part.
            if part.pipeline.is_none() || pipeline.is_none() || part.pipeline == *pipeline {
                let pipeline = pipeline.clone().or_else(|| part.pipeline.clone());
                queries.push(Query { pipeline, key: Some(key.clone()), ..part.clone() });
            }
        }
    }
    let mut found = Found { rows: Vec::new(), held: BTreeSet::new(), more: false };
    for query in queries {
        if query.key.is_some() {
            let held = Query { held_key: query.key.clone(), ..query.clone() };
            for row in store.find(&held)?.rows {
                found.held.insert(row.id);
                found.rows.push(row);
            }
        }
        let page = store.find(&query)?;
        found.more |= page.more;
        found.rows.extend(page.rows);
    }
    found.rows.sort_by_key(|row| std::cmp::Reverse(row.id));
    found.rows.dedup_by_key(|row| row.id);
    found.more |= found.rows.len() > SHOWN_MAX;
    // The one that is meant is shown, however many came after it.
    let (held, others): (Vec<_>, Vec<_>) =
        found.rows.into_iter().partition(|row| found.held.contains(&row.id));
    let room = SHOWN_MAX.saturating_sub(held.len());
    found.rows = held.into_iter().take(SHOWN_MAX).chain(others.into_iter().take(room)).collect();
    found.rows.sort_by_key(|row| std::cmp::Reverse(row.id));
    Ok(found)
}
