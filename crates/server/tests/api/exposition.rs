//! The text of OpenMetrics 1.0, read strictly: whatever a scraper could stumble over is a panic here.

use std::collections::{BTreeMap, BTreeSet};

pub(crate) type Labels = BTreeMap<String, String>;

#[derive(Debug, Default)]
pub(crate) struct Scrape {
    pub(crate) families: BTreeMap<String, Family>,
}

#[derive(Debug, Default)]
pub(crate) struct Family {
    pub(crate) kind: String,
    pub(crate) help: String,
    unit: String,
    /// By the sample's whole name and its labels.
    pub(crate) samples: BTreeMap<(String, Labels), f64>,
}

impl Scrape {
    pub(crate) fn parse(text: &str) -> Scrape {
        let body = text.strip_suffix("# EOF\n").expect("the last line is the end");
        assert!(!body.contains("# EOF"), "there is one end");
        let (mut scrape, mut current) = (Scrape::default(), String::new());
        for line in body.strip_suffix('\n').unwrap_or(body).split('\n') {
            match line.strip_prefix("# ") {
                Some(about) => scrape.about(about, &mut current),
                None => scrape.sample(line, &current),
            }
        }
        scrape.families.iter().for_each(|(name, family)| family.check(name));
        scrape
    }

    fn about(&mut self, about: &str, current: &mut String) {
        let (word, rest) = about.split_once(' ').unwrap();
        let (name, value) = rest.split_once(' ').unwrap();
        if name != current {
            assert!(!self.families.contains_key(name), "{name} comes twice");
            assert!(is_name(name), "{name} is no name");
            *current = name.to_owned();
        }
        let family = self.families.entry(name.to_owned()).or_default();
        assert!(family.samples.is_empty(), "{name} is described after its samples");
        let place = match word {
            "HELP" => &mut family.help,
            "TYPE" => &mut family.kind,
            "UNIT" => &mut family.unit,
            _ => panic!("{about} says nothing known"),
        };
        assert!(place.is_empty() && !value.is_empty(), "{about} comes twice or is empty");
        value.clone_into(place);
    }

    fn sample(&mut self, line: &str, current: &str) {
        let (name, labels, value) = split(line);
        let family = self.families.get_mut(current).unwrap_or_else(|| panic!("nothing describes {line}"));
        let ending = name.strip_prefix(current).unwrap_or_else(|| panic!("{name} is not of {current}"));
        let endings: &[&str] = match family.kind.as_str() {
            "counter" => &["_total"],
            "gauge" => &[""],
            "histogram" => &["_bucket", "_sum", "_count"],
            "info" => &["_info"],
            kind => panic!("{kind} is no type"),
        };
        assert!(endings.contains(&ending), "{name} is no sample of a {}", family.kind);
        let value: f64 = value.parse().unwrap_or_else(|_| panic!("{line} has no value"));
        assert!(family.kind == "gauge" || value >= 0.0, "{line} is below zero");
        let before = family.samples.insert((name.to_owned(), labels), value);
        assert!(before.is_none(), "{line} comes twice");
    }

    /// The value of one sample.
    #[track_caller]
    pub(crate) fn value(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        self.find(name, labels).unwrap_or_else(|| panic!("no {name} with {labels:?}"))
    }

    pub(crate) fn find(&self, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
        let labels: Labels = labels.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        self.families
            .values()
            .find_map(|family| family.samples.get(&(name.to_owned(), labels.clone())).copied())
    }

    /// All samples of all families.
    pub(crate) fn samples(&self) -> impl Iterator<Item = &(String, Labels)> {
        self.families.values().flat_map(|family| family.samples.keys())
    }
}

impl Family {
    /// The names of the labels its samples have, without the bound of a bucket.
    pub(crate) fn label_names(&self) -> BTreeSet<&str> {
        self.samples
            .keys()
            .flat_map(|(_, labels)| labels.keys())
            .map(String::as_str)
            .filter(|name| *name != "le")
            .collect()
    }

    fn check(&self, name: &str) {
        assert!(!self.kind.is_empty() && !self.help.is_empty(), "{name} is not described");
        assert!(!self.samples.is_empty(), "{name} has no samples");
        assert!(
            self.unit.is_empty() || name.ends_with(&format!("_{}", self.unit)),
            "{name} and {}",
            self.unit
        );
        if self.kind == "histogram" {
            self.check_histogram(name);
        }
    }

    fn check_histogram(&self, name: &str) {
        let mut series: BTreeMap<Labels, Vec<(f64, f64)>> = BTreeMap::new();
        for ((sample, labels), value) in &self.samples {
            let mut labels = labels.clone();
            let bound = labels.remove("le");
            assert_eq!(sample.ends_with("_bucket"), bound.is_some(), "{sample} {labels:?}");
            let buckets = series.entry(labels).or_default();
            if let Some(bound) = bound {
                buckets.push((if bound == "+Inf" { f64::INFINITY } else { bound.parse().unwrap() }, *value));
            }
        }
        for (labels, mut buckets) in series {
            buckets.sort_by(|one, other| one.0.total_cmp(&other.0));
            assert!(buckets.is_sorted_by(|one, next| one.1 <= next.1), "{name} {labels:?} goes down");
            let (bound, all) = *buckets.last().unwrap();
            let of = |ending: &str| self.samples[&(format!("{name}{ending}"), labels.clone())];
            assert_eq!((bound, all), (f64::INFINITY, of("_count")), "{name} {labels:?}");
            assert!(all > 0.0 || of("_sum") == 0.0, "{name} {labels:?}");
        }
    }
}

fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    name.chars().all(plain) && name.starts_with(|c: char| c.is_ascii_lowercase())
}

/// The name, labels and value of a sample.
fn split(line: &str) -> (&str, Labels, &str) {
    let end = line.find(['{', ' ']).unwrap_or_else(|| panic!("{line} is no sample"));
    let (name, mut rest) = line.split_at(end);
    let mut labels = Labels::new();
    if let Some(inside) = rest.strip_prefix('{') {
        rest = inside;
        loop {
            let (label, after) = rest.split_once("=\"").unwrap_or_else(|| panic!("{line}"));
            assert!(is_name(label), "{label} is no name of a label");
            let (value, after) = unquoted(after);
            assert!(labels.insert(label.to_owned(), value).is_none(), "{label} comes twice in {line}");
            match after.strip_prefix(',') {
                Some(more) => rest = more,
                None => {
                    rest = after.strip_prefix('}').unwrap_or_else(|| panic!("{line}"));
                    break;
                }
            }
        }
    }
    (name, labels, rest.strip_prefix(' ').unwrap_or_else(|| panic!("{line}")))
}

fn unquoted(text: &str) -> (String, &str) {
    let (mut value, mut chars) = (String::new(), text.char_indices());
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (value, &text[at + 1..]),
            '\\' => value.push(match chars.next().unwrap().1 {
                'n' => '\n',
                escaped @ ('\\' | '"') => escaped,
                other => panic!("\\{other} is no escape"),
            }),
            _ => value.push(c),
        }
    }
    panic!("a quote is not closed: {text}")
}
