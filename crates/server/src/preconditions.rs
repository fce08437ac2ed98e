//! The headers that set conditions: `If-Match` and `Idempotency-Key`.

use axum::http::{HeaderMap, header};
use model::Refusal;

use crate::problem::invalid;

const KEY: &str = "idempotency-key";

/// The revision the caller saw; `*` is any.
pub(crate) fn if_match(headers: &HeaderMap) -> Result<Option<u64>, Refusal> {
    let Some(given) = only(headers, header::IF_MATCH.as_str())? else { return Ok(None) };
    if given == "*" {
        return Ok(None);
    }
    let revision = given.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let digits = revision.filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    digits.and_then(|digits| digits.parse().ok()).map(Some).ok_or_else(|| {
        invalid(
            "`If-Match` takes one ETag of the submission, its revision in double quotes like \"3\", or `*`",
        )
    })
}

/// Returns the key by which a repeat of a request is known.
pub(crate) fn idempotency_key(headers: &HeaderMap) -> Result<Option<&str>, Refusal> {
    only(headers, KEY)
}

/// Refuses a key on calls that are done as often as they come: the key promises otherwise, so it is not ignored.
pub(crate) fn never_once(headers: &HeaderMap) -> Result<(), Refusal> {
    match only(headers, KEY)? {
        None => Ok(()),
        Some(_) => Err(invalid(
            "this call takes no `Idempotency-Key`: it is done each time it comes; look before you repeat it",
        )),
    }
}

fn only<'h>(headers: &'h HeaderMap, name: &str) -> Result<Option<&'h str>, Refusal> {
    let mut values = headers.get_all(name).iter();
    let Some(first) = values.next() else { return Ok(None) };
    match (first.to_str(), values.next()) {
        (Ok(text), None) => Ok(Some(text.trim())),
        _ => Err(invalid(format!("`{name}` is given twice or is not ASCII"))),
    }
}
