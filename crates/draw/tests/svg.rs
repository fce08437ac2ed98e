//! SVG drawings of whole pipelines.

use crate::common::{FILES, source};
use draw::{Path, Step, svg};
use model::event::Kind;
use model::pipeline::{Source, attachments, load};
use model::{Pipeline, Time};

fn loaded(source: &Source) -> Pipeline {
    load(source).unwrap_or_else(|problems| panic!("{}", problems.render(source)))
}

/// Walks the elements of a document and fails where it is no XML. Returns each element's name and attributes as written,
/// and the texts.
fn walk(xml: &str) -> (Vec<&str>, Vec<&str>) {
    let (mut open, mut elements, mut texts) = (Vec::new(), Vec::new(), Vec::new());
    let mut rest = xml.trim_end();
    while let Some(start) = rest.find('<') {
        check_text(&rest[..start]);
        texts.push(&rest[..start]);
        let end = rest.find('>').expect("a tag ends");
        let tag = &rest[start + 1..end];
        assert!(!tag.contains('<'), "{tag}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "elements close in order");
        } else {
            let inner = tag.strip_suffix('/').unwrap_or(tag);
            check_attributes(inner);
            elements.push(inner);
            if inner.len() == tag.len() {
                open.push(inner.split(' ').next().unwrap());
            }
        }
        rest = &rest[end + 1..];
        assert!(!open.is_empty() || rest.is_empty(), "one element holds all: {rest}");
    }
    assert!(rest.is_empty() && open.is_empty(), "{open:?} {rest}");
    (elements, texts)
}

fn check_text(text: &str) {
    for (at, _) in text.match_indices('&') {
        let entity = text[at..].split_inclusive(';').next().unwrap();
        assert!(["&amp;", "&lt;", "&gt;", "&quot;", "&#39;"].contains(&entity), "{entity}");
    }
    assert!(text.chars().all(|c| !c.is_control() || c == '\n' || c == '\t'), "{text:?}");
}

fn check_attributes(tag: &str) {
    let mut rest = tag.find(' ').map_or("", |at| &tag[at..]);
    let mut names = Vec::new();
    while !rest.is_empty() {
        let (name, after) = rest.strip_prefix(' ').unwrap().split_once("=\"").expect(tag);
        let (value, after) = after.split_once('"').expect(tag);
        assert!(name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_uppercase() || c == '-'), "{tag}");
        assert!(!names.contains(&name), "{tag}");
        check_text(value);
        names.push(name);
        rest = after;
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

/// The pipelines of these tests and those that ship.
fn all() -> Vec<Pipeline> {
    let paths = crate::shipped::files();
    assert!(paths.len() >= 7, "{paths:?}");
    let read = |path: &std::path::Path| std::fs::read_to_string(path).unwrap();
    let shipped = paths.iter().map(|path| {
        let mut source = Source::new(path.display().to_string(), read(path));
        for file in attachments(&source.toml) {
            source.files.insert(file.clone(), read(&path.with_file_name(file)));
        }
        loaded(&source)
    });
    shipped.chain(FILES.iter().map(|name| loaded(&source(name)))).collect()
}

#[test]
fn every_pipeline_is_drawn_whole_as_one_xml_element() {
    for pipeline in all() {
        let name = &pipeline.name;
        let drawing = svg(&pipeline, None);
        let (elements, texts) = walk(&drawing);
        for state in &pipeline.states {
            let attribute = format!("data-state=\"{}\"", state.name);
            assert_eq!(
                elements.iter().filter(|tag| tag.contains(&attribute)).count(),
                1,
                "{name}: {attribute}"
            );
        }
        let titles: Vec<&str> = texts.iter().flat_map(|text| text.lines()).collect();
        for a in pipeline.moves() {
            let from = a.from.as_deref().unwrap_or("(start)");
            let told = escaped(&format!("{from} → {} by {}", a.to, a.trigger));
            let guarded = escaped(&format!("{from} → {} by {} when ", a.to, a.trigger));
            let found = titles.iter().filter(|line| **line == told || line.starts_with(&guarded)).count();
            // Once for who reads, once for who points.
            assert!(found >= 2, "{name}: {told}");
        }
        assert!(!drawing.contains("left out"), "{name}");
    }
}

#[test]
fn a_drawing_brings_everything_and_fetches_nothing() {
    let drawing = svg(&loaded(&source("skill-review")), None);
    let addresses: Vec<_> = drawing.match_indices("://").collect();
    assert_eq!(addresses.len(), 1, "the name of SVG itself is the only address");
    for word in ["<script", "href", "url(", "@import", "@font-face", "onload"] {
        assert!(!drawing.contains(word), "{word}");
    }
    assert!(drawing.contains("prefers-color-scheme:dark") && drawing.contains("role=\"img\""));
}

#[test]
fn the_same_machine_gives_the_same_bytes() {
    for name in FILES {
        assert_eq!(svg(&loaded(&source(name)), None), svg(&loaded(&source(name)), None), "{name}");
    }
}

#[test]
fn hostile_titles_stay_text() {
    let title = r#"title = "x</text></title><script>alert(1)</script><g onload='x' \" & ]]> \u202e \u0007 \u0000 &amp;""#;
    let toml = format!(
        "name = 'x'\nversion = 1\n{title}\nstart = 'A'\n[states.A]\n{title}\nwait = \"duration(payload.x < 1 && '</desc>' != '' ? '1s' : '2s')\"\nnext = {{ to = 'B', trigger = 'go' }}\n[states.B]\n{title}\nfinal = 'success'\n"
    );
    let drawing = svg(&loaded(&Source::new("x.toml", toml)), None);
    let (elements, _) = walk(&drawing);
    assert!(!elements.iter().any(|tag| tag.starts_with("script") || tag.contains("onload")), "{drawing}");
    assert!(drawing.contains("&lt;script&gt;alert(1)") && drawing.contains("&amp;amp;"), "{drawing}");
    assert!(!drawing.contains(['\u{202e}', '\u{7}', '\u{0}']));
}

#[test]
fn moves_of_every_open_state_are_drawn_once() {
    let drawing = svg(&loaded(&source("sign-request")), None);
    let (elements, _) = walk(&drawing);
    let to =
        |state: &str| elements.iter().filter(|tag| tag.contains(&format!("data-to=\"{state}\""))).count();
    assert_eq!((to("EXPIRED"), to("DROPPED")), (1, 1));
    assert!(drawing.contains("SIGNING → DROPPED by drop"), "the arrow tells what it stands for");
}

fn step(kind: Kind, from: Option<&str>, to: &str, trigger: &str) -> Step {
    let from = from.map(Into::into);
    Step { kind, from, to: to.into(), trigger: trigger.into(), at: Time::from_millis(1_000) }
}

/// The drawing of a path, as the tags of its arrows and states.
fn walked(steps: &[Step], name: &str) -> String {
    svg(&loaded(&source(name)), Some(&Path::of(steps.iter().cloned())))
}

fn classes<'a>(elements: &[&'a str], part: &str) -> &'a str {
    elements.iter().find(|tag| tag.contains(part)).unwrap_or_else(|| panic!("no {part}"))
}

