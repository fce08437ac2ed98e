//! `[public.PIPELINE]`: the pipelines that everybody may submit to, and how.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use app::public::PublicPipeline;
use model::Pipeline;
use model::owed::DELIVERY;
use toml::de::{DeTable, DeValue};

use super::file::{Fault, line_of};

/// The table of the file that holds them.
pub(crate) const PUBLIC: &str = "public";

const KEYS: [&str; 8] = ["title", "intro", "thanks", "fields", "states", "metadata", "rate", "rate-all"];
/// Submissions a minute: of a person, and of everybody.
const RATE: u32 = 6;
const RATE_ALL: u32 = 60;
const RATE_MAX: u32 = 60_000;
/// The most bytes of a text.
const TEXT_BYTES_MAX: usize = 8_000;
const LIST_MAX: usize = 100;

/// The pipelines that the file makes public, with the line of each.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Public {
    pipelines: Vec<(usize, PublicPipeline)>,
    /// The keys that are set, with line and value.
    set: Vec<(String, usize, String)>,
}

impl Public {
    pub(super) fn read(text: &str, value: &DeValue<'_>, at: &Range<usize>) -> (Public, Vec<Fault>) {
        let mut reader = Reader { text, faults: Vec::new(), set: Vec::new() };
        let mut pipelines = Vec::new();
        match value {
            DeValue::Table(tables) => {
                for (name, value) in tables {
                    let line = line_of(text, &name.span());
                    let DeValue::Table(table) = value.get_ref() else {
                        let message =
                            format!("`{PUBLIC}.{0}` is a table: write `[{PUBLIC}.{0}]`", name.get_ref());
                        reader.faults.push(Fault { line, message });
                        continue;
                    };
                    if name.get_ref() == DELIVERY {
                        let message = format!("`{DELIVERY}` is the engine's own: nobody submits to it");
                        reader.faults.push(Fault { line, message });
                    }
                    pipelines.push((line, reader.pipeline(name.get_ref(), table)));
                }
            }
            _ => {
                let message = format!("`{PUBLIC}` holds a table for each pipeline: [{PUBLIC}.PIPELINE]");
                reader.faults.push(Fault { line: line_of(text, at), message });
            }
        }
        (Public { pipelines, set: reader.set }, reader.faults)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pipelines.is_empty()
    }

    /// Counts the pipelines and what is set for them.
    pub(crate) fn count(&self) -> usize {
        self.pipelines.len() + self.set.len()
    }

    pub(crate) fn pipelines(&self) -> impl Iterator<Item = &PublicPipeline> {
        self.pipelines.iter().map(|(_, public)| public)
    }

    /// Each key under its whole name, with its line and its value.
    pub(crate) fn each(&self) -> impl Iterator<Item = &(String, usize, String)> {
        self.set.iter()
    }

    /// Lists what does not fit the pipelines there are. One that is not among them may be applied later, unless its name looks
    /// like a slip.
    pub(crate) fn faults(&self, pipelines: &[Arc<Pipeline>]) -> Vec<Fault> {
        let mut faults = Vec::new();
        for (line, public) in &self.pipelines {
            let mut wrong = |message: String| faults.push(Fault { line: *line, message });
            let names = || pipelines.iter().map(|pipeline| &*pipeline.name);
            match pipelines.iter().find(|pipeline| pipeline.name == public.name) {
                Some(pipeline) => check(public, pipeline).into_iter().for_each(wrong),
                None => {
                    if let Some(near) = model::expr::nearest(&public.name, names()) {
                        wrong(format!("there is no pipeline `{}`; did you mean `{near}`?", public.name));
                    }
                }
            }
        }
        faults
    }
}

