//! Heads of answers as people save them: `curl -sI https://example.com/ > head.txt`.

/// A mistake in a saved head.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the headers {reason}")]
pub struct BadHead {
    pub line: usize,
    pub reason: &'static str,
}

/// Reads lines `Name: value` up to an empty one. A status line before them is passed over, and must be of a good answer.
///
/// # Errors
/// With the first line that is no header.
pub fn saved_head(bytes: &[u8]) -> Result<Vec<(String, Vec<u8>)>, BadHead> {
    let mut headers = Vec::new();
    for (number, line) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
        let bad = |reason| BadHead { line: number, reason };
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            break;
        }
        if number == 1 && line.starts_with(b"HTTP/") {
            match line.split(|byte| *byte == b' ').nth(1) {
                Some(b"200") => continue,
                _ => return Err(bad("is the status of an answer that is not 200: save the final one")),
            }
        }
        let colon = line.iter().position(|byte| *byte == b':').ok_or_else(|| bad("has no colon"))?;
        let (name, value) = (&line[..colon], &line[colon + 1..]);
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
        if name.is_empty() || !name.iter().all(is_name) {
            return Err(bad("has no header's name before its colon"));
        }
        let name = String::from_utf8_lossy(name).to_ascii_lowercase();
        headers.push((name, value.trim_ascii().to_vec()));
    }
    Ok(headers)
}
