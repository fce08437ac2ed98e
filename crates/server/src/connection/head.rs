//! The head of a request, its line and headers: found and checked before anything else sees it.
//!
//! Two readers of one connection may disagree about the end of a line, a header or a body. Then one of them takes for
//! a request what the other took for a part of one. So nothing is guessed here: what is not exactly as HTTP writes it
//! is refused, also where a server may be lenient.

use axum::http::uri::Authority;
use axum::http::{Method, Uri};
use httparse::{EMPTY_HEADER, Header, Request, Status};
use model::Code;

/// The most bytes of a request's line and headers together. More may have been read when that is noticed.
pub(super) const HEAD_BYTES_MAX: usize = 64 << 10;
pub(super) const HEADERS_MAX: usize = 64;

/// Longer lengths are beyond what the library under us counts, and beyond any body we take.
const LENGTH_DIGITS_MAX: usize = 18;

/// The reason why a head is refused, and the status that says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wrong {
    pub(super) status: u16,
    pub(super) code: Code,
    pub(super) message: String,
}

/// The form in which a request's body comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    /// The body's length in bytes; 0 where there is none.
    Length(u64),
    Chunked,
}

/// The search for a head's end. It goes on where it stopped: a head that comes byte by byte costs no more than one that
/// comes at once.
#[derive(Debug, Default)]
pub(super) struct Search {
    seen: usize,
}

impl Search {
    /// Returns the length of the head that `bytes` begin with; `None`: it has not come whole. `bytes` may only have
    /// grown since the last call.
    pub(super) fn find(&mut self, bytes: &[u8]) -> Result<Option<usize>, Wrong> {
        let before = |at: usize| at.checked_sub(1).map(|before| bytes[before]);
        for at in self.seen..bytes.len().min(HEAD_BYTES_MAX) {
            match (before(at), bytes[at]) {
                (Some(b'\r'), b'\n') if bytes[..at].ends_with(b"\r\n\r") => return Ok(Some(at + 1)),
                (Some(b'\r'), b'\n') => {}
                (_, b'\n') => {
                    return Err(bad("a line of the head ends with a bare LF; end each with CR and LF"));
                }
                (Some(b'\r'), _) => {
                    return Err(bad("there is a bare CR in the head; end each line with CR and LF"));
                }
                (_, 0) => return Err(bad("there is a NUL in the head; send text")),
                _ => {}
            }
        }
        self.seen = bytes.len().min(HEAD_BYTES_MAX);
        if bytes.len() < HEAD_BYTES_MAX {
            return Ok(None);
        }
        let line_ends = bytes[..HEAD_BYTES_MAX].contains(&b'\n');
        let (status, what) = if line_ends { (431, "line and headers") } else { (414, "line") };
        let message =
            format!("the request's {what} are over {HEAD_BYTES_MAX} bytes; send less, or in the body");
        Err(Wrong { status, code: Code::TooLarge, message })
    }
}

/// Checks a whole head, up to the empty line at its end.
pub(super) fn check(head: &[u8]) -> Result<Framing, Wrong> {
    // One empty line before a request is what some clients send after a body; more is nobody's.
    let head = head.strip_prefix(b"\r\n").unwrap_or(head);
    let mut headers = [EMPTY_HEADER; HEADERS_MAX];
    let mut request = Request::new(&mut headers);
    match request.parse(head) {
        Ok(Status::Complete(length)) if length == head.len() => {}
        Ok(_) => {
            return Err(bad("the request has no line of its own; begin with method, target and version"));
        }
        Err(error) => return Err(unread(error, head)),
    }
    let target = request.path.unwrap_or_default();
    if Uri::try_from(target).is_err() {
        return Err(bad(
            "the request's target is not well formed; percent-encode what an address cannot have",
        ));
    }
    let method = request.method.unwrap_or_default();
    if Method::from_bytes(method.as_bytes()).is_err() {
        return Err(bad("the request's method is not one"));
    }
    let newer = request.version == Some(1);
    host(request.headers, newer)?;
    framing(request.headers, newer)
}

/// Says what the parser of HTTP's grammar did not like.
fn unread(error: httparse::Error, head: &[u8]) -> Wrong {
    use httparse::Error::{HeaderName, HeaderValue, TooManyHeaders, Version};
    match error {
        TooManyHeaders => {
            let message = format!("the request has over {HEADERS_MAX} headers; send fewer");
            Wrong { status: 431, code: Code::TooLarge, message }
        }
        Version if is_other_version(head) => Wrong {
            status: 505,
            code: Code::InvalidRequest,
            message: "this server speaks HTTP/1.1 and HTTP/1.0 only; use one of them".to_owned(),
        },
        HeaderName => bad(
            "a header's name is not well formed; write `Name: value`, without a space before the colon, each on one line",
        ),
        HeaderValue => {
            bad("a header's value has a character that none may have; leave out control characters")
        }
        _ => bad("the request's line is not well formed; write `METHOD /path HTTP/1.1`"),
    }
}