/// Lists what does not fit a pipeline: states and fields that it does not have, and fields that nobody could leave out.
fn check(public: &PublicPipeline, pipeline: &Pipeline) -> Vec<String> {
    let of = &pipeline.name;
    let states = public.states.keys().filter(|state| pipeline.state(state).is_none());
    let mut wrong: Vec<String> =
        states.map(|state| format!("the pipeline `{of}` has no state `{state}`")).collect();
    let Some(fields) = &public.fields else { return wrong };
    let schema = pipeline.payload.as_ref().map(|schema| schema.source());
    let schema: serde_json::Value =
        schema.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let Some(known) = schema["properties"].as_object() else {
        wrong.push(format!("`fields` names members of the payload, and the schema of `{of}` declares none"));
        return wrong;
    };
    for field in fields.iter().filter(|field| !known.contains_key(*field)) {
        wrong.push(format!("the payload of `{of}` has no field `{field}`"));
    }
    let required = schema["required"].as_array().into_iter().flatten().filter_map(serde_json::Value::as_str);
    for name in required.filter(|name| !fields.iter().any(|field| field == name)) {
        wrong.push(format!(
            "the payload of `{of}` must have `{name}`, and `fields` leaves it out: nobody could submit"
        ));
    }
    wrong
}

struct Reader<'a> {
    text: &'a str,
    faults: Vec<Fault>,
    set: Vec<(String, usize, String)>,
}

impl Reader<'_> {
    fn pipeline(&mut self, name: &str, table: &DeTable<'_>) -> PublicPipeline {
        let mut public =
            PublicPipeline { name: name.into(), rate: RATE, rate_all: RATE_ALL, ..PublicPipeline::default() };
        for (key, value) in table {
            let (key, line) = (key.get_ref().as_ref(), line_of(self.text, &key.span()));
            match take(&mut public, key, value.get_ref()) {
                Ok(shown) => self.set.push((format!("{PUBLIC}.{name}.{key}"), line, shown)),
                Err(wanted) => {
                    let message = match KEYS.contains(&key) {
                        true => format!("`{PUBLIC}.{name}.{key}` takes {wanted}"),
                        false => unknown(name, key),
                    };
                    self.faults.push(Fault { line, message });
                }
            }
        }
        public
    }
}

fn unknown(name: &str, key: &str) -> String {
    let shown: String = key.chars().take(60).collect();
    let message = format!("there is no setting `{PUBLIC}.{name}.{shown}`");
    match model::expr::nearest(key, KEYS) {
        Some(near) => format!("{message}; did you mean `{near}`?"),
        None => format!("{message}; there is {}", KEYS.join(", ")),
    }
}

/// Takes one key, and returns its value as it is shown; or says what it takes.
fn take(public: &mut PublicPipeline, key: &str, value: &DeValue<'_>) -> Result<String, String> {
    match key {
        "title" => public.title = Some(text(value)?),
        "intro" => public.intro = text(value)?,
        "thanks" => public.thanks = text(value)?,
        "fields" => public.fields = Some(list(value)?),
        "metadata" => public.metadata = list(value)?.into_iter().map(Into::into).collect(),
        "states" => public.states = words(value)?,
        "rate" => public.rate = rate(value)?,
        "rate-all" => public.rate_all = rate(value)?,
        _ => return Err(String::new()),
    }
    Ok(match value {
        DeValue::String(text) => text.to_string(),
        DeValue::Integer(number) => number.as_str().to_owned(),
        DeValue::Array(_) => list(value)?.join(", "),
        _ => words(value)?
            .iter()
            .map(|(state, words)| format!("{state}: {words}"))
            .collect::<Vec<_>>()
            .join(", "),
    })
}

fn text(value: &DeValue<'_>) -> Result<String, String> {
    match value {
        DeValue::String(text) if text.len() <= TEXT_BYTES_MAX && !text.trim().is_empty() => {
            Ok(text.to_string())
        }
        _ => Err(format!("a text of up to {TEXT_BYTES_MAX} bytes")),
    }
}

fn list(value: &DeValue<'_>) -> Result<Vec<String>, String> {
    let wanted = || format!("a list of 1 to {LIST_MAX} names");
    let DeValue::Array(values) = value else { return Err(wanted()) };
    let names: Result<Vec<String>, String> =
        values.iter().map(|value| text(value.get_ref()).map_err(|_| wanted())).collect();
    names.and_then(|names| if (1..=LIST_MAX).contains(&names.len()) { Ok(names) } else { Err(wanted()) })
}

