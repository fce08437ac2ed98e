//! Bodies that are streamed into files: of whatever size a route allows, with bounds of time of their own.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::Request;
use engine::clock;
use futures_util::StreamExt as _;
use model::{Code, Refusal};
use system::{Upload, Uploaded};
use tokio::fs::{self, File};
use tokio::io::AsyncWriteExt as _;

use crate::body::announced;
use crate::problem::invalid;

/// The time in which nothing need have come.
const PATIENCE: Duration = Duration::from_secs(30);
/// The bytes that the slowest sender must send in a second, all in all.
const BYTES_A_SECOND_MIN: u64 = 16 << 10;
/// A file that nobody has written to for so long was left by a server that was killed.
const LEFT_AFTER: Duration = Duration::from_secs(24 * 3_600);
/// The beginning of the names of files.
const PREFIX: &str = "upload-";

/// The uploads of one route.
#[derive(Debug, Clone)]
pub(crate) struct Uploads {
    pub(crate) bounds: Upload,
    /// The folder for files that are not kept yet.
    pub(crate) folder: PathBuf,
}

/// A file that has come, on its way to the handler.
#[derive(Debug, Clone)]
pub(crate) struct Arrived(Arc<Mutex<Option<Uploaded>>>);

impl Arrived {
    /// Takes the file, once.
    pub(crate) fn take(&self) -> Option<Uploaded> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Uploads {
    /// Receives the body of a request, and puts it beside the request as a file.
    pub(crate) async fn receive(&self, request: &mut Request) -> Result<(), Refusal> {
        if announced(request.headers()).is_some_and(|length| length as u64 > self.bounds.bytes_max) {
            return Err(self.too_large());
        }
        let body = std::mem::take(request.body_mut());
        let (mut file, mut uploaded) = self.file().await.map_err(|error| cannot_write(&error))?;
        let receiving = async {
            let mut pace = Pace::new(clock::instant());
            let mut chunks = body.into_data_stream();
            loop {
                let left = pace.left(clock::instant());
                let next = tokio::time::timeout(left, chunks.next()).await;
                let Some(chunk) = next.map_err(|_| too_slow())? else { break };
                let chunk = chunk.map_err(|_| invalid("the body broke off; send it again"))?;
                pace.bytes += chunk.len() as u64;
                if pace.bytes > self.bounds.bytes_max {
                    return Err(self.too_large());
                }
                file.write_all(&chunk).await.map_err(|error| cannot_write(&error))?;
            }
            file.sync_all().await.map_err(|error| cannot_write(&error))?;
            Ok(pace.bytes)
        };
        let received = tokio::time::timeout(self.bounds.within, receiving).await;
        let bytes = received.unwrap_or_else(|_| {
            let within = self.bounds.within.as_secs();
            Err(invalid(format!("the upload took more than {within} seconds; send less, or faster")))
        })?;
        uploaded.bytes = bytes;
        request.extensions_mut().insert(Arrived(Arc::new(Mutex::new(Some(uploaded.done())))));
        Ok(())
    }

    /// Makes a file that nobody else has.
    async fn file(&self) -> io::Result<(File, Unfinished)> {
        static MADE: AtomicU64 = AtomicU64::new(0);
        fs::create_dir_all(&self.folder).await?;
        remove_left(&self.folder).await?;
        loop {
            let no = MADE.fetch_add(1, Ordering::Relaxed);
            let path = self.folder.join(format!("{PREFIX}{}-{no}", std::process::id()));
            match File::options().write(true).create_new(true).open(&path).await {
                Ok(file) => return Ok((file, Unfinished { path, bytes: 0, is_done: false })),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn too_large(&self) -> Refusal {
        let max = self.bounds.bytes_max;
        Refusal::new(Code::TooLarge, format!("the upload is over {max} bytes; send less, or in parts"))
            .with("max_bytes", max)
    }
}

/// A file that is being written. Dropped, it is removed.
#[derive(Debug)]
struct Unfinished {
    path: PathBuf,
    bytes: u64,
    is_done: bool,
}

impl Unfinished {
    fn done(mut self) -> Uploaded {
        self.is_done = true;
        Uploaded::new(self.path.clone(), self.bytes)
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if !self.is_done {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Removes files that a server left that was killed.
async fn remove_left(folder: &Path) -> io::Result<()> {
    let mut entries = fs::read_dir(folder).await?;
    while let Some(entry) = entries.next_entry().await? {
        if !entry.file_name().to_string_lossy().starts_with(PREFIX) {
            continue;
        }
        // Somebody else may have removed it meanwhile.
        let Ok(about) = entry.metadata().await else { continue };
        let age = about.modified().ok().and_then(|modified| modified.elapsed().ok());
        if about.is_file() && age.is_some_and(|age| age > LEFT_AFTER) {
            let _ = fs::remove_file(entry.path()).await;
        }
    }
    Ok(())
}

/// The pace of a sender.
#[derive(Debug)]
struct Pace {
    started: Instant,
    bytes: u64,
}

impl Pace {
    fn new(started: Instant) -> Pace {
        Pace { started, bytes: 0 }
    }

    /// Returns the time within which something more must come.
    fn left(&self, now: Instant) -> Duration {
        let earned = PATIENCE + Duration::from_secs(self.bytes / BYTES_A_SECOND_MIN);
        earned.saturating_sub(now.saturating_duration_since(self.started)).min(PATIENCE)
    }
}

fn too_slow() -> Refusal {
    invalid(format!(
        "the upload came too slowly: send at least {BYTES_A_SECOND_MIN} bytes a second, without pauses of {} seconds",
        PATIENCE.as_secs()
    ))
}

fn cannot_write(error: &io::Error) -> Refusal {
    tracing::error!(%error, "an upload cannot be written");
    Refusal::new(
        Code::Unavailable,
        "there is no room for the upload now, or it cannot be written; try again later",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_sends_a_byte_now_and_then_is_not_waited_for_for_ever() {
        let start = clock::instant();
        let mut pace = Pace::new(start);
        assert_eq!(pace.left(start), PATIENCE);
        pace.bytes = 1;
        assert_eq!(pace.left(start + Duration::from_secs(29)), Duration::from_secs(1));
        assert_eq!(pace.left(start + Duration::from_secs(31)), Duration::ZERO);
        pace.bytes = 100 * BYTES_A_SECOND_MIN;
        assert_eq!(pace.left(start + Duration::from_secs(31)), PATIENCE);
        assert_eq!(pace.left(start + Duration::from_secs(125)), Duration::from_secs(5));
    }
}
