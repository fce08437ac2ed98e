//! A connection that is given up when nothing moves on it, or too much.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

use crate::error::Error;

/// Longer spans could not be added to a moment.
const IDLE_MAX: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Bytes that may still move, on one connection or on several together.
#[derive(Debug)]
pub(crate) struct Budget {
    left: AtomicU64,
    /// The reason given once it is spent.
    spent: Error,
}

impl Budget {
    pub(crate) fn new(bytes: u64, spent: Error) -> Arc<Budget> {
        Arc::new(Budget { left: AtomicU64::new(bytes), spent })
    }

    pub(crate) fn lift(&self) {
        self.left.store(u64::MAX, Ordering::Relaxed);
    }

    fn take(&self, bytes: usize) -> io::Result<()> {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let taken =
            self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes));
        taken.map(|_| ()).map_err(|_| io::Error::other(self.spent.clone()))
    }
}

#[derive(Debug)]
pub(crate) struct Watched<S> {
    stream: S,
    idle: Duration,
    moved_at: Instant,
    timer: Pin<Box<Sleep>>,
    read: Option<Arc<Budget>>,
    written: Option<Arc<Budget>>,
}

impl<S> Watched<S> {
    /// Gives up once no byte has moved in either direction for `idle`.
    pub(crate) fn new(stream: S, idle: Duration) -> Watched<S> {
        let (idle, moved_at) = (idle.min(IDLE_MAX), Instant::now());
        let timer = Box::pin(sleep_until(moved_at + idle));
        Watched { stream, idle, moved_at, timer, read: None, written: None }
    }

    pub(crate) fn reading(self, budget: Arc<Budget>) -> Watched<S> {
        Watched { read: Some(budget), ..self }
    }

    pub(crate) fn writing(self, budget: Arc<Budget>) -> Watched<S> {
        Watched { written: Some(budget), ..self }
    }

    fn moved(&mut self, bytes: usize) {
        if bytes > 0 {
            self.moved_at = Instant::now();
        }
    }

    /// Waits along with whoever waits for bytes. The timer is set anew only when it rings: bytes move more often.
    fn waits<T>(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<T>> {
        while self.timer.as_mut().poll(cx).is_ready() {
            let rings_at = self.moved_at + self.idle;
            if rings_at <= Instant::now() {
                return Poll::Ready(Err(io::Error::other(Error::Timeout)));
            }
            self.timer.as_mut().reset(rings_at);
        }
        Poll::Pending
    }

    fn wrote(&mut self, polled: Poll<io::Result<usize>>, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let Poll::Ready(result) = polled else { return self.waits(cx) };
        let bytes = result?;
        self.moved(bytes);
        if let Some(budget) = &self.written {
            budget.take(bytes)?;
        }
        Poll::Ready(Ok(bytes))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let Poll::Ready(result) = Pin::new(&mut self.stream).poll_read(cx, buffer) else {
            return self.waits(cx);
        };
        result?;
        let bytes = buffer.filled().len() - before;
        self.moved(bytes);
        if let Some(budget) = &self.read {
            budget.take(bytes)?;
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.wrote(polled, cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.wrote(polled, cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.stream).poll_flush(cx) {
            Poll::Ready(result) => Poll::Ready(result),
            Poll::Pending => self.waits(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.stream).poll_shutdown(cx) {
            Poll::Ready(result) => Poll::Ready(result),
            Poll::Pending => self.waits(cx),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    const IDLE: Duration = Duration::from_secs(10);

    fn reason(error: &io::Error) -> Option<Error> {
        Error::beneath(error)
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_on_which_nothing_moves_is_given_up() {
        let (ours, _theirs) = duplex(64);
        let error = Watched::new(ours, IDLE).read_u8().await.unwrap_err();
        assert_eq!(reason(&error), Some(Error::Timeout));
        let (ours, _theirs) = duplex(64);
        let error = Watched::new(ours, IDLE).write_all(&[0; 65]).await.unwrap_err();
        assert_eq!(reason(&error), Some(Error::Timeout), "what nobody reads");
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_on_which_something_moves_is_kept() {
        let (ours, mut theirs) = duplex(64);
        let begun_at = Instant::now();
        tokio::spawn(async move {
            let mut pace = tokio::time::interval(IDLE - Duration::from_secs(1));
            while theirs.write_u8(1).await.is_ok() {
                pace.tick().await;
            }
        });
        let mut watched = Watched::new(ours, IDLE);
        for _ in 0..20 {
            assert_eq!(watched.read_u8().await.unwrap(), 1);
        }
        assert!(begun_at.elapsed() > 10 * IDLE);
    }

    #[tokio::test]
    async fn bytes_of_both_directions_and_of_all_connections_are_counted_together() {
        let budget = Budget::new(10, Error::TooLarge(10));
        let mut streams = Vec::new();
        for _ in 0..2 {
            let (ours, theirs) = duplex(64);
            let watched = Watched::new(ours, IDLE).reading(budget.clone()).writing(budget.clone());
            streams.push((watched, theirs));
        }
        streams[0].1.write_all(&[0; 4]).await.unwrap();
        streams[0].0.read_exact(&mut [0; 4]).await.unwrap();
        streams[1].0.write_all(&[0; 6]).await.unwrap();
        let error = streams[0].0.write_all(&[0]).await.unwrap_err();
        assert_eq!(reason(&error), Some(Error::TooLarge(10)));
        streams[1].1.write_all(&[0]).await.unwrap();
        let error = streams[1].0.read_u8().await.unwrap_err();
        assert_eq!(reason(&error), Some(Error::TooLarge(10)));
    }
}