#[test]
fn a_path_is_marked_with_its_steps_and_its_present_state() {
    let steps = [
        step(Kind::Submitted, None, "RECEIVED", "api-submission"),
        step(Kind::Moved, Some("RECEIVED"), "TIER1_SCANNING", "non-vendor-submission"),
        step(Kind::Retried, Some("TIER1_SCANNING"), "TIER1_SCANNING", "error"),
        step(Kind::Moved, Some("TIER1_SCANNING"), "TIER2_SCANNING", "tier1-pass"),
    ];
    let drawing = walked(&steps, "skill-review");
    let (elements, texts) = walk(&drawing);
    for taken in ["data-from=\"start\"", "data-to=\"TIER1_SCANNING\"", "data-to=\"TIER2_SCANNING\""] {
        assert!(classes(&elements, taken).contains(" trail"), "{taken}");
    }
    assert!(classes(&elements, "data-to=\"TIER1_FAILED\"").contains(" aside"));
    assert!(classes(&elements, "data-state=\"PUBLISHED\"").contains(" aside"));
    assert!(!classes(&elements, "data-state=\"RECEIVED\"").contains(" aside"));
    assert_eq!(elements.iter().filter(|tag| tag.contains("class=\"ring\"")).count(), 1);
    for text in ["1", "2", "3", "now"] {
        assert!(texts.contains(&text), "{text}");
    }
    assert!(drawing.contains("1970-01-01T00:00:01.000Z retried"), "what happened in a state is told there");
    assert!(drawing.contains("taken by tier1-pass as step 3"));
    assert!(drawing.contains("The submission is in TIER2_SCANNING."));
}

