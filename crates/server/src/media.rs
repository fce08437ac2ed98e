//! Media types: what a body is, and what a caller wants to read.

use axum::http::{HeaderMap, header};
use model::{Code, Refusal};

use crate::problem::quote;

/// The body's type, one of `taken`. Text in another charset than UTF-8 is another type.
pub(crate) fn require(headers: &HeaderMap, taken: &[&'static str]) -> Result<&'static str, Refusal> {
    let given = headers.get(header::CONTENT_TYPE).map_or("", |value| value.to_str().unwrap_or(""));
    let (essence, parameters) = split(given);
    let charset = parameters.iter().find(|(name, _)| name == "charset");
    let utf8 = charset.is_none_or(|(_, value)| value.eq_ignore_ascii_case("utf-8"));
    let found = taken.iter().find(|taken| **taken == essence).filter(|_| utf8);
    found.copied().ok_or_else(|| {
        let list = taken.join(" or ");
        let said =
            if given.is_empty() { "none was given".to_owned() } else { format!("not {}", quote(given)) };
        Refusal::new(Code::UnsupportedMediaType, format!("send `Content-Type: {list}` (UTF-8); {said}"))
            .with("accept", taken.to_vec())
    })
}

/// Returns which of `offers` the caller likes best. The first is for those who do not say, or like none.
pub(crate) fn preferred(headers: &HeaderMap, offers: &[&'static str]) -> &'static str {
    let mut best = (0.0, offers[0]);
    for line in headers.get_all(header::ACCEPT) {
        for range in line.to_str().unwrap_or("").split(',') {
            let (essence, parameters) = split(range);
            let weight = parameters.iter().find(|(name, _)| name == "q");
            let weight = weight.map_or(1.0, |(_, value)| value.parse().unwrap_or(0.0));
            if let Some(offer) = offers.iter().find(|offer| matches(&essence, offer))
                && weight > best.0
            {
                best = (weight, offer);
            }
        }
    }
    best.1
}

fn matches(range: &str, offer: &str) -> bool {
    range == offer || range == "*/*"
}

fn split(given: &str) -> (String, Vec<(String, String)>) {
    let mut parts = given.split(';').map(str::trim);
    let essence = parts.next().unwrap_or_default().to_ascii_lowercase();
    let parameters = parts
        .filter_map(|part| part.split_once('='))
        .map(|(name, value)| (name.trim().to_ascii_lowercase(), value.trim().trim_matches('"').to_owned()));
    (essence, parameters.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: header::HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, value.parse().unwrap())])
    }

    #[test]
    fn the_weightiest_offer_wins() {
        let offers = &["application/json", "application/toml", "text/vnd.mermaid"];
        for (accept, wanted) in [
            ("*/*", "application/json"),
            ("application/toml", "application/toml"),
            ("text/html, application/toml;q=0.5, text/vnd.mermaid;q=0.9", "text/vnd.mermaid"),
            ("image/png", "application/json"),
            ("application/toml;q=0, */*;q=0.1", "application/json"),
            ("APPLICATION/TOML", "application/toml"),
        ] {
            assert_eq!(preferred(&with(header::ACCEPT, accept), offers), wanted, "{accept}");
        }
        assert_eq!(preferred(&HeaderMap::new(), offers), "application/json");
    }

    #[test]
    fn a_body_says_what_it_is() {
        let json = &["application/json"];
        for given in
            ["application/json", "Application/JSON; charset=UTF-8", "application/json;charset=\"utf-8\""]
        {
            assert!(require(&with(header::CONTENT_TYPE, given), json).is_ok(), "{given}");
        }
        for given in ["text/plain", "application/json; charset=latin1", "application/jsonp", ""] {
            let refusal = require(&with(header::CONTENT_TYPE, given), json).unwrap_err();
            assert_eq!(refusal.code, Code::UnsupportedMediaType, "{given}");
        }
        assert!(require(&HeaderMap::new(), json).is_err());
    }
}
