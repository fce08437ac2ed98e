//! The language of the filter bar: terms such as `state:REVIEW`, `label.owner:acme`, `age>2d` and `stuck>1h`, which are the address of
//! a list as well.

use app::Query;
use wire::{Millis, SubmissionId, Time};

/// A filter as it was typed, and what it asks for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Filter {
    pub(crate) terms: Vec<Term>,
    pub(crate) query: Query,
    /// The terms that could not be understood, as sentences.
    pub(crate) problems: Vec<String>,
    /// A word alone: an id, the beginning of one, or a key.
    pub(crate) word: Option<String>,
}

/// One condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Term {
    pub(crate) key: String,
    pub(crate) value: String,
    pub(crate) sign: char,
}

impl std::fmt::Display for Term {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.sign {
            ':' => f.write_str(&term(&self.key, &self.value)),
            sign => write!(f, "{}{sign}{}", quoted(&self.key), quoted(&self.value)),
        }
    }
}

/// Writes a condition as it is read.
pub(crate) fn term(key: &str, value: &str) -> String {
    format!("{}:{}", quoted(key), quoted(value))
}

fn quoted(value: &str) -> String {
    let plain = !value.is_empty() && !value.contains(|c: char| c.is_whitespace() || c == '"' || c == '\\');
    if plain { value.to_owned() } else { format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\"")) }
}

/// Filters are short; the rest of a longer one is left out.
const TERMS_MAX: usize = 24;

impl Filter {
    pub(crate) fn read(text: &str, now: Time) -> Filter {
        let mut filter = Filter::default();
        for word in words(text).into_iter().take(TERMS_MAX) {
            let sign = word.find([':', '>', '<']).filter(|at| *at > 0);
            let Some(at) = sign else {
                filter.bare(&word);
                continue;
            };
            let (key, rest) = word.split_at(at);
            let mut rest = rest.chars();
            let sign = rest.next().unwrap_or(':');
            let term = Term { key: key.to_owned(), value: rest.collect(), sign };
            if let Err(problem) = filter.take(&term, now) {
                filter.problems.push(problem);
            }
            filter.terms.push(term);
        }
        // With other terms it is one of them.
        filter.word = filter.word.take().filter(|_| filter.terms.len() == 1);
        filter
    }

    /// Takes a word without a name: a key, unless it stands alone and may be the beginning of an id.
    fn bare(&mut self, word: &str) {
        self.word = Some(word.to_owned()).filter(|_| self.terms.is_empty());
        self.query.key = Some(word.into());
        self.terms.push(Term { key: "key".to_owned(), value: word.to_owned(), sign: ':' });
    }

