//! The secret that a caller must know, so that nobody else on the machine borrows the way out.

use std::fmt;
use std::io;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hyper::header::{HeaderMap, PROXY_AUTHORIZATION};
use rustls::crypto::ring;

const USER: &str = "milepost";
const SCHEME: &str = "Basic ";

/// The address of a proxy, with the secret in it.
#[derive(Clone, PartialEq, Eq)]
pub struct ProxyUrl(String);

impl ProxyUrl {
    /// Returns the address with the secret, for the program that is to go by the proxy.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ProxyUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = self.0.rsplit('@').next().unwrap_or_default();
        write!(f, "ProxyUrl(http://***@{address})")
    }
}

pub(super) struct Secret(String);

impl Secret {
    pub(super) fn new() -> io::Result<Secret> {
        // Chance is an argument where history depends on it. A secret must not be anybody's to choose.
        let mut bytes = [0; 32];
        let filled = ring::default_provider().secure_random.fill(&mut bytes);
        filled.map_err(|_| io::Error::other("the machine gives no random bytes"))?;
        Ok(Secret(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    pub(super) fn url(&self, port: u16) -> ProxyUrl {
        ProxyUrl(format!("http://{USER}:{}@127.0.0.1:{port}", self.0))
    }

    /// Returns whether a request has the secret. Every byte is looked at, so that the time tells nothing of where it differs.
    pub(super) fn is_in(&self, headers: &HeaderMap) -> bool {
        let mut values = headers.get_all(PROXY_AUTHORIZATION).iter();
        let (Some(value), None) = (values.next(), values.next()) else { return false };
        let Some((scheme, told)) = value.as_bytes().split_at_checked(SCHEME.len()) else { return false };
        let expected = BASE64_STANDARD.encode(format!("{USER}:{}", self.0));
        let differs = |sum: u8, (a, b): (&u8, &u8)| sum | (a ^ b);
        scheme.eq_ignore_ascii_case(SCHEME.as_bytes())
            && told.len() == expected.len()
            && told.iter().zip(expected.as_bytes()).fold(0, differs) == 0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(***)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderValue;

    fn is_in(secret: &Secret, values: &[String]) -> bool {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(PROXY_AUTHORIZATION, HeaderValue::try_from(value).unwrap());
        }
        secret.is_in(&headers)
    }

    #[test]
    fn only_the_secret_itself_opens_the_proxy() {
        let (secret, another) = (Secret::new().unwrap(), Secret::new().unwrap());
        let basic = |text: &str| format!("Basic {}", BASE64_STANDARD.encode(text));
        let good = basic(&format!("milepost:{}", secret.0));
        assert!(is_in(&secret, std::slice::from_ref(&good)));
        assert!(is_in(&secret, &[good.replace("Basic", "basic")]));
        assert!(!is_in(&secret, &[]));
        assert!(!is_in(&secret, &[good.clone(), good.clone()]), "twice");
        for wrong in [
            String::new(),
            "Basic".to_owned(),
            basic(""),
            basic("milepost:"),
            basic(&format!("other:{}", secret.0)),
            basic(&format!("milepost:{}", another.0)),
            basic(&format!("milepost:{}", &secret.0[1..])),
            format!("{good}="),
            good.replace("Basic", "Bearer"),
        ] {
            assert!(!is_in(&secret, std::slice::from_ref(&wrong)), "{wrong}");
        }
    }

    #[test]
    fn no_text_for_people_shows_the_secret() {
        let secret = Secret::new().unwrap();
        let url = secret.url(1234);
        assert_eq!(url.expose(), format!("http://milepost:{}@127.0.0.1:1234", secret.0));
        assert_eq!(format!("{secret:?} {url:?}"), "Secret(***) ProxyUrl(http://***@127.0.0.1:1234)");
    }
}
