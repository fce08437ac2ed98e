//! Reading what is kept beside rows: answers, registry entries, owed effects, documents.

use std::collections::{BTreeSet, HashMap, HashSet};

use model::{Documents, Json, SubmissionId, Time};
use store::{Owed, OwedId, RegistryKey, RequestKey};

use crate::codec::{self, text};
use crate::error::Result;
use crate::query::{Client, rows};
use crate::sql;

/// Returns the answers to these requests, each with the time it expires.
pub(super) async fn answers(
    client: &Client,
    requests: &[RequestKey],
) -> Result<HashMap<RequestKey, (Json, Time)>> {
    if requests.is_empty() {
        return Ok(HashMap::new());
    }
    let subjects: Vec<_> = requests.iter().map(|request| text(&request.subject)).collect();
    let routes: Vec<_> = requests.iter().map(|request| text(&request.route)).collect();
    let keys: Vec<_> = requests.iter().map(|request| text(&request.key)).collect();
    let found = rows(client, sql::ANSWER_GET, &[&subjects, &routes, &keys]).await?;
    let answers = found.iter().map(|row| {
        Ok((requests[codec::index(row, 0)?].clone(), (codec::json(row, 1)?, codec::time(row, 2)?)))
    });
    answers.collect()
}

/// Every entry asked for, with its version, where there is one.
pub(crate) async fn entries(
    client: &Client,
    keys: &[RegistryKey],
) -> Result<HashMap<RegistryKey, Option<(i64, Json)>>> {
    let mut entries: HashMap<_, _> = keys.iter().map(|key| (key.clone(), None)).collect();
    if keys.is_empty() {
        return Ok(entries);
    }
    let kinds: Vec<_> = keys.iter().map(|key| text(&key.kind)).collect();
    let names: Vec<_> = keys.iter().map(|key| text(&key.name)).collect();
    for row in rows(client, sql::REGISTRY_GET, &[&kinds, &names]).await? {
        let key = keys[codec::index(&row, 0)?].clone();
        entries.insert(key, Some((row.try_get(1)?, codec::json(&row, 2)?)));
    }
    Ok(entries)
}

/// The oldest that nobody else is applying.
pub(super) async fn owed(client: &Client, max: usize) -> Result<Vec<Owed>> {
    if max == 0 {
        return Ok(Vec::new());
    }
    let found = rows(client, sql::OWED_FIRST, &[&codec::limit(max)]).await?;
    let owed = found.iter().map(|row| {
        let id = OwedId {
            submission: codec::id(row, 0)?,
            revision: codec::unsigned(row.try_get(1)?)?,
            no: codec::unsigned(row.try_get(2)?)?,
        };
        Ok(Owed { id, to: codec::target(row, 3)?, body: codec::json(row, 4)? })
    });
    owed.collect()
}

/// Returns those of these submissions without a row that have events.
pub(super) async fn gone(client: &Client, absent: BTreeSet<SubmissionId>) -> Result<HashSet<SubmissionId>> {
    if absent.is_empty() {
        return Ok(HashSet::new());
    }
    let tips = rows(client, sql::TIP_GET, &[&codec::ids(&absent)]).await?;
    tips.iter().map(|row| codec::id(row, 0)).collect()
}

/// The documents of these, none for those that have none.
pub(crate) async fn documents(
    client: &Client,
    ids: &[SubmissionId],
) -> Result<HashMap<SubmissionId, Documents>> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    gather(ids, &rows(client, sql::DOCUMENT_ALL, &[&codec::ids(ids)]).await?)
}

/// The same in the order given, until there is no more room. Returns the documents and how many bytes they have.
pub(super) async fn documents_within(
    client: &Client,
    ids: &[SubmissionId],
    room: usize,
) -> Result<(HashMap<SubmissionId, Documents>, usize)> {
    if ids.is_empty() || room == 0 {
        return Ok((HashMap::new(), 0));
    }
    let found = rows(client, sql::DOCUMENT_WITHIN, &[&codec::ids(ids), &codec::limit(room)]).await?;
    let mut documents = gather(ids, &found)?;
    let mut bytes = 0;
    for id in ids {
        if bytes < room {
            bytes += documents.get(id).map_or(0, Documents::bytes);
        } else {
            // It has none, or its own were left out: nobody can tell any more.
            documents.remove(id);
        }
    }
    Ok((documents, bytes))
}

fn gather(ids: &[SubmissionId], found: &[tokio_postgres::Row]) -> Result<HashMap<SubmissionId, Documents>> {
    let mut documents: HashMap<_, _> = ids.iter().map(|id| (*id, Documents::default())).collect();
    for row in found {
        let name: &str = row.try_get(1)?;
        let of = documents.entry(codec::id(row, 0)?).or_default();
        of.set(&codec::plain(name), codec::json(row, 2)?);
    }
    Ok(documents)
}
