//! The list as the world reads it: built anew after each change, and served as files.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use client::FeedFilter;
use http::header::{CACHE_CONTROL, ETAG, IF_NONE_MATCH};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde_json::json;
use system::{Call, Follower, Need, Rate, Reply, Room, Route};
use tlog::note::Trust;
use tlog::tiles::TilePath;
use tokio::sync::Mutex;
use wire::{Code, Refusal};
use worker::Failure;

use crate::PIPELINE;
use crate::distribute::{BIN, BuildError, JSON, LogLeaves, UPDATE, build};
use crate::hex::unhex;
use crate::keeper::Keeper;
use crate::log::Source;
use crate::rules::{Host, Onions};

/// The most requests that one address may make for files of the list.
const RATE: Rate = Rate::per_second(50);

/// The places that are served; set once the system runs.
pub(crate) type Shelf = Arc<OnceLock<Places>>;

#[derive(Debug)]
pub(crate) struct Places {
    pub(crate) keeper: Keeper,
    /// The folder of the built files, which can be built again.
    pub(crate) files: PathBuf,
    /// The folder of the list's own log.
    pub(crate) log: Option<PathBuf>,
    /// The place that the log is read from, and who signs it; none where the log is of others.
    pub(crate) read: Option<(Source, Trust)>,
    /// Held while the files are built.
    pub(crate) turn: Mutex<()>,
}

impl Places {
    /// Builds the files from the list and its log.
    async fn rebuild(&self) -> Result<(), Failure> {
        let Some((source, trust)) = self.read.clone() else { return Ok(()) };
        let _turn = self.turn.lock().await;
        let list = self.keeper.current().await?;
        let files = self.files.clone();
        let building = tokio::task::spawn_blocking(move || -> Result<(), BuildError> {
            build(&list, &LogLeaves::read(&source, &trust)?)?.write(&files)
        });
        Ok(building.await??)
    }
}

/// Returns the follower that builds the files after every change.
pub(crate) fn follower(shelf: &Shelf) -> Follower {
    let filter = FeedFilter {
        pipeline: Some(PIPELINE.to_owned()),
        state: Some("COMPLETED".to_owned()),
        ..FeedFilter::default()
    };
    let shelf = shelf.clone();
    Follower::new("distribution", filter, move |_| {
        let shelf = shelf.clone();
        async move {
            match shelf.get() {
                Some(places) => places.rebuild().await,
                None => Ok(()),
            }
        }
    })
}

/// Returns the routes by which browsers and auditors read the list.
pub(crate) fn routes(shelf: &Shelf) -> Vec<Route> {
    let public = || (Need::Public(RATE), Room::Page);
    let (files, log, lookup) = (shelf.clone(), shelf.clone(), shelf.clone());
    vec![
        Route::new(
            (Method::GET, "/site-list/list/{file}"),
            public(),
            "Get a file of the site list",
            move |call| {
                let shelf = files.clone();
                async move { file(&call, places(&shelf)?).await }
            },
        ),
        Route::new(
            (Method::GET, "/site-list/sites/{host}"),
            public(),
            "Look a site up in the list",
            move |call| {
                let shelf = lookup.clone();
                async move { site(&call, places(&shelf)?).await }
            },
        ),
        Route::new((Method::GET, "/site-list/log/{*path}"), public(), "", move |call| {
            let shelf = log.clone();
            async move { log_file(&call, places(&shelf)?) }
        })
        .not_described(),
    ]
}

fn places(shelf: &Shelf) -> Result<&Places, Refusal> {
    shelf.get().ok_or_else(|| not_found("the list is not running here yet; ask again soon"))
}

fn not_found(message: impl Into<String>) -> Refusal {
    Refusal::new(Code::UnknownRoute, message.into())
}

async fn file(call: &Call, places: &Places) -> Result<Reply, Refusal> {
    let name = call.part("file");
    if name == UPDATE && !places.files.join(name).exists() {
        // The folder is a cache: whoever emptied it, or asks before the first change, gets it built.
        let built = places.rebuild().await;
        built.unwrap_or_else(|failure| tracing::warn!(%failure, "cannot build the list"));
    }
    built_file(&places.files, name, &call.headers)
}

/// Answers with a built file. Its name, or the name of the latest, is its tag: browsers ask again for nothing.
pub(crate) fn built_file(files: &Path, name: &str, headers: &HeaderMap) -> Result<Reply, Refusal> {
    let is_digest = |text: &str| text.len() == 64 && unhex(text).is_some();
    let (kind, tag, keep) = match name.split_once('.') {
        _ if name == UPDATE => ("application/json", None, "no-cache"),
        Some((digest, BIN)) if is_digest(digest) => ("application/octet-stream", Some(name), IMMUTABLE),
        Some((digest, JSON)) if is_digest(digest) => ("application/json", None, "no-cache"),
        _ => return Err(not_found(format!("there is no file `{}`", name.escape_debug()))),
    };
    let bytes = fs::read(files.join(name))
        .map_err(|_| not_found(format!("there is no file `{name}`; `{UPDATE}` names the latest")))?;
    let tag = tag.map_or_else(|| wire::Digest::of(&bytes).to_string(), str::to_owned);
    let tag = HeaderValue::try_from(format!("\"{tag}\"")).expect("a digest fits a header");
    let is_known = headers.get(IF_NONE_MATCH).is_some_and(|known| known == tag);
    let mut reply = match is_known {
        true => Reply::new(kind, "").with_status(StatusCode::NOT_MODIFIED),
        false => Reply::new(kind, bytes),
    };
    reply.headers.insert(ETAG, tag);
    reply.headers.insert(CACHE_CONTROL, HeaderValue::from_static(keep));
    Ok(reply)
}

const IMMUTABLE: &str = "public, max-age=31536000, immutable";

async fn site(call: &Call, places: &Places) -> Result<Reply, Refusal> {
    let host = Host::read(call.part("host"), Onions::Reached)
        .map_err(|refused| Refusal::new(Code::InvalidRequest, refused.message))?;
    let list = places.keeper.current().await.map_err(|error| {
        tracing::warn!(%error, "cannot read the list");
        Refusal::new(Code::Unavailable, "the list cannot be read at the moment; ask again soon")
    })?;
    let entry = list.entry(&host).ok_or_else(|| not_found(format!("{host} is not on the list")))?;
    let policy: serde_json::Value = serde_json::from_str(&entry.policy.json()).unwrap_or_default();
    Ok(Reply::json(&json!({
        "domain": host,
        "policy": policy,
        "submission": entry.submission,
        "at": entry.at,
        "marked_for_removal": list.is_marked(&host),
    })))
}

/// Answers with a file of the log: its checkpoint, or a tile.
fn log_file(call: &Call, places: &Places) -> Result<Reply, Refusal> {
    let path = call.part("path");
    let missing = || not_found(format!("the log has no file `{}`", path.escape_debug()));
    let folder = places.log.as_ref().ok_or_else(missing)?;
    let (kind, keep) = match path.parse::<TilePath>() {
        Ok(_) => ("application/octet-stream", IMMUTABLE),
        Err(_) if path == "checkpoint" => ("text/plain; charset=utf-8", "no-cache"),
        Err(_) => return Err(missing()),
    };
    let bytes = fs::read(folder.join(path)).map_err(|_| missing())?;
    let mut reply = Reply::new(kind, bytes);
    reply.headers.insert(CACHE_CONTROL, HeaderValue::from_static(keep));
    Ok(reply)
}