/// Tells whether the request's line is well formed, for a version of HTTP that is not ours.
fn is_other_version(head: &[u8]) -> bool {
    let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let mut words = line.split(|byte| *byte == b' ');
    let version = words.nth(2).and_then(|word| word.strip_prefix(b"HTTP/"));
    let numbered = |version: &[u8]| matches!(version, [major, b'.', minor] if major.is_ascii_digit() && minor.is_ascii_digit());
    version.is_some_and(numbered) && words.next().is_none()
}

/// A request has one `Host`, which proxies and we go by alike. HTTP/1.0 knew none.
fn host(headers: &[Header<'_>], newer: bool) -> Result<(), Wrong> {
    match values(headers, "host").as_slice() {
        [] if newer => Err(bad("the request has no Host header; every request of HTTP/1.1 has one")),
        [] => Ok(()),
        [host] if host.contains(&b'@') || Authority::try_from(*host).is_err() => {
            Err(bad("the Host header is not a host with or without a port"))
        }
        [_] => Ok(()),
        _ => Err(bad("the request has more than one Host header; send one")),
    }
}

/// Reads where the body ends. There is one way to say so in a request.
fn framing(headers: &[Header<'_>], newer: bool) -> Result<Framing, Wrong> {
    let (lengths, codings) = (values(headers, "content-length"), values(headers, "transfer-encoding"));
    match (lengths.as_slice(), codings.as_slice()) {
        ([], []) => Ok(Framing::Length(0)),
        ([length], []) => self::length(length).map(Framing::Length),
        (_, []) => Err(bad("the request has more than one Content-Length header; send one")),
        ([], [_]) if !newer => Err(bad("HTTP/1.0 has no Transfer-Encoding; send a Content-Length")),
        ([], [coding]) if coding.eq_ignore_ascii_case(b"chunked") => Ok(Framing::Chunked),
        ([], [_]) => Err(Wrong {
            status: 501,
            code: Code::InvalidRequest,
            message: "the only Transfer-Encoding taken here is chunked; send the body as it is".to_owned(),
        }),
        ([], _) => Err(bad("the request has more than one Transfer-Encoding header; send one")),
        _ => Err(bad("the request has both Content-Length and Transfer-Encoding; send one of them")),
    }
}

fn length(digits: &[u8]) -> Result<u64, Wrong> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(bad("the Content-Length header is not a number; write digits only"));
    }
    let number = std::str::from_utf8(digits).ok().filter(|digits| digits.len() <= LENGTH_DIGITS_MAX);
    number.and_then(|digits| digits.parse().ok()).ok_or_else(|| Wrong {
        status: 413,
        code: Code::TooLarge,
        message: "the Content-Length header is over every bound; send less, or in parts".to_owned(),
    })
}

fn values<'h>(headers: &[Header<'h>], name: &str) -> Vec<&'h [u8]> {
    let named = headers.iter().filter(|header| header.name.eq_ignore_ascii_case(name));
    named.map(|header| header.value).collect()
}

