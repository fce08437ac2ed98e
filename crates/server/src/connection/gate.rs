//! The gate between a connection and the HTTP library: only heads that were checked come through, and each only when
//! the exchange before it is over.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf as _, BytesMut};
use engine::clock;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::chunks::Chunks;
use super::head::{self, Framing, HEAD_BYTES_MAX, Search, Wrong};
use super::line::Line;

/// The most that is read ahead while an exchange is under way. One read may go over it.
const AHEAD_MAX: usize = HEAD_BYTES_MAX;

#[derive(Debug)]
pub(super) struct Gate<S> {
    socket: S,
    line: Line,
    /// Bytes that have come and were not handed on.
    ahead: BytesMut,
    /// The number of these, from the front, that may be handed on.
    cleared: usize,
    next: Next,
    search: Search,
    refused: Option<Wrong>,
}

/// The part that comes after the bytes that may be handed on.
#[derive(Debug)]
enum Next {
    Head,
    /// The bytes of a body that are still to come, at least one.
    Length(u64),
    Chunks(Chunks),
    /// Nothing: the caller has gone, or is no longer listened to.
    End,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Gate<S> {
    pub(super) fn new(socket: S, line: Line) -> Self {
        let (ahead, search) = (BytesMut::new(), Search::default());
        Gate { socket, line, ahead, cleared: 0, next: Next::Head, search, refused: None }
    }

    /// Returns the connection, and the reason if its last head was refused.
    pub(super) fn into_parts(self) -> (S, Option<Wrong>) {
        (self.socket, self.refused)
    }

    /// Reads more into `ahead`, by way of `out`, which stays as it was: an idle connection has no buffer of its own.
    /// Returns 0 when the caller has gone.
    fn poll_more(&mut self, cx: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<usize>> {
        let before = out.filled().len();
        ready!(Pin::new(&mut self.socket).poll_read(cx, out))?;
        let read = out.filled().len() - before;
        self.ahead.extend_from_slice(&out.filled()[before..]);
        out.set_filled(before);
        self.line.exchange().read();
        Poll::Ready(Ok(read))
    }

    /// Hands on what may be.
    fn hand_on(&mut self, out: &mut ReadBuf<'_>) {
        let part = self.cleared.min(out.remaining());
        out.put_slice(&self.ahead[..part]);
        self.ahead.advance(part);
        self.cleared -= part;
        if self.ahead.is_empty() {
            self.ahead = BytesMut::new();
        }
        self.note_end();
    }

    fn note_end(&self) {
        if self.cleared == 0 && matches!(self.next, Next::Head) {
            self.line.exchange().received();
        }
    }

    /// Waits for the caller to go while its request is under way. What it sends meanwhile waits for its turn.
    fn poll_gone(&mut self, cx: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        while self.ahead.len() < AHEAD_MAX {
            if ready!(self.poll_more(cx, out))? == 0 {
                self.next = Next::End;
                return Poll::Ready(Ok(()));
            }
        }
        // The end of the exchange wakes.
        Poll::Pending
    }

    /// Looks for a head in what has come. Returns true if more is needed.
    fn look(&mut self) -> Result<bool, Wrong> {
        let Some(length) = self.search.find(&self.ahead)? else { return Ok(true) };
        self.next = match head::check(&self.ahead[..length])? {
            Framing::Length(0) => Next::Head,
            Framing::Length(length) => Next::Length(length),
            Framing::Chunked => Next::Chunks(Chunks::new()),
        };
        self.search = Search::default();
        self.cleared = length;
        self.line.exchange().begin();
        Ok(false)
    }

    /// Passes on a part of a body that ends after `left` bytes.
    fn poll_length(
        &mut self,
        cx: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
        left: u64,
    ) -> Poll<io::Result<()>> {
        let before = out.filled().len();
        ready!(Pin::new(&mut self.socket).poll_read(cx, out))?;
        let read = out.filled().len() - before;
        self.line.exchange().read();
        let part = usize::try_from(left).unwrap_or(usize::MAX).min(read);
        // What comes after it is the next request's.
        self.ahead.extend_from_slice(&out.filled()[before + part..]);
        out.set_filled(before + part);
        self.next = after(left, part);
        if part > 0 {
            self.note_end();
        }
        Poll::Ready(Ok(()))
    }
}

/// Returns the part that comes after `passed` bytes of a body that has `left`.
fn after(left: u64, passed: usize) -> Next {
    match left - passed as u64 {
        0 => Next::Head,
        left => Next::Length(left),
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Gate<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let gate = self.get_mut();
        loop {
            if gate.cleared > 0 {
                gate.hand_on(out);
                return Poll::Ready(Ok(()));
            }
            match &mut gate.next {
                Next::End => return Poll::Ready(Ok(())),
                Next::Length(left) => {
                    let left = *left;
                    if gate.ahead.is_empty() {
                        return gate.poll_length(cx, out, left);
                    }
                    gate.cleared = usize::try_from(left).unwrap_or(usize::MAX).min(gate.ahead.len());
                    gate.next = after(left, gate.cleared);
                }
                Next::Chunks(chunks) if !gate.ahead.is_empty() => match chunks.follow(&gate.ahead) {
                    Ok(passed) => {
                        gate.cleared = passed;
                        if chunks.is_over() {
                            gate.next = Next::Head;
                        }
                    }
                    // The handler that reads the body says so, if one does.
                    Err(_) => {
                        gate.next = Next::End;
                        return Poll::Ready(Err(io::ErrorKind::InvalidData.into()));
                    }
                },
                Next::Head if gate.line.exchange().is_under_way() => return gate.poll_gone(cx, out),
                Next::Head => match gate.look() {
                    Ok(false) => {}
                    Ok(true) => {
                        if ready!(gate.poll_more(cx, out))? == 0 {
                            gate.next = Next::End;
                        }
                    }
                    Err(wrong) => {
                        gate.refused = Some(wrong);
                        gate.next = Next::End;
                    }
                },
                Next::Chunks(_) => {
                    if ready!(gate.poll_more(cx, out))? == 0 {
                        gate.next = Next::End;
                    }
                }
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> Gate<S> {
    /// Keeps the time that a write takes.
    fn note(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match &written {
            Poll::Pending => self.line.exchange().block(clock::instant()),
            Poll::Ready(Ok(bytes)) => self.line.exchange().wrote(*bytes, clock::instant()),
            Poll::Ready(Err(_)) => {}
        }
        written
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Gate<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write(cx, bytes);
        self.note(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write_vectored(cx, parts);
        self.note(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    /// The library flushes when it has nothing left to write.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.socket).poll_flush(cx);
        match &flushed {
            Poll::Pending => self.line.exchange().block(clock::instant()),
            Poll::Ready(Ok(())) => {
                // The library waits for the socket, where what it waits for may have been read already.
                if self.line.flushed() && !self.ahead.is_empty() {
                    cx.waker().wake_by_ref();
                }
            }
            Poll::Ready(Err(_)) => {}
        }
        flushed
    }

    /// Leaves the connection open: its end is not the library's, which does not know of a head that was refused.
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(cx)
    }
}
