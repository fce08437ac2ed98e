//! The words of a program on stderr: passed on, and the last of them kept for the message of a failure.

use std::io::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::AsyncReadExt as _;
use tokio::process::ChildStderr;
use tokio::task::JoinHandle;

/// As much as the message of a failure may have.
const CHARS_MAX: usize = 2_000;
/// No character has more bytes.
const BYTES_MAX: usize = CHARS_MAX * 4;

pub(super) struct LastWords {
    kept: Arc<Mutex<Vec<u8>>>,
    reads: JoinHandle<()>,
}

impl LastWords {
    pub(super) fn of(mut stderr: ChildStderr) -> LastWords {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let keeps = kept.clone();
        let reads = tokio::spawn(async move {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = stderr.read(&mut bytes).await {
                let _ = std::io::stderr().write_all(&bytes[..count]);
                let mut kept = keeps.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend_from_slice(&bytes[..count]);
                let over = kept.len().saturating_sub(BYTES_MAX);
                kept.drain(..over);
            }
        });
        LastWords { kept, reads }
    }

    /// Returns what was said last, once the program has ended.
    pub(super) async fn said(mut self) -> String {
        // An error would be a panic of the reader; what it had kept until then is there.
        let _ = (&mut self.reads).await;
        tail(&self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for LastWords {
    fn drop(&mut self) {
        self.reads.abort();
    }
}

fn tail(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim();
    let over = text.chars().count().saturating_sub(CHARS_MAX);
    text.chars().skip(over).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_words_are_kept_whole_and_bounded() {
        assert_eq!(tail(b" no route\n"), "no route");
        let long = "ä".repeat(CHARS_MAX) + "the end";
        let kept = tail(long.as_bytes());
        assert_eq!(kept.chars().count(), CHARS_MAX);
        assert!(kept.ends_with("the end"));
    }
}