fn bad(message: &str) -> Wrong {
    Wrong { status: 400, code: Code::InvalidRequest, message: message.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what becomes of a head: its framing, or the status and a word of the message.
    fn read(head: &str) -> Result<Framing, (u16, String)> {
        let found = Search::default().find(head.as_bytes());
        let length = found.map_err(|wrong| (wrong.status, wrong.message))?.expect("the head is whole");
        check(&head.as_bytes()[..length]).map_err(|wrong| (wrong.status, wrong.message))
    }

    #[test]
    fn good_heads_say_how_their_body_comes() {
        let long = "a".repeat(60_000);
        for (head, framing) in [
            ("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", Framing::Length(0)),
            ("\r\nGET / HTTP/1.1\r\nHost: localhost\r\n\r\n", Framing::Length(0)),
            ("GET / HTTP/1.0\r\n\r\n", Framing::Length(0)),
            ("GET http://localhost/v1?q=1 HTTP/1.1\r\nHost: localhost:80\r\n\r\n", Framing::Length(0)),
            ("OPTIONS * HTTP/1.1\r\nhost: [::1]:8080\r\n\r\n", Framing::Length(0)),
            ("GET / HTTP/1.1\r\nHost:\tm.example \r\nX:\r\nY: \u{e9}\r\n\r\n", Framing::Length(0)),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0012\r\n\r\n", Framing::Length(12)),
            ("POST / HTTP/1.0\r\ncontent-length: 7\r\n\r\n", Framing::Length(7)),
            ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n", Framing::Chunked),
            (&format!("GET /{long} HTTP/1.1\r\nHost: a\r\n\r\n"), Framing::Length(0)),
        ] {
            assert_eq!(read(head), Ok(framing), "{head:.80}");
        }
    }

    #[test]
    fn bad_heads_are_refused() {
        let with = |headers: &str| format!("POST / HTTP/1.1\r\nHost: a\r\n{headers}\r\n\r\n");
        let line = |line: &str| format!("{line}\r\nHost: a\r\n\r\n");
        let many: String = (0..64).map(|number| format!("X-{number}: a\r\n")).collect();
        for (head, status, word) in [
            // Ends of lines.
            ("GET / HTTP/1.1\nHost: a\n\n".to_owned(), 400, "bare LF"),
            (with("X: a\nContent-Length: 5"), 400, "bare LF"),
            ("\nGET / HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(), 400, "bare LF"),
            (with("X: a\rContent-Length: 5"), 400, "bare CR"),
            ("\rGET / HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(), 400, "bare CR"),
            (with("X: a\r\r\nY: b"), 400, "bare CR"),
            (with("X: a\0b"), 400, "NUL"),
            ("\r\n\r\n".to_owned(), 400, "no line"),
            // The request's line.
            (line("GET /"), 400, "line"),
            (line("GET  / HTTP/1.1"), 400, "line"),
            (line("GET / HTTP/1.1 "), 400, "line"),
            (line(" GET / HTTP/1.1"), 400, "line"),
            (line("GET /a b HTTP/1.1"), 400, "line"),
            (line("GET\t/ HTTP/1.1"), 400, "line"),
            (line("G@T / HTTP/1.1"), 400, "line"),
            (line("GET / http/1.1"), 400, "line"),
            (line("GET / HTTP/1.10"), 400, "line"),
            (line("GET /\u{7f} HTTP/1.1"), 400, "line"),
            (line("GET nowhere/at/all HTTP/1.1"), 400, "target"),
            (line("GET http:// HTTP/1.1"), 400, "target"),
            (line("GET / HTTP/2.0"), 505, "HTTP/1.1"),
            (line("GET / HTTP/1.2"), 505, "HTTP/1.1"),
            (line("GET / HTTP/0.9"), 505, "HTTP/1.1"),
            ("PRI * HTTP/2.0\r\n\r\n".to_owned(), 505, "HTTP/1.1"),
            // Headers.
            (with("X : a"), 400, "before the colon"),
            (with("Transfer-Encoding : chunked"), 400, "before the colon"),
            (with("X: a\r\n b"), 400, "on one line"),
            (with(" X: a"), 400, "on one line"),
            (with("no colon"), 400, "name"),
            (with(": a"), 400, "name"),
            (with("X\u{e9}: a"), 400, "name"),
            (with("X: a\u{b}b"), 400, "control"),
            (format!("GET / HTTP/1.1\r\nHost: a\r\n{many}\r\n"), 431, "64 headers"),
            // One host.
            ("GET / HTTP/1.1\r\n\r\n".to_owned(), 400, "no Host"),
            (with("Host: a"), 400, "more than one Host"),
            (with("hOST: b"), 400, "more than one Host"),
            ("GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n".to_owned(), 400, "more than one Host"),
            ("GET / HTTP/1.1\r\nHost: a, b\r\n\r\n".to_owned(), 400, "not a host"),
            ("GET / HTTP/1.1\r\nHost: a@b\r\n\r\n".to_owned(), 400, "not a host"),
            ("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n".to_owned(), 400, "not a host"),
            ("GET / HTTP/1.1\r\nHost:\r\n\r\n".to_owned(), 400, "not a host"),
            // One length.
            (with("Content-Length: 5\r\nTransfer-Encoding: chunked"), 400, "both"),
            (with("Transfer-Encoding: chunked\r\nContent-Length: 5"), 400, "both"),
            (with("Content-Length: 5\r\nContent-Length: 5"), 400, "more than one Content-Length"),
            (with("Content-Length: 5, 5"), 400, "digits"),
            (with("Content-Length: +5"), 400, "digits"),
            (with("Content-Length: -1"), 400, "digits"),
            (with("Content-Length: 0x5"), 400, "digits"),
            (with("Content-Length: 5 5"), 400, "digits"),
            (with("Content-Length:"), 400, "digits"),
            (with("Content-Length: 18446744073709551617"), 413, "every bound"),
            (with("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"), 400, "more than one Transfer"),
            (with("Transfer-Encoding: gzip, chunked"), 501, "chunked"),
            (with("Transfer-Encoding: chunked, identity"), 501, "chunked"),
            (with("Transfer-Encoding: xchunked"), 501, "chunked"),
            (with("Transfer-Encoding: \"chunked\""), 501, "chunked"),
            (with("Transfer-Encoding:"), 501, "chunked"),
            ("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n".to_owned(), 400, "HTTP/1.0"),
        ] {
            let (seen, message) = read(&head).expect_err(&head);
            assert!(seen == status && message.contains(word), "{head:?}: {seen} {message}");
        }
    }

    #[test]
    fn a_head_is_found_however_it_comes_and_not_waited_for_beyond_its_bound() {
        let two = b"GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /next HTTP/1.1\r\n";
        let mut search = Search::default();
        let found = (0..=two.len()).find_map(|end| search.find(&two[..end]).unwrap());
        assert_eq!(found, Some(27));
        let endless = |start: &str| format!("{start}{}", "a".repeat(HEAD_BYTES_MAX));
        let status = |text: &str| Search::default().find(text.as_bytes()).unwrap_err().status;
        assert_eq!(status(&endless("GET /")), 414);
        assert_eq!(status(&endless("GET / HTTP/1.1\r\nX: ")), 431);
        let late = format!("{}\r\n\r\n", endless("GET / HTTP/1.1\r\nX: "));
        assert_eq!(status(&late), 431, "also where its end has come, too");
    }
}
