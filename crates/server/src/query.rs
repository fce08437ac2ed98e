//! Query strings: every parameter known, none twice, none empty.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;

use axum::extract::Query;
use axum::http::Uri;
use model::{Name, Refusal};

use crate::problem::{invalid, quote};

/// Ends the names that stand for many: `label.K` is `label.` and any `K`.
const PREFIX_END: char = '.';
const LIMIT_MAX: usize = 1_000;
const LIMIT_DEFAULT: usize = 50;

#[derive(Debug)]
pub(crate) struct Params(BTreeMap<String, String>);

impl Params {
    /// `known` are the names taken here; one that ends with a dot is a prefix.
    pub(crate) fn read(uri: &Uri, known: &[&str]) -> Result<Self, Refusal> {
        let Query(pairs) = Query::<Vec<(String, String)>>::try_from_uri(uri)
            .map_err(|_| invalid("the query string cannot be read; percent-encode its values"))?;
        let mut params = BTreeMap::new();
        for (name, value) in pairs {
            if !known.iter().any(|known| is(known, &name)) {
                return Err(unknown(&name, known));
            }
            if value.is_empty() {
                return Err(invalid(format!("the query parameter {} is empty; leave it out", quote(&name))));
            }
            if params.insert(name.clone(), value).is_some() {
                return Err(invalid(format!("the query parameter {} is given twice", quote(&name))));
            }
        }
        Ok(Params(params))
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    pub(crate) fn name(&self, name: &str) -> Option<Name> {
        self.get(name).map(Name::from)
    }

    pub(crate) fn parse<T: FromStr<Err: Display>>(&self, name: &str) -> Result<Option<T>, Refusal> {
        let parsed = self.get(name).map(|value| {
            value.parse().map_err(|error| invalid(format!("`{name}` cannot be {}: {error}", quote(value))))
        });
        parsed.transpose()
    }

    pub(crate) fn limit(&self) -> Result<usize, Refusal> {
        match self.parse("limit")?.unwrap_or(LIMIT_DEFAULT) {
            limit @ 1..=LIMIT_MAX => Ok(limit),
            _ => Err(invalid(format!("`limit` must be between 1 and {LIMIT_MAX}"))),
        }
    }

    /// The parameters under a prefix, without it.
    pub(crate) fn under(&self, prefix: &str) -> BTreeMap<Name, Name> {
        let found = self.0.iter().filter_map(|(name, value)| Some((name.strip_prefix(prefix)?, value)));
        found.map(|(name, value)| (name.into(), value.as_str().into())).collect()
    }
}

fn is(known: &str, name: &str) -> bool {
    match known.ends_with(PREFIX_END) {
        true => name.len() > known.len() && name.starts_with(known),
        false => name == known,
    }
}

fn unknown(name: &str, known: &[&str]) -> Refusal {
    let shown = known
        .iter()
        .map(|known| if known.ends_with(PREFIX_END) { format!("{known}K") } else { (*known).into() });
    let list: Vec<String> = shown.collect();
    let there_is = if list.is_empty() { "none".to_owned() } else { list.join(", ") };
    invalid(format!("no query parameter {} here; there is {there_is}", quote(name))).with("known", list)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[&str] = &["state", "limit", "label."];

    fn read(query: &str) -> Result<Params, Refusal> {
        Params::read(&format!("/x?{query}").parse().unwrap(), KNOWN)
    }

    #[test]
    fn known_parameters_are_read() {
        let params = read("state=A%20B&label.owner=x%26y&label.a.b=c").unwrap();
        assert_eq!(params.get("state"), Some("A B"));
        let labels = params.under("label.");
        assert_eq!(labels.get("owner").map(|value| &**value), Some("x&y"));
        assert_eq!(labels.get("a.b").map(|value| &**value), Some("c"));
        assert_eq!(params.limit().unwrap(), 50);
    }

    #[test]
    fn anything_else_is_refused_and_the_known_ones_are_listed() {
        for query in ["stat=A", "label=A", "label.=A", "state=A&state=B", "state=", "State=A"] {
            assert!(read(query).is_err(), "{query}");
        }
        let refusal = read("stat=A").unwrap_err();
        assert_eq!(refusal.details["known"], serde_json::json!(["state", "limit", "label.K"]));
        for limit in ["0", "1001", "-1", "x", "1.5"] {
            assert!(read(&format!("limit={limit}")).unwrap().limit().is_err(), "{limit}");
        }
        assert_eq!(read("limit=1000").unwrap().limit().unwrap(), 1_000);
    }
}
