//! Checks that a request to an open server was meant for this machine.
//!
//! A page anywhere can have a browser on this machine send requests here. A name it made point to 127.0.0.1 shows in
//! `Host`; a request across origins that changes something shows in `Origin`.

use axum::http::uri::Authority;
use axum::http::{HeaderMap, Method, Uri, header};
use model::{Code, Refusal};

use crate::problem::quote;

pub(super) fn check(method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
    let host = text(headers, &header::HOST).unwrap_or_default();
    let named = uri.authority().map_or(host, Authority::as_str);
    if !is_local(host) || !is_local(named) {
        return Err(Refusal::new(
            Code::ForbiddenHost,
            format!("this server has no tokens yet and answers to localhost only, not to {}", quote(host)),
        ));
    }
    if method.is_safe() || !headers.contains_key(header::ORIGIN) {
        return Ok(());
    }
    let origin = text(headers, &header::ORIGIN).unwrap_or_default();
    let from = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    if from.is_some_and(|from| from.eq_ignore_ascii_case(host)) {
        return Ok(());
    }
    Err(Refusal::new(
        Code::ForbiddenHost,
        format!("this server has no tokens yet and takes no changes from pages of {}", quote(origin)),
    ))
}

/// The header's one value.
fn text<'h>(headers: &'h HeaderMap, name: &header::HeaderName) -> Option<&'h str> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}

fn is_local(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    name.eq_ignore_ascii_case("localhost") || name == "127.0.0.1" || name == "[::1]"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_with(method: &Method, uri: &str, pairs: &[(header::HeaderName, &str)]) -> bool {
        let headers = pairs.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect();
        check(method, &uri.parse().unwrap(), &headers).is_ok()
    }

    #[test]
    fn only_the_names_of_this_machine_are_answered_to() {
        let get = |host: &str| check_with(&Method::GET, "/", &[(header::HOST, host)]);
        for host in ["localhost", "LocalHost:80", "127.0.0.1:8080", "[::1]:8080", "[::1]"] {
            assert!(get(host), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "evil.example:8080",
            "localhost.evil.example",
            "127.0.0.1.nip.io",
            "[::2]:1",
            "127.0.0.1:80:80",
            "::1",
        ] {
            assert!(!get(host), "{host}");
        }
        assert!(!check_with(&Method::GET, "/", &[]));
        assert!(!check_with(
            &Method::GET,
            "/",
            &[(header::HOST, "localhost"), (header::HOST, "evil.example")]
        ));
        assert!(!check_with(&Method::GET, "http://evil.example/", &[(header::HOST, "localhost")]));
    }

    #[test]
    fn changes_are_taken_from_no_other_origin() {
        let from = |method: &Method, origin: &str| {
            check_with(method, "/", &[(header::HOST, "localhost:8080"), (header::ORIGIN, origin)])
        };
        assert!(from(&Method::POST, "http://localhost:8080"));
        for origin in [
            "http://evil.example",
            "null",
            "",
            "http://localhost:3000",
            "http://127.0.0.1:8080",
            "ftp://localhost:8080",
        ] {
            assert!(!from(&Method::POST, origin), "{origin}");
            assert!(!from(&Method::PUT, origin), "{origin}");
            assert!(from(&Method::GET, origin), "{origin}");
        }
    }
}
