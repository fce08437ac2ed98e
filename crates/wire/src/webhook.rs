//! The signatures of the Standard Webhooks specification, for those who send and those who receive.

use std::fmt;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

const PREFIX: &str = "whsec_";
const VERSION: &str = "v1,";

/// The names of the headers, in lower case.
pub const ID_HEADER: &str = "webhook-id";
pub const TIMESTAMP_HEADER: &str = "webhook-timestamp";
pub const SIGNATURE_HEADER: &str = "webhook-signature";

/// The secret that both sides know and nobody else.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(Vec<u8>);

/// The parts that are signed. The id has no full stop, which would let one part pass for two.
#[derive(Debug, Clone, Copy)]
pub struct Signed<'a> {
    pub id: &'a str,
    /// Seconds since 1970, as they are written.
    pub timestamp: &'a str,
    pub body: &'a [u8],
}

impl Key {
    /// Reads a secret as people have it: base64, with or without `whsec_` before it.
    #[must_use]
    pub fn read(secret: &str) -> Option<Key> {
        let text = secret.strip_prefix(PREFIX).unwrap_or(secret);
        let key = BASE64_STANDARD.decode(text).ok();
        key.filter(|key| !key.is_empty()).map(Key)
    }

    /// The secret that stands for these bytes.
    #[must_use]
    pub fn secret_of(bytes: &[u8]) -> String {
        format!("{PREFIX}{}", BASE64_STANDARD.encode(bytes))
    }

    /// One signature, as it is written into the header; several are separated by spaces.
    #[must_use]
    pub fn sign(&self, signed: Signed<'_>) -> String {
        let mac = self.mac(signed).finalize().into_bytes();
        format!("{VERSION}{}", BASE64_STANDARD.encode(mac))
    }

    /// Tells whether this is a signature by this key. The time it takes says nothing about the key.
    #[must_use]
    pub fn has_signed(&self, signed: Signed<'_>, signature: &str) -> bool {
        let found = signature.strip_prefix(VERSION).and_then(|text| BASE64_STANDARD.decode(text).ok());
        found.is_some_and(|found| self.mac(signed).verify_slice(&found).is_ok())
    }

    fn mac(&self, signed: Signed<'_>) -> Hmac<Sha256> {
        let mut mac =
            Hmac::<Sha256>::new_from_slice(&self.0).expect("a key of this kind may have any length");
        for part in [signed.id.as_bytes(), b".", signed.timestamp.as_bytes(), b".", signed.body] {
            mac.update(part);
        }
        mac
    }
}

/// Leaves out the key.
impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PUBLISHED: Signed<'_> = Signed {
        id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
        timestamp: "1614265330",
        body: br#"{"test": 2432232314}"#,
    };
    const SIGNATURE: &str = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

    #[test]
    fn the_published_vector_comes_out() {
        let key = Key::read("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        assert_eq!(key.sign(PUBLISHED), SIGNATURE);
        assert!(key.has_signed(PUBLISHED, SIGNATURE));
        assert!(!key.has_signed(Signed { id: "msg_other", ..PUBLISHED }, SIGNATURE));
        assert!(!key.has_signed(PUBLISHED, &SIGNATURE.replace("v1", "v2")));
    }

    #[test]
    fn a_secret_is_read_back_and_never_shown() {
        let secret = Key::secret_of(&[7; 32]);
        assert!(secret.starts_with("whsec_"));
        let key = Key::read(&secret).unwrap();
        assert_eq!(key, Key(vec![7; 32]));
        assert!(!format!("{key:?}").contains('7'));
        assert_eq!((Key::read("whsec_"), Key::read("whsec_?")), (None, None));
    }
}
