//! Requests that are answered once, however often they come.

use engine::core::Once;
use model::{Digest, Refusal};
use store::RequestKey;

use crate::{App, invalid};

const KEY_CHARS_MAX: usize = 255;

impl App {
    /// Makes the mark by which a request is known again. `route` is method and path: the same key elsewhere is another.
    /// At most `most` answers are kept of one subject, unless the subject is an owner.
    pub fn once(&self, route: &str, key: &str, body: &[u8], most: usize) -> Result<Once, Refusal> {
        let visible = key.bytes().all(|byte| byte.is_ascii_graphic());
        if !visible || key.is_empty() || key.len() > KEY_CHARS_MAX {
            return Err(invalid(format!(
                "`Idempotency-Key` takes 1 to {KEY_CHARS_MAX} visible ASCII characters; a UUID does well"
            )));
        }
        let digest = Digest::of_parts(&[route.as_bytes(), b"\n", body]);
        let key =
            RequestKey { subject: self.visitor.caller.name.clone(), route: route.into(), key: key.into() };
        Ok(Once { key, digest, most: (!self.visitor.is_owner()).then_some(most) })
    }
}

/// Returns the mark of one of many: each has an answer of its own.
pub(crate) fn one_of_many(once: &Once, index: usize) -> Once {
    let mut once = once.clone();
    once.key.key = format!("{}#{index}", once.key.key).into();
    once
}