fn words(value: &DeValue<'_>) -> Result<BTreeMap<model::Name, String>, String> {
    let wanted = || "a table of states and the words for them: { REVIEW = \"With a person\" }".to_owned();
    let DeValue::Table(table) = value else { return Err(wanted()) };
    let word = |(state, words): (&toml::Spanned<_>, &toml::Spanned<DeValue<'_>>)| -> Result<_, String> {
        let state: &std::borrow::Cow<'_, str> = state.get_ref();
        Ok((state.as_ref().into(), text(words.get_ref()).map_err(|_| wanted())?))
    };
    table.iter().map(word).collect()
}

fn rate(value: &DeValue<'_>) -> Result<u32, String> {
    let wanted = || format!("a whole number from 1 to {RATE_MAX}: submissions a minute");
    let DeValue::Integer(number) = value else { return Err(wanted()) };
    let number = u32::from_str_radix(number.as_str(), number.radix()).map_err(|_| wanted())?;
    if (1..=RATE_MAX).contains(&number) { Ok(number) } else { Err(wanted()) }
}

#[cfg(test)]
mod tests {
    use model::pipeline::{Source, load};

    use super::*;
    use crate::settings::ConfigFile;

    const NOTE: &str = "name = \"note\"\nversion = 1\nstart = \"DONE\"\npayload = \"note.json\"\n[states.DONE]\nfinal = \"success\"\n";
    const SCHEMA: &str = r#"{"type":"object","required":["a"],"properties":{"a":{},"b":{}}}"#;

    fn note() -> Arc<Pipeline> {
        let files = [("note.json".to_owned(), SCHEMA.to_owned())].into();
        Arc::new(load(&Source { files, ..Source::new("note.toml", NOTE) }).unwrap())
    }

    #[test]
    fn a_pipeline_is_public_by_its_table() {
        let text = "listen = \"0.0.0.0:80\"\n[public.note]\ntitle = \"Notes\"\nfields = [\"a\"]\nrate = 2\n\
                    [public.note.states]\nDONE = \"All done\"\n[public.other]\n";
        let file = ConfigFile::parse(text);
        assert_eq!(file.faults, []);
        let publics: Vec<_> = file.public.pipelines().collect();
        assert_eq!(
            (publics.len(), publics[0].rate, publics[0].rate_all, publics[1].rate),
            (2, 2, RATE_ALL, RATE)
        );
        assert_eq!(publics[0].states.get("DONE").map(String::as_str), Some("All done"));
        assert_eq!(file.public.faults(&[note()]), []);
        let shown: Vec<_> =
            file.public.each().map(|(name, line, value)| (name.as_str(), *line, value.as_str())).collect();
        assert!(shown.contains(&("public.note.title", 3, "Notes")), "{shown:?}");
        assert!(shown.contains(&("public.note.states", 6, "DONE: All done")), "{shown:?}");
        assert!(ConfigFile::parse("").public.is_empty(), "off by default");
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let lines = |text: &str| {
            let faults = ConfigFile::parse(text).faults;
            faults.into_iter().map(|fault| (fault.line, fault.message)).collect::<Vec<_>>()
        };
        let found = lines(
            "[public.note]\ntitel = \"x\"\nrate = 0\nfields = \"a\"\nstates = { DONE = 1 }\n[public.delivery]\n",
        );
        assert_eq!(found.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [2, 3, 4, 5, 6], "{found:?}");
        assert!(found[0].1.contains("did you mean `title`?"), "{found:?}");
        assert!(lines("public = 1\n")[0].1.contains("[public.PIPELINE]"));
        assert!(lines("[public]\nnote = 1\n")[0].1.contains("[public.note]"));
    }

    #[test]
    fn what_does_not_fit_the_pipeline_is_named() {
        let faults = |text: &str| {
            let file = ConfigFile::parse(text);
            assert_eq!(file.faults, []);
            file.public
                .faults(&[note()])
                .into_iter()
                .map(|fault| fault.message)
                .collect::<Vec<_>>()
                .join("; ")
        };
        let found = faults("[public.note]\nfields = [\"b\", \"c\"]\nstates = { GONE = \"x\" }\n");
        for wanted in ["no state `GONE`", "no field `c`", "must have `a`"] {
            assert!(found.contains(wanted), "{wanted}: {found}");
        }
        assert!(faults("[public.notes]\n").contains("did you mean `note`?"));
        assert_eq!(faults("[public.applied-later]\n"), "");
    }
}