#[test]
fn a_state_entered_again_says_how_often_and_a_dead_letter_is_one() {
    let mut steps = vec![step(Kind::Submitted, None, "QUEUED", "submit")];
    steps.push(step(Kind::Moved, Some("QUEUED"), "SUBMITTING", "next"));
    for _ in 0..4 {
        steps.push(step(Kind::Moved, Some("SUBMITTING"), "DELAYED", "delayed"));
        steps.push(step(Kind::Moved, Some("DELAYED"), "SUBMITTING", "elapsed"));
    }
    steps.push(step(Kind::Died, Some("SUBMITTING"), "SUBMITTING", "error"));
    let drawing = walked(&steps, "ledger-batch");
    let (_, texts) = walk(&drawing);
    for text in ["5×", "4×", "dead", "3…9 (4×)"] {
        assert!(texts.contains(&text), "{text}");
    }
    steps.push(step(Kind::Redriven, Some("SUBMITTING"), "SUBMITTING", "redrive"));
    assert!(walk(&walked(&steps, "ledger-batch")).1.contains(&"now"));
}

#[test]
fn a_path_may_leave_what_this_version_declares() {
    let steps = [
        step(Kind::Submitted, None, "OLD_STATE", "submit"),
        step(Kind::Moved, Some("OLD_STATE"), "INDEXED", "migrate"),
        step(Kind::Moved, Some("INDEXED"), "PUBLISHED", "by-hand"),
        step(Kind::Moved, Some("PUBLISHED"), "DROPPED", "drop"),
    ];
    let drawing = walked(&steps, "sign-request");
    let (elements, _) = walk(&drawing);
    assert!(classes(&elements, "data-from=\"INDEXED\" data-to=\"PUBLISHED\"").contains("astray trail"));
    assert!(drawing.contains("2 steps were in states this version has not"));
}

#[test]
fn a_move_of_every_open_state_that_was_taken_gets_its_own_arrow() {
    let steps = [
        step(Kind::Submitted, None, "INDEXED", "submit"),
        step(Kind::Moved, Some("INDEXED"), "DROPPED", "drop"),
    ];
    let (drawing, tag) = (walked(&steps, "sign-request"), "data-from=\"INDEXED\" data-to=\"DROPPED\"");
    let (elements, _) = walk(&drawing);
    assert!(classes(&elements, tag).contains("action trail"));
    assert!(classes(&elements, "data-from=\"open\" data-to=\"DROPPED\"").contains("aside"));
}

#[test]
fn a_long_history_is_told_in_short() {
    let mut steps = vec![step(Kind::Submitted, None, "QUEUED", "submit")];
    steps.push(step(Kind::Moved, Some("QUEUED"), "SUBMITTING", "next"));
    for _ in 0..5_000 {
        steps.push(step(Kind::Retried, Some("SUBMITTING"), "SUBMITTING", "error"));
        steps.push(step(Kind::Moved, Some("SUBMITTING"), "DELAYED", "delayed"));
        steps.push(step(Kind::Moved, Some("DELAYED"), "SUBMITTING", "elapsed"));
    }
    let drawing = walked(&steps, "ledger-batch");
    assert!(drawing.len() < 40_000, "{}", drawing.len());
    assert!(drawing.contains("4980 times before") && drawing.contains("5001×"));
}

#[test]
fn a_page_lays_stays_rates_and_phases_over_the_machine() {
    use draw::{Flow, Heat, Overlay, Stay, picture};
    let pipeline = all().into_iter().find(|pipeline| &*pipeline.name == "site-list").unwrap();
    let stay = Stay { text: "7 d".to_owned(), about: "half <stayed> 7 d".to_owned(), heat: Heat::Hot };
    let flow = |text: &str| Flow { text: text.to_owned(), is_busy: true };
    let overlay = Overlay {
        stays: [("WAITING_DELAY".into(), stay)].into(),
        rates: [
            ((None, "SUBMITTED".into()), flow("1.2/min")),
            ((Some("SUBMITTED".into()), "PRELIMINARY_VALIDATION_IN_PROGRESS".into()), flow("1.1/min")),
            ((Some("COMPLETED".into()), "SUBMITTED".into()), flow("no such edge")),
        ]
        .into(),
        ..Overlay::default()
    };
    let drawing = picture(&pipeline, None, &overlay);
    let (elements, texts) = walk(&drawing);
    let count =
        |class: &str| elements.iter().filter(|tag| tag.contains(&format!("class=\"{class}\""))).count();
    assert_eq!((count("stay hot"), count("rate"), count("arrow flow busy")), (1, 2, 2));
    assert!(texts.contains(&"1.2/min") && texts.contains(&"7 d") && !drawing.contains("no such edge"));
    let phases: Vec<_> = pipeline.states.iter().filter_map(|state| state.phase.as_deref()).collect();
    let mut bands: Vec<&str> = phases.clone();
    bands.dedup();
    assert_eq!(count("band"), bands.len(), "each phase is a band: {bands:?}");
    assert!(!svg(&pipeline, None).contains("class=\"band\""), "a drawing that stands alone is as it was");
}
