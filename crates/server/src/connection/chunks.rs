//! The chunks of a body: followed byte by byte, to know where the next request begins.

/// The longest line that says a chunk's size, with whatever extensions.
const SIZE_LINE_MAX: usize = 256;
/// All trailers of a body together.
const TRAILERS_MAX: usize = 8 << 10;
/// More would be a chunk of an exabyte.
const DIGITS_MAX: usize = 15;

/// A place in a chunked body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Chunks {
    at: At,
    /// The size of the chunk that begins.
    size: u64,
    /// Bytes of the line, or of the trailers, so far.
    length: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Size,
    Extension,
    SizeLf,
    /// The bytes of a chunk that are still to come.
    Data(u64),
    DataCr,
    DataLf,
    /// The begin of a line after the last chunk.
    Trailer,
    InTrailer,
    TrailerLf,
    LastLf,
    Over,
}

/// The body is not what HTTP calls chunked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Broken;

impl Chunks {
    pub(super) fn new() -> Self {
        Chunks { at: At::Size, size: 0, length: 0 }
    }

    pub(super) fn is_over(&self) -> bool {
        self.at == At::Over
    }

    /// Follows the bytes that come next. Returns how many of them belong to the body: all, unless it ends among them.
    pub(super) fn follow(&mut self, bytes: &[u8]) -> Result<usize, Broken> {
        let mut passed = 0;
        while passed < bytes.len() && !self.is_over() {
            if let At::Data(left) = self.at {
                let here = (bytes.len() - passed) as u64;
                let part = left.min(here);
                self.at = if part == left { At::DataCr } else { At::Data(left - part) };
                // Not more than a slice's length.
                passed += part as usize;
            } else {
                self.at = self.step(bytes[passed]).ok_or(Broken)?;
                passed += 1;
            }
        }
        Ok(passed)
    }

    /// Returns the place after a byte that is not a chunk's data.
    fn step(&mut self, byte: u8) -> Option<At> {
        self.length += 1;
        match (self.at, byte) {
            (At::Size, _) if byte.is_ascii_hexdigit() && self.length <= DIGITS_MAX => {
                let digit = char::from(byte).to_digit(16)?;
                self.size = self.size * 16 + u64::from(digit);
                Some(At::Size)
            }
            (At::Size, b';') if self.length > 1 => Some(At::Extension),
            (At::Size, b'\r') if self.length > 1 => Some(At::SizeLf),
            (At::Extension, b'\r') => Some(At::SizeLf),
            (At::Extension, _) if is_text(byte) && self.length <= SIZE_LINE_MAX => Some(At::Extension),
            (At::SizeLf, b'\n') => {
                let size = std::mem::take(&mut self.size);
                self.length = 0;
                Some(if size == 0 { At::Trailer } else { At::Data(size) })
            }
            (At::DataCr, b'\r') => Some(At::DataLf),
            (At::DataLf, b'\n') => {
                self.length = 0;
                Some(At::Size)
            }
            (At::Trailer, b'\r') => Some(At::LastLf),
            (At::InTrailer, b'\r') => Some(At::TrailerLf),
            (At::Trailer | At::InTrailer, _) if is_text(byte) && self.length <= TRAILERS_MAX => {
                Some(At::InTrailer)
            }
            (At::TrailerLf, b'\n') => Some(At::Trailer),
            (At::LastLf, b'\n') => Some(At::Over),
            _ => None,
        }
    }
}

fn is_text(byte: u8) -> bool {
    byte == b'\t' || (byte >= b' ' && byte != 0x7f)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The length of the body that `text` begins with, `None` while it has not ended; the same in whatever pieces.
    fn end(text: &str) -> Result<Option<usize>, Broken> {
        let whole = pieces(text, text.len().max(1));
        for size in 1..4 {
            assert_eq!(pieces(text, size), whole, "{text:?} in pieces of {size}");
        }
        whole
    }

    fn pieces(text: &str, size: usize) -> Result<Option<usize>, Broken> {
        let (mut chunks, mut length) = (Chunks::new(), 0);
        for piece in text.as_bytes().chunks(size) {
            length += chunks.follow(piece)?;
            if chunks.is_over() {
                return Ok(Some(length));
            }
        }
        Ok(None)
    }

    #[test]
    fn the_end_of_a_body_is_found() {
        for (body, rest) in [
            ("0\r\n\r\n", ""),
            ("5\r\nhello\r\n0\r\n\r\n", "GET / HTTP/1.1\r\n"),
            ("A\r\n0\r\n\r\nGET /\r\n0\r\n\r\n", "\r\n"),
            ("00005;a=b;c=\"d e\"\r\nhello\r\n000\r\n\r\n", "x"),
            ("1\r\n[\r\n0;last\r\nX-Sum: 1\r\nX: y\r\n\r\n", "5\r\n"),
        ] {
            assert_eq!(end(&format!("{body}{rest}")), Ok(Some(body.len())), "{body:?}");
            for cut in 0..body.len() {
                assert_eq!(end(&body[..cut]), Ok(None), "{body:?} up to {cut}");
            }
        }
    }

    #[test]
    fn tricks_are_seen() {
        let wide = format!("5;{}\r\nhello\r\n", "a".repeat(SIZE_LINE_MAX));
        let trailing = format!("0\r\n{}", "X: aaaaaaaa\r\n".repeat(TRAILERS_MAX / 12));
        for body in [
            "5\nhello\r\n0\r\n\r\n",
            "5\r\nhello\n0\r\n\r\n",
            "5\r\nhello\r\n0\n\n",
            "5\r\nhello\r\n0\r\n\n",
            "5\r\nhello0\r\n\r\n",
            "5\r\nhelloXX0\r\n\r\n",
            "5\rXhello",
            "5 \r\nhello",
            " 5\r\nhello",
            "\t5\r\nhello",
            "+5\r\nhello",
            "-1\r\n",
            "0x5\r\nhello",
            "5_0\r\nhello",
            "\r\n",
            ";a\r\n",
            "5;a\nhello",
            "5;a\rb\r\nhello",
            "5;a\0\r\nhello",
            "0\r\nX: a\nY: b\r\n\r\n",
            "0\r\nX: a\rb\r\n\r\n",
            "0\r\n\rX",
            "fffffffffffffffff\r\n",
            "0000000000000000\r\n",
            &wide,
            &trailing,
        ] {
            assert_eq!(end(body), Err(Broken), "{body:.40?}");
        }
    }
}
