use std::borrow::Cow;

use super::JsonError;
use super::canonical::write_string;
use super::made::Made;

/// Arrays and objects inside one another. Far below what the stack bears, far above what a payload needs.
pub const MAX_DEPTH: usize = 64;
/// Longer literals are not measurements but attacks on whoever computes with them.
pub const MAX_NUMBER_LEN: usize = 1_000;
/// Keys quoted in messages are cut here, so that an error stays small.
const SHOWN_KEY_LEN: usize = 80;

pub(super) struct Parser<'t> {
    text: &'t str,
    at: usize,
    depth_left: usize,
    /// The parser's path in the document, for messages about keys.
    path: Vec<Step>,
}

enum Step {
    /// The position of the key in the text: the key is read again only if there is something to say about it.
    Key(usize),
    Index(usize),
}

impl<'t> Parser<'t> {
    pub(super) fn new(text: &'t str, max_depth: usize) -> Self {
        Self { text, at: 0, depth_left: max_depth, path: Vec::new() }
    }

    pub(super) fn document<M: Made<'t>>(mut self) -> Result<M, JsonError> {
        let value = self.value()?;
        self.skip_whitespace();
        self.end()?;
        Ok(value)
    }

    /// The literal of a number with nothing around it.
    pub(super) fn lone_number(mut self) -> Result<&'t str, JsonError> {
        let number = self.number()?;
        self.end()?;
        Ok(number)
    }

    fn end(&self) -> Result<(), JsonError> {
        match self.peek() {
            None => Ok(()),
            Some(_) => self.fail("unexpected text after the end of the document"),
        }
    }

    fn value<M: Made<'t>>(&mut self) -> Result<M, JsonError> {
        self.skip_whitespace();
        match self.peek() {
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'"') => self.string().map(M::string),
            Some(b'-' | b'0'..=b'9') => self.number().map(M::number),
            Some(b't') => self.word("true", M::bool(true)),
            Some(b'f') => self.word("false", M::bool(false)),
            Some(b'n') => self.word("null", M::null()),
            Some(_) => self.fail("expected a value"),
            None => self.fail("expected a value, but the text ends"),
        }
    }

    fn nested<M>(&mut self, read: fn(&mut Self) -> Result<M, JsonError>) -> Result<M, JsonError> {
        if self.depth_left == 0 {
            return self.fail(format!("nested more than {MAX_DEPTH} deep"));
        }
        self.depth_left -= 1;
        self.at += 1;
        let value = read(self)?;
        self.depth_left += 1;
        Ok(value)
    }

    fn object<M: Made<'t>>(&mut self) -> Result<M, JsonError> {
        let mut members = M::Members::default();
        self.skip_whitespace();
        if self.take(b'}') {
            return Ok(M::object(members));
        }
        loop {
            self.skip_whitespace();
            let key_at = self.at;
            if self.peek() != Some(b'"') {
                return self.fail("expected a key in double quotes");
            }
            let key = self.string()?;
            self.skip_whitespace();
            self.require(b':', "expected `:` after a key")?;
            self.path.push(Step::Key(key_at));
            let value = self.value()?;
            self.path.pop();
            if !M::member(&mut members, key, value) {
                return self.duplicate(key_at);
            }
            self.skip_whitespace();
            if self.take(b'}') {
                return Ok(M::object(members));
            }
            self.require(b',', "expected `,` or `}`")?;
        }
    }

    fn array<M: Made<'t>>(&mut self) -> Result<M, JsonError> {
        let mut elements = Vec::new();
        self.skip_whitespace();
        if self.take(b']') {
            return Ok(M::array(elements));
        }
        for index in 0.. {
            self.path.push(Step::Index(index));
            let element = self.value()?;
            self.path.pop();
            M::element(&mut elements, element);
            self.skip_whitespace();
            if self.take(b']') {
                break;
            }
            self.require(b',', "expected `,` or `]`")?;
        }
        Ok(M::array(elements))
    }

    fn word<M>(&mut self, word: &str, value: M) -> Result<M, JsonError> {
        if !self.text[self.at..].starts_with(word) {
            return self.fail("expected a value");
        }
        self.at += word.len();
        Ok(value)
    }

    fn number(&mut self) -> Result<&'t str, JsonError> {
        let start = self.at;
        self.take(b'-');
        if self.take(b'0') {
            if matches!(self.peek(), Some(b'0'..=b'9')) {
                return self.fail("a number may not start with a zero");
            }
        } else {
            self.digits()?;
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            let _sign = self.take(b'+') || self.take(b'-');
            self.digits()?;
        }
        if self.at - start > MAX_NUMBER_LEN {
            self.at = start;
            return self.fail(format!("a number may have at most {MAX_NUMBER_LEN} characters"));
        }
        Ok(&self.text[start..self.at])
    }

    fn digits(&mut self) -> Result<(), JsonError> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start { self.fail("expected a digit") } else { Ok(()) }
    }

    fn string(&mut self) -> Result<Cow<'t, str>, JsonError> {
        self.at += 1;
        let mut out = Cow::Borrowed(self.plain());
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => out.to_mut().push(self.escape()?),
                Some(_) => return self.fail("a control character in a string must be escaped"),
                None => return self.fail("a string is not closed"),
            }
            out.to_mut().push_str(self.plain());
        }
    }

    /// Reads the characters that stand for themselves.
    fn plain(&mut self) -> &'t str {
        let start = self.at;
        while matches!(self.peek(), Some(byte) if byte >= 0x20 && byte != b'"' && byte != b'\\') {
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    fn escape(&mut self) -> Result<char, JsonError> {
        let start = self.at;
        self.at += 1;
        let escaped = self.peek();
        self.at += 1;
        Ok(match escaped {
            Some(plain @ (b'"' | b'\\' | b'/')) => char::from(plain),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(start),
            _ => return self.fail_at(start, "unknown escape in a string"),
        })
    }

    fn unicode_escape(&mut self, start: usize) -> Result<char, JsonError> {
        let first = self.hex4(start)?;
        if let Some(c) = char::from_u32(first) {
            return Ok(c);
        }
        let paired = (0xD800..0xDC00).contains(&first) && self.text[self.at..].starts_with("\\u");
        if paired {
            self.at += 2;
            let second = self.hex4(start)?;
            if (0xDC00..0xE000).contains(&second) {
                let code = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
                return Ok(char::from_u32(code).expect("every surrogate pair is a code point"));
            }
        }
        self.fail_at(start, "a lone surrogate is not a character")
    }

    fn hex4(&mut self, start: usize) -> Result<u32, JsonError> {
        let digits = self.text.get(self.at..self.at + 4).unwrap_or_default();
        // `from_str_radix` would accept a sign.
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return self.fail_at(start, "expected four hexadecimal digits after `\\u`");
        }
        self.at += 4;
        Ok(u32::from_str_radix(digits, 16).expect("four hexadecimal digits"))
    }

    fn skip_whitespace(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn require(&mut self, byte: u8, otherwise: &str) -> Result<(), JsonError> {
        if self.take(byte) { Ok(()) } else { self.fail(otherwise) }
    }

    fn duplicate<T>(&self, key_at: usize) -> Result<T, JsonError> {
        let mut message = "duplicate key ".to_owned();
        write_string(&self.key(key_at), &mut message);
        if !self.path.is_empty() {
            message.push_str(" in ");
            self.write_path(&mut message);
        }
        self.fail_at(key_at, message)
    }

    fn write_path(&self, out: &mut String) {
        for (index, step) in self.path.iter().enumerate() {
            match step {
                Step::Index(element) => out.push_str(&format!("[{element}]")),
                Step::Key(key) => {
                    if index > 0 {
                        out.push('.');
                    }
                    out.push_str(&self.key(*key));
                }
            }
        }
    }

    fn key(&self, at: usize) -> String {
        let mut reader = Parser { text: self.text, at, depth_left: 0, path: Vec::new() };
        let key = reader.string().expect("it was read once already");
        match key.char_indices().nth(SHOWN_KEY_LEN) {
            Some((end, _)) => format!("{}..", &key[..end]),
            None => key.into_owned(),
        }
    }

    fn fail<T>(&self, message: impl Into<String>) -> Result<T, JsonError> {
        self.fail_at(self.at, message)
    }

    fn fail_at<T>(&self, offset: usize, message: impl Into<String>) -> Result<T, JsonError> {
        Err(JsonError::at(self.text, offset, message))
    }
}
