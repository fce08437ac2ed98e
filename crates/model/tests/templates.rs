//! Templates of mails are checked with the file that names them; their problems are shown where they stand.

use model::pipeline::{Problems, Source, load};

const FILE: &str = r#"
name = "loans"
version = 1
start = "DONE"
labels = { branch = "payload.branch" }
[notify.reader]
mail = "payload.mail"
template = "mails/reader.txt"
[states.DONE]
final = "success"
notify = "reader"
"#;

fn source(template: &str) -> Source {
    let mut source = Source::new("loans.toml", FILE);
    source.files.insert("mails/reader.txt".to_owned(), template.to_owned());
    source
}

fn problems(template: &str) -> (Source, Problems) {
    let source = source(template);
    let problems = load(&source).expect_err(template);
    (source, problems)
}

#[test]
fn problems_in_a_template_are_shown_in_its_own_lines() {
    let (source, problems) =
        problems("Subject: {{ payloud.isbn }}\n\nDear {{ labels.brunch }},\n  {{ 1 + }} {{ output.x }}\n");
    let found: Vec<(usize, usize, &str)> =
        problems.located(&source).map(|(at, problem)| (at.line, at.column, problem.code)).collect();
    let codes = ["bad-expression", "unknown-label", "bad-expression", "empty-value"];
    assert_eq!(
        found.iter().map(|(line, _, code)| (*line, *code)).collect::<Vec<_>>(),
        [(1, codes[0]), (3, codes[1]), (4, codes[2]), (4, codes[3])]
    );
    assert!(problems.iter().all(|problem| problem.file.as_deref() == Some("mails/reader.txt")));
    let report = problems.render(&source);
    let shown = [
        "--> mails/reader.txt:1:13\n  |\n1 | Subject: {{ payloud.isbn }}\n  |             ^^^^^^^\n",
        "there is no label `brunch`",
        "= help: did you mean `branch`?",
        "no move that this text is sent with has `output`",
        "= help: moves by an outcome have one; an earlier one is `outputs.STATE`",
    ];
    assert!(shown.iter().all(|part| report.contains(part)), "{report}");
}

#[test]
fn a_template_without_subject_or_text_is_refused() {
    for template in ["Dear reader,\n", "Subject: x\nDear reader\n", "Subject: x\n\n{{ payload.x\n"] {
        let (_, problems) = problems(template);
        assert_eq!(problems.iter().map(|problem| problem.code).collect::<Vec<_>>(), ["bad-template"]);
    }
    let (_, problems) = problems(&format!("Subject: x\n\n{}", "a".repeat(70_000)));
    assert_eq!(problems.iter().map(|problem| problem.code).collect::<Vec<_>>(), ["too-large"]);
}

#[test]
fn a_template_is_part_of_the_definition() {
    let one = load(&source("Subject: x\n\none\n")).unwrap();
    let two = load(&source("Subject: x\n\ntwo\n")).unwrap();
    assert!(one.digest != two.digest);
    let again = Source::from_definition(&one.definition).unwrap();
    assert_eq!(again.files["mails/reader.txt"], "Subject: x\n\none\n");
    assert_eq!(load(&again).unwrap().digest, one.digest);
}

#[test]
fn what_a_template_reads_is_loaded_and_nothing_else() {
    let reads = |template: &str| load(&source(template)).unwrap().reads;
    assert!(!reads("Subject: x\n\n{{ event.to }}\n").outputs);
    assert!(reads("Subject: x\n\n{{ outputs.DONE }}\n").outputs);
}

/// A notification of every kind of move, and which of these values its text can have.
#[test]
fn values_that_no_move_of_a_template_has_are_found() {
    let machine = |tells: &str| {
        let mut toml = r#"
name = "loans"
version = 1
start = [{ to = "SHUT", when = "payload.shut", error = { code = "'shut'" } NONE-1 }, { to = "LOOKING" NONE-2 }]
[notify.reader]
mail = "payload.mail"
template = "mails/reader.txt"
[states.SHUT]
next = { to = "LOST" NONE-3 }
[states.LOOKING]
task = "look"
on.there = { to = "DESK", metadata = { shelf = "output.shelf" } NONE-4 }
on.error = [{ to = "LOST", when = "error.code == 'burnt'" NONE-5 }, { when = "true" NONE-6 }, {}]
[states.DESK]
review = "reviewer"
actions.hand = { to = "DONE", data = "any.json" NONE-7 }
actions.bind = { to = "DONE", task = "bind" NONE-8 }
[states.DONE]
final = "success"
[states.LOST]
final = "failure"
"#
        .replace(tells, ", notify = \"reader\"");
        for number in 1..=8 {
            toml = toml.replace(&format!(" NONE-{number}"), "");
        }
        toml
    };
    let values = [
        "output",
        "data",
        "error",
        "event.metadata.shelf",
        "event.metadata.reason",
        "error.cod",
        "event.too",
    ];
    for (number, there) in [
        (1, &["error", "event.metadata.reason"][..]),
        (2, &["event.metadata.reason"]),
        // The pass state hands on the error that the way in stated.
        (3, &["error"]),
        (4, &["output", "event.metadata.shelf"]),
        (5, &["error"]),
        (6, &["error"]),
        (7, &["data", "event.metadata.reason"]),
        (8, &["output", "event.metadata.reason"]),
    ] {
        for value in values {
            let text = format!("Subject: x\n\n{{{{ {value} }}}}\n");
            let mut source = Source { toml: machine(&format!(" NONE-{number}")), ..source(&text) };
            source.files.insert("any.json".to_owned(), "true".to_owned());
            let found: Vec<&str> =
                load(&source).err().unwrap_or_default().iter().map(|problem| problem.code).collect();
            let expected: &[&str] = if there.contains(&value) { &[] } else { &["empty-value"] };
            assert_eq!(found, expected, "{value} of move {number}");
        }
    }
}

#[test]
fn a_definition_that_was_applied_with_an_empty_value_is_still_followed() {
    let source = source("Subject: x\n\n{{ error.code }}\n");
    assert!(load(&source).is_err());
    assert!(model::pipeline::load_applied(&source).is_ok());
    let broken = Source { toml: FILE.replace("final", "finale"), ..source };
    assert!(model::pipeline::load_applied(&broken).is_err());
}

#[test]
fn a_template_without_mail_is_refused() {
    let toml = FILE.replace("mail = \"payload.mail\"", "webhook = \"payload.hook\"");
    let source = Source { toml, ..source("Subject: x\n\ntext\n") };
    let problems = load(&source).expect_err("it is for nobody");
    assert_eq!(problems.iter().map(|problem| problem.code).collect::<Vec<_>>(), ["key-not-here"]);
}

#[test]
fn deliveries_notify_nobody() {
    let toml = FILE.replace("name = \"loans\"", "name = \"delivery\"");
    let source = Source { toml, ..source("Subject: x\n\ntext\n") };
    let problems = load(&source).expect_err("each would make the next");
    assert_eq!(problems.iter().map(|problem| problem.code).collect::<Vec<_>>(), ["key-not-here"]);
}
