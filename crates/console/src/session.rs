//! Sessions: a token in a cookie that no script can read and no other site can send.
//!
//! The cookie is the token, so that a session is good on every server over the store, and ends when its token does.

use http::{HeaderMap, Method, header};

/// The cookie's name.
pub const SESSION: &str = "milepost_session";

/// Tokens are shorter; what is longer is none.
const TOKEN_BYTES_MAX: usize = 200;

/// Returns the token that a browser keeps.
#[must_use]
pub fn session(headers: &HeaderMap) -> Option<String> {
    cookie(headers, SESSION).filter(|token| is_token(token)).map(str::to_owned)
}

/// Returns a cookie's value.
pub(crate) fn cookie<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(known, _)| *known == name).map(|(_, value)| value)
}

/// Writes the cookie that keeps a token, or the one that forgets it.
pub(crate) fn keep(token: Option<&str>, secure: bool) -> String {
    let secure = if secure { "; Secure" } else { "" };
    let (value, over) = token.map_or(("", "; Max-Age=0"), |token| (token, ""));
    format!("{SESSION}={value}; Path=/console; HttpOnly; SameSite=Strict{secure}{over}")
}

/// Tells whether a text can be a token, and so the value of a cookie.
pub(crate) fn is_token(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~+/".contains(&byte);
    (1..=TOKEN_BYTES_MAX).contains(&text.len()) && text.bytes().all(plain)
}

/// Tells whether a request that changes something comes from one of the server's own pages. Browsers say where a request
/// comes from; what does not say so is no form of ours.
#[must_use]
pub fn is_from_here(method: &Method, headers: &HeaderMap) -> bool {
    if method.is_safe() {
        return true;
    }
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let same_site = text("sec-fetch-site").is_none_or(|site| site == "same-origin");
    let origin = text("origin").and_then(|origin| origin.split_once("://")).map(|(_, host)| host);
    let named = match (origin, text("host")) {
        (Some(origin), Some(host)) => origin.eq_ignore_ascii_case(host),
        _ => false,
    };
    // Behind a proxy the host may be another than the browser's; what the browser itself says is enough then.
    same_site && (named || text("sec-fetch-site").is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn a_session_is_a_token_in_its_cookie() {
        let of = |line: &str| session(&headers(&[("cookie", line)]));
        assert_eq!(of("a=b; milepost_session=abc-1; c=d").as_deref(), Some("abc-1"));
        for line in ["milepost_session=", "milepost_sessions=abc", "milepost_session=a b", "abc"] {
            assert_eq!(of(line), None, "{line}");
        }
        assert!(keep(Some("abc"), true).ends_with("HttpOnly; SameSite=Strict; Secure"));
        assert!(keep(None, false).ends_with("SameSite=Strict; Max-Age=0"));
        assert!(!is_token("abc; Path=/") && !is_token(&"a".repeat(201)));
    }

    #[test]
    fn forms_of_other_sites_are_none_of_ours() {
        let here = |pairs: &[(&'static str, &str)]| is_from_here(&Method::POST, &headers(pairs));
        let host = ("host", "localhost:8080");
        assert!(here(&[host, ("sec-fetch-site", "same-origin")]));
        assert!(here(&[host, ("origin", "http://localhost:8080")]));
        for site in ["cross-site", "same-site", "none"] {
            assert!(!here(&[host, ("sec-fetch-site", site), ("origin", "http://localhost:8080")]), "{site}");
        }
        for origin in ["http://evil.example", "null", "http://localhost:8081"] {
            assert!(!here(&[host, ("origin", origin)]), "{origin}");
        }
        assert!(!here(&[host]), "whoever does not say where it comes from");
        assert!(is_from_here(&Method::GET, &headers(&[("sec-fetch-site", "cross-site")])));
    }
}
