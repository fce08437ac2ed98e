//! A leaf's bytes, written by hand.
//!
//! Each leaf is written once, then hashed and stored. By way of `serde` that was a twentieth of what a move costs. The bytes
//! are the same: a property holds the two together.

use super::Leaf;
use crate::actor::Right;
use crate::digest::{self, Digest};

/// Most leaves are a little shorter.
const USUAL: usize = 640;

impl Leaf {
    /// The bytes that are stored, hashed and served.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let mut object = Object::with_capacity(USUAL);
        object.number("format", u64::from(self.format));
        object.plain("kind", self.kind.as_str());
        object.digest("definition", Some(&self.definition));
        object.plain("submission", self.submission.0.hyphenated().encode_lower(&mut [0; 36]));
        object.number("revision", self.revision);
        object.digest("previous", self.previous.as_ref());
        object.bytes("at", &self.at.text());
        if let Some(from) = &self.from {
            object.text("from", from);
        }
        object.text("to", &self.to);
        object.text("trigger", &self.trigger);
        object.raw("actor", &{
            let mut actor = Object::with_capacity(80);
            actor.plain("type", self.actor.kind.as_str());
            actor.digest("id", Some(&self.actor.id));
            actor.end()
        });
        match self.right {
            Right::Rule => object.plain("right", "rule"),
            Right::Lease(no) => object.raw("right", &{
                let mut right = Object::with_capacity(32);
                right.number("lease", no);
                right.end()
            }),
            Right::Role(role) => object.raw("right", &{
                let mut right = Object::with_capacity(32);
                right.plain("role", role.as_str());
                right.end()
            }),
        }
        object.raw("held", if self.held { b"true" } else { b"false" });
        object.number("attempt", u64::from(self.attempt));
        object.digest("payload", self.payload.as_ref());
        object.digest("output", self.output.as_ref());
        object.digest("metadata", self.metadata.as_ref());
        object.end()
    }
}

/// A JSON object that is being written. Keys need no escape.
struct Object(Vec<u8>);

impl Object {
    fn with_capacity(bytes: usize) -> Self {
        Object(Vec::with_capacity(bytes))
    }

    fn key(&mut self, key: &str) {
        let before: &[u8] = if self.0.is_empty() { b"{\"" } else { b",\"" };
        self.0.extend_from_slice(before);
        self.0.extend_from_slice(key.as_bytes());
        self.0.extend_from_slice(b"\":");
    }

    /// A value that is JSON already.
    fn raw(&mut self, key: &str, value: &[u8]) {
        self.key(key);
        self.0.extend_from_slice(value);
    }

    /// Text that is known to need no escape.
    fn bytes(&mut self, key: &str, value: &[u8]) {
        self.key(key);
        self.0.push(b'"');
        self.0.extend_from_slice(value);
        self.0.push(b'"');
    }

    fn plain(&mut self, key: &str, value: &str) {
        self.bytes(key, value.as_bytes());
    }

    fn text(&mut self, key: &str, value: &str) {
        if value.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\') {
            return self.plain(key, value);
        }
        self.key(key);
        serde_json::to_writer(&mut self.0, value).expect("text is written into memory");
    }

    fn number(&mut self, key: &str, mut value: u64) {
        let mut digits = [0; 20];
        let mut at = digits.len();
        loop {
            at -= 1;
            digits[at] = b'0' + u8::try_from(value % 10).expect("a digit");
            value /= 10;
            if value == 0 {
                break;
            }
        }
        self.raw(key, &digits[at..]);
    }

    fn digest(&mut self, key: &str, digest: Option<&Digest>) {
        if let Some(digest) = digest {
            self.plain(key, digest.text(&mut [0; digest::TEXT_LEN]));
        }
    }

    fn end(mut self) -> Vec<u8> {
        self.0.push(b'}');
        self.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::actor::ActorKind;
    use crate::event::{Kind, Pseudonym};
    use crate::role::Role;
    use crate::submission::SubmissionId;
    use crate::time::Time;

    fn digest() -> impl Strategy<Value = Digest> {
        any::<[u8; 32]>().prop_map(Digest)
    }

    fn right() -> impl Strategy<Value = Right> {
        let role = proptest::sample::select(Role::ALL.to_vec());
        prop_oneof![Just(Right::Rule), any::<u64>().prop_map(Right::Lease), role.prop_map(Right::Role)]
    }

    prop_compose! {
        fn leaf()(
            (format, kind, definition) in (any::<u32>(), proptest::sample::select(Kind::ALL.to_vec()), digest()),
            (id, revision, previous) in (any::<u128>(), any::<u64>(), proptest::option::of(digest())),
            at in -62_135_596_800_000_i64..=253_402_300_799_999,
            (from, to, trigger) in (proptest::option::of(any::<String>()), any::<String>(), "\\PC*"),
            kind_of_actor in proptest::sample::select(ActorKind::ALL.to_vec()),
            (actor, right, held, attempt) in (digest(), right(), any::<bool>(), any::<u32>()),
            documents in [proptest::option::of(digest()), proptest::option::of(digest()), proptest::option::of(digest())],
        ) -> Leaf {
            let [payload, output, metadata] = documents;
            Leaf {
                format,
                kind,
                definition,
                submission: SubmissionId(uuid::Uuid::from_u128(id)),
                revision,
                previous,
                at: Time::from_millis(at),
                from: from.map(Into::into),
                to: to.into(),
                trigger: trigger.into(),
                actor: Pseudonym { kind: kind_of_actor, id: actor },
                right,
                held,
                attempt,
                payload,
                output,
                metadata,
            }
        }
    }

    proptest! {
        #[test]
        fn the_bytes_are_those_serde_writes(leaf in leaf()) {
            let by_serde = serde_json::to_string(&leaf).unwrap();
            prop_assert_eq!(String::from_utf8(leaf.bytes()).unwrap(), by_serde);
        }
    }
}
