//! Diagrams of whole pipelines.

use crate::common::{FILES, source};
use draw::mermaid;
use model::pipeline::{Source, load};

fn drawn(source: &Source) -> String {
    mermaid(&load(source).unwrap_or_else(|problems| panic!("{}", problems.render(source))))
}

#[test]
fn skill_review_is_drawn_as_its_document_draws_it() {
    insta::assert_snapshot!(drawn(&source("skill-review")));
}

#[test]
fn every_key_is_drawn() {
    insta::assert_snapshot!(drawn(&source("orders")));
}

#[test]
fn every_line_of_a_diagram_is_a_state_or_an_edge() {
    for name in FILES {
        for line in drawn(&source(name)).lines().skip(1).filter(|line| !line.is_empty()) {
            assert!(
                line.starts_with("    ") && (line.contains(" : ") || line.ends_with(" --> [*]")),
                "{name}: {line}"
            );
        }
    }
}

#[test]
fn titles_cannot_add_lines_or_markup() {
    let title = r#"title = "x\n    [*] --> DONE : <img src=x onerror=alert(1)> %%{init: {}}%% ; ` \" ""#;
    let toml = format!(
        "name = 'x'\nversion = 1\nstart = 'end'\n[states.end]\n{title}\nwait = '1s'\nnext = 's0'\n[states.s0]\n{title}\nfinal = 'success'\n"
    );
    let text = drawn(&Source::new("x.toml", toml));
    assert_eq!(text.lines().filter(|line| line.contains("-->")).count(), 3, "{text}");
    assert!(
        !text.contains('<') && !text.contains('"') && !text.contains('%') && !text.contains('`'),
        "{text}"
    );
    assert!(text.contains("[*] --> s0 : submit\n    s0 --> s1 : elapsed\n"), "{text}");
}