    fn take(&mut self, term: &Term, now: Time) -> Result<(), String> {
        let Term { key, value, sign } = term;
        let wrong = |what: &str| format!("{} is no {what}", app::quote(value));
        let query = &mut self.query;
        if value.is_empty() {
            return Err(format!("`{key}` needs a value, as in `{key}:VALUE`"));
        }
        match (&**key, sign) {
            ("pipeline", ':') => query.pipeline = Some(value.as_str().into()),
            ("state", ':') => query.state = Some(value.as_str().into()),
            ("key", ':') => query.key = Some(value.as_str().into()),
            ("lane", ':') => query.lane = Some(value.as_str().into()),
            ("status", ':') => query.status = Some(value.parse()?),
            ("investigation", ':') => query.investigation = Some(value.parse()?),
            ("parent", ':') => query.parent = Some(value.parse().map_err(|_| wrong("submission's id"))?),
            ("error", ':') => query.narrowed.error = Some(value.as_str().into()),
            ("fingerprint", ':') => query.narrowed.fingerprint = Some(value.parse()?),
            ("worker", ':') => query.narrowed.worker = Some(value.as_str().into()),
            ("id", ':') => {
                let range = SubmissionId::beginning_with(value);
                query.ids = Some(range.ok_or_else(|| wrong("beginning of a submission's id"))?);
            }
            ("before", ':') => query.created_before = Some(value.parse().map_err(|_| wrong("time"))?),
            ("after", ':') => query.created_after = Some(value.parse().map_err(|_| wrong("time"))?),
            ("since", ':') => {
                query.narrowed.entered_before = Some(value.parse().map_err(|_| wrong("time"))?);
            }
            ("age" | "stuck", '>' | '<') => {
                let span: Millis = value.parse().map_err(|_| wrong("span, such as 2d or 30m"))?;
                let since = Some(now.minus(span));
                match (&**key, sign) {
                    ("age", '>') => query.created_before = since,
                    ("age", _) => query.created_after = since,
                    (_, '>') => query.narrowed.entered_before = since,
                    _ => return Err("`stuck` takes `>`: in its state for longer than that".to_owned()),
                }
            }
            (label, ':') if label.strip_prefix("label.").is_some_and(|name| !name.is_empty()) => {
                query.labels.insert(label["label.".len()..].into(), value.as_str().into());
            }
            _ => return Err(format!("{} cannot be filtered by", app::quote(&term.to_string()))),
        }
        Ok(())
    }

    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.terms.iter().find(|term| term.key == key && term.sign == ':').map(|term| &*term.value)
    }

    /// Writes the filter with one condition set anew; an empty value leaves it out.
    pub(crate) fn with(&self, key: &str, value: &str) -> String {
        let kept = self.terms.iter().filter(|term| term.key != key).map(Term::to_string);
        let set = Some(term(key, value)).filter(|_| !value.is_empty());
        kept.chain(set).collect::<Vec<_>>().join(" ")
    }

    pub(crate) fn text(&self) -> String {
        self.terms.iter().map(Term::to_string).collect::<Vec<_>>().join(" ")
    }

    /// Writes the filter as the API takes it.
    pub(crate) fn fields(&self) -> Vec<(String, String)> {
        let at = |time: Time| time.to_string();
        let fields = self.terms.iter().filter_map(|term| match (&*term.key, term.sign) {
            ("age", '>') | ("before", _) => {
                Some(("created_before".to_owned(), self.query.created_before.map(at)?))
            }
            ("age", _) | ("after", _) => {
                Some(("created_after".to_owned(), self.query.created_after.map(at)?))
            }
            ("stuck" | "since", _) => {
                Some(("entered_before".to_owned(), self.query.narrowed.entered_before.map(at)?))
            }
            (key, ':') => Some((key.to_owned(), term.value.clone())),
            _ => None,
        });
        fields.collect()
    }
}

/// Splits a text at blanks that are not within quotes.
fn words(text: &str) -> Vec<String> {
    let (mut words, mut word, mut within, mut escaped) = (Vec::new(), String::new(), false, false);
    for c in text.chars() {
        match c {
            _ if escaped => {
                word.push(c);
                escaped = false;
            }
            '\\' if within => escaped = true,
            '"' => within = !within,
            c if c.is_whitespace() && !within => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            c => word.push(c),
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Filter {
        Filter::read(text, Time::from_millis(10_000_000))
    }

    #[test]
    fn a_filter_reads_back_as_it_was_written() {
        for text in [
            "state:REVIEW label.owner:acme age>2h",
            "key:\"two words\" label.\"odd\\\"one\":x",
            "pipeline:skill-review status:dead lane:\"a\\\\b\"",
        ] {
            let filter = read(text);
            assert!(filter.problems.is_empty(), "{:?}", filter.problems);
            assert_eq!(read(&filter.text()).terms, filter.terms, "{text}");
        }
        let filter = read("state:A label.owner:acme age>2h");
        assert_eq!(filter.query.state.as_deref(), Some("A"));
        assert_eq!(filter.query.labels.get("owner").map(|value| &**value), Some("acme"));
        assert_eq!(filter.query.created_before, Some(Time::from_millis(2_800_000)));
        assert_eq!(filter.with("state", "B"), "label.owner:acme age>2h state:B");
        assert_eq!(filter.with("age", ""), "state:A label.owner:acme");
    }

    #[test]
    fn a_word_alone_may_be_an_id_its_beginning_or_a_key() {
        for word in ["019a9b2c-0000-7000-8000-000000000000", "019a9b2c", "order-17"] {
            assert_eq!(read(word).word.as_deref(), Some(word));
        }
        let two = read("state:A order-17");
        assert_eq!((two.word, two.query.key.as_deref()), (None, Some("order-17")));
        assert!(read("id:019a9b2c").query.ids.is_some());
    }

    #[test]
    fn what_is_not_understood_is_said() {
        for text in [
            "colour:red",
            "status:great",
            "age>soon",
            "age:2d",
            "state:",
            "parent:x",
            "label.:x",
            "stuck<2h",
            "id:x",
        ] {
            assert_eq!(read(text).problems.len(), 1, "{text}");
        }
    }
}
