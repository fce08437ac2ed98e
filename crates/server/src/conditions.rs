//! The headers that set conditions: `If-Match` and `Idempotency-Key`.

use axum::http::{HeaderMap, header};
use engine::core::Once;
use model::{Digest, Refusal};
use store::RequestKey;

use crate::access::Visitor;
use crate::problem::invalid;

const KEY: &str = "idempotency-key";
const KEY_CHARS_MAX: usize = 255;

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

/// A request that is to be answered once, however often it comes.
#[derive(Debug, Clone)]
pub(crate) struct Request<'a> {
    pub(crate) visitor: &'a Visitor,
    /// The number of answers that are kept for one subject at a time, unless it is an owner.
    pub(crate) most: usize,
    /// Method and path: the same key elsewhere is another.
    pub(crate) route: String,
    pub(crate) body: &'a [u8],
}

impl Request<'_> {
    pub(crate) fn once(&self, headers: &HeaderMap) -> Result<Option<Once>, Refusal> {
        let Some(given) = only(headers, KEY)? else { return Ok(None) };
        let visible = given.bytes().all(|byte| byte.is_ascii_graphic());
        if !visible || given.is_empty() || given.len() > KEY_CHARS_MAX {
            return Err(invalid(format!(
                "`Idempotency-Key` takes 1 to {KEY_CHARS_MAX} visible ASCII characters; a UUID does well"
            )));
        }
        let key = RequestKey {
            subject: self.visitor.caller.name.clone(),
            route: self.route.as_str().into(),
            key: given.into(),
        };
        let digest = Digest::of_parts(&[self.route.as_bytes(), b"\n", self.body]);
        let most = (!self.visitor.is_owner()).then_some(self.most);
        Ok(Some(Once { key, digest, most }))
    }
}

/// For calls that are done as often as they come: a key that promises otherwise is refused rather than ignored.
pub(crate) fn never_once(headers: &HeaderMap) -> Result<(), Refusal> {
    match only(headers, KEY)? {
        None => Ok(()),
        Some(_) => Err(invalid(
            "this call takes no `Idempotency-Key`: it is done each time it comes; look before you repeat it",
        )),
    }
}

/// The same for one of many: each has an answer of its own.
pub(crate) fn one_of_many(once: &Once, index: usize) -> Once {
    let mut once = once.clone();
    once.key.key = format!("{}#{index}", once.key.key).into();
    once
}

fn only<'h>(headers: &'h HeaderMap, name: &str) -> Result<Option<&'h str>, Refusal> {
    let mut values = headers.get_all(name).iter();
    let Some(first) = values.next() else { return Ok(None) };
    match (first.to_str(), values.next()) {
        (Ok(text), None) => Ok(Some(text.trim())),
        _ => Err(invalid(format!("`{name}` is given twice or is not ASCII"))),
    }
}
