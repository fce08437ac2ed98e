//! Notifications: one delivery for each address of each channel, written down with the move and never in its way.

use crate::support;

use std::sync::Arc;

use model::event::Notified;
use model::owed::{Channel, Delivery};
use model::pipeline::{Source, load};
use model::{Effect, Name, Pipeline};
use support::{Story, act};

const FILE: &str = r#"
name = "loans"
version = 3
title = "Loans"
key = "payload.isbn"
labels = { branch = "payload.branch" }
start = { to = "ASKED", notify = "branch" }

[params]
desk = "desk@library.example"

[notify.reader]
mail = "payload.mail"
webhook = "payload.hook"
template = "reader.txt"
[notify.branch]
webhook = "'https://hooks.example/' + labels.branch"
[notify.desk]
mail = "params.desk"
[notify.found]
mail = "outputs.LOOKING.contact"

[states.ASKED]
next = "LOOKING"
notify = "branch"

[states.LOOKING]
task = "look"
retry = { times = 1 }
on.there = { to = "HANDED", notify = ["desk", "reader"], metadata = { shelf = "output.shelf" } }
on.gone = { to = "LOST", notify = "found" }
on.error = [{ to = "LOST", when = "error.code == 'burnt'" }, { notify = "desk" }]
actions.drop = { to = "LOST", reason = true }

[states.HANDED]
final = "success"
notify = "reader"

[states.LOST]
final = "failure"
title = "Nowhere to be found"
notify = "desk"
"#;

const TEMPLATE: &str = "Subject: {{ payload.isbn }} is {{ event.to }}\n\nDear reader,\n{{ size(payload.isbn) }} {{ event.metadata }} {{ submission.id }} {{ outputs.LOOKING.shelf }}\n";

const PAYLOAD: &str = r#"{"isbn": "17", "branch": "north", "mail": "ada@example.com", "hook": null}"#;

fn loans() -> Pipeline {
    with_template(TEMPLATE)
}

fn with_template(template: &str) -> Pipeline {
    let mut source = Source::new("loans.toml", FILE);
    source.files.insert("reader.txt".to_owned(), template.to_owned());
    load(&source).unwrap_or_else(|problems| panic!("{}", problems.render(&source)))
}

fn deliveries(story: &Story) -> Vec<&Delivery> {
    story
        .owed
        .iter()
        .filter_map(|owed| match &owed.effect {
            Effect::Deliver(delivery) => Some(&**delivery),
            _ => None,
        })
        .collect()
}

fn notified(story: &Story, index: usize) -> &[Notified] {
    &story.events[index].detail.notified
}

fn words(notified: &[Notified]) -> Vec<String> {
    let word = |told: &Notified| {
        let problem = told.problem.as_deref().unwrap_or("-");
        format!("{} {} {} {problem}", told.name, told.channel.as_str(), told.deliveries.len())
    };
    notified.iter().map(word).collect()
}

/// Submits, finds the book and hands it over.
fn handed(payload: &str) -> Story {
    let mut story = Story::submitted(loans(), payload);
    story.owed.clear();
    let token = story.claim_any();
    story.finish(token, "there", r#"{"shelf": "A 7"}"#).unwrap();
    story
}

#[test]
fn a_move_tells_those_its_edge_and_its_state_name_each_once() {
    let story = handed(PAYLOAD);
    let moved = story.events.len() - 1;
    assert_eq!(
        words(notified(&story, moved)),
        ["reader mail 1 -", "reader webhook 0 no address", "desk mail 1 -"],
        "the state's first, then the edge's, nobody twice"
    );
    let told = deliveries(&story);
    assert_eq!(
        told.iter().map(|delivery| delivery.to.as_str()).collect::<Vec<_>>(),
        ["ada@example.com", "desk@library.example"]
    );
    let event = &story.events[moved];
    for (delivery, owed) in told.iter().zip(&story.owed) {
        assert_eq!((delivery.cause, delivery.submission), (event.id(), story.row().id));
        assert_eq!((&*delivery.pipeline, delivery.channel), ("loans", Channel::Mail));
        assert_eq!(owed.to, model::Recipient::Submission(delivery.id(story.now)));
    }
    let ids: Vec<_> = notified(&story, moved).iter().flat_map(|told| &told.deliveries).copied().collect();
    assert_eq!(ids, told.iter().map(|delivery| delivery.id(story.now)).collect::<Vec<_>>());
}

#[test]
fn the_way_in_tells_too() {
    let story = Story::submitted(loans(), PAYLOAD);
    assert_eq!(words(notified(&story, 0)), ["branch webhook 1 -"]);
    assert_eq!(words(notified(&story, 1)), Vec::<String>::new(), "LOOKING names nobody");
    let told = deliveries(&story);
    assert_eq!(
        (told.len(), told[0].to.as_str(), &told[0].subject),
        (1, "https://hooks.example/north", &None)
    );
    let id = story.row().id;
    let expected = format!(
        r#"{{"data":{{"from":null,"key":"17","labels":{{"branch":"north"}},"pipeline":"loans","revision":1,"status":"open","submission":"{id}","to":"ASKED","trigger":"submit","version":3}},"timestamp":"2001-09-09T01:46:40.000Z","type":"submission.submitted"}}"#
    );
    assert_eq!(
        told[0].body.to_serde().to_string(),
        model::Json::parse(&expected).unwrap().to_serde().to_string()
    );
}

#[test]
fn an_endpoint_gets_the_metadata_with_every_digit_unless_it_is_too_much() {
    let body = |shelf: &str| {
        let payload = PAYLOAD.replace("null", "\"https://hooks.example/reader\"");
        let mut story = Story::submitted(loans(), &payload);
        let token = story.claim_any();
        story.finish(token, "there", &format!("{{\"shelf\": {shelf}}}")).unwrap();
        let told = story.events.last().unwrap().detail.notified[1].clone();
        let hook = deliveries(&story).into_iter().find(|told| told.to.ends_with("/reader")).unwrap();
        (hook.body.value(), told.problem)
    };
    let (sent, problem) = body("9007199254740993");
    let data = sent.get("data").unwrap();
    assert_eq!(data.get("metadata").unwrap().get("shelf").unwrap().as_i64(), Some(9_007_199_254_740_993));
    assert_eq!((data.get("from").unwrap().as_str(), problem), (Some("LOOKING"), None));
    assert_eq!(sent.get("type").unwrap().as_str(), Some("submission.moved"));
    let (sent, problem) = body(&format!("\"{}\"", "x".repeat(65_400)));
    assert!(sent.get("data").unwrap().get("metadata").is_none());
    assert_eq!(problem.as_deref(), Some("its metadata is too large and was left out"));
}

#[test]
fn a_template_is_filled_in_with_what_the_move_knows() {
    let story = handed(PAYLOAD);
    let mail = deliveries(&story)[0];
    assert_eq!(mail.subject.as_deref(), Some("17 is HANDED"));
    let expected = format!("Dear reader,\n2 {{\"shelf\":\"A 7\"}} {} A 7\n", story.row().id);
    assert_eq!(mail.body.value().as_str(), Some(expected.as_str()));
}

#[test]
fn a_template_sees_the_answer_and_the_data_that_made_the_move() {
    let template =
        "Subject: x\n\n{{ output == null ? 'none' : output.shelf }}|{{ data == null ? 'none' : data }}\n";
    let toml = FILE
        .replace("reason = true }", "reason = true, data = \"any.json\", notify = \"reader\" }")
        .replace("title = \"Nowhere to be found\"", "title = \"Nowhere\"");
    let mut source = Source::new("loans.toml", toml);
    source.files.insert("reader.txt".to_owned(), template.to_owned());
    source.files.insert("any.json".to_owned(), "true".to_owned());
    let machine = load(&source).unwrap_or_else(|problems| panic!("{}", problems.render(&source)));
    let told = |story: &Story| {
        let delivery = deliveries(story).into_iter().find(|delivery| &*delivery.name == "reader").unwrap();
        delivery.body.value().as_str().unwrap().to_owned()
    };
    let mut story = Story::submitted(machine.clone(), PAYLOAD);
    let token = story.claim_any();
    story.finish(token, "there", r#"{"shelf":"A 7"}"#).unwrap();
    assert_eq!(told(&story), "A 7|none\n");
    let mut story = Story::submitted(machine, PAYLOAD);
    let reason = Some("sold".to_owned());
    let drop = model::command::Act { reason, data: Some(support::json("\"now\"")), ..act("drop") };
    story.tell(&model::Command::Act(drop)).unwrap();
    assert_eq!(told(&story), "none|now\n");
}

#[test]
fn a_place_that_cannot_be_filled_is_left_blank_and_said() {
    let template = "Subject: {{ payload.nickname }}\n\nHello {{ payload.nickname }}!\n";
    let mut story = Story::submitted(with_template(template), PAYLOAD);
    let token = story.claim_any();
    story.finish(token, "there", r#"{"shelf": "A 7"}"#).unwrap();
    let told = &story.events.last().unwrap().detail.notified[0];
    assert!(told.problem.as_ref().unwrap().starts_with("a place is left blank: guard"), "{told:?}");
    let mail = deliveries(&story).into_iter().find(|delivery| &*delivery.name == "reader").unwrap();
    assert_eq!(mail.subject.as_deref(), Some("Loans: HANDED"), "an empty subject is none");
    assert_eq!(mail.body.value().as_str(), Some("Hello !\n"));
}

#[test]
fn mails_link_the_page_and_the_receipt_where_the_server_knows_its_address() {
    let key = wire::receipt::ReceiptKey::new([3; 32]);
    let template = "Subject: x\n\n{{ submission.link }}|{{ submission.receipt }}\n";
    let body = |links: Option<model::Links>| {
        let mut story = Story::of(with_template(template));
        story.links = links.map(Arc::new);
        story.submit(support::admin(), PAYLOAD).unwrap();
        let token = story.claim_any();
        story.finish(token, "there", r#"{"shelf": "A 7"}"#).unwrap();
        let mails = deliveries(&story);
        let of = |name: &str| {
            let mail = mails.iter().find(|delivery| &*delivery.name == name && delivery.subject.is_some());
            mail.unwrap().body.value().as_str().unwrap().to_owned()
        };
        (of("reader"), of("desk"), story.row().id)
    };
    let public = [Name::from("loans")].into();
    let (reader, desk, id) = body(Some(model::Links::new("https://m.example", public, key.clone())));
    let receipt = format!("https://m.example/public/loans/receipts/{}", key.receipt("loans", id));
    assert_eq!(reader, format!("https://m.example/console/submissions/{id}|{receipt}\n"));
    assert!(desk.ends_with(&format!("{receipt}\n")), "a mail without a template ends with it: {desk}");
    let (reader, desk, id) = body(Some(model::Links::new("https://m.example", [].into(), key)));
    assert_eq!(reader, format!("https://m.example/console/submissions/{id}|\n"), "it is not public");
    assert!(desk.ends_with(&format!("/console/submissions/{id}\n")), "{desk}");
    let (reader, desk, _) = body(None);
    assert_eq!(reader, "|\n");
    assert!(!desk.contains("http"), "{desk}");
}

#[test]
fn a_dead_letter_tells_those_of_its_last_edge() {
    let mut story = Story::submitted(loans(), PAYLOAD);
    story.owed.clear();
    for _ in 0..2 {
        let token = story.claim_any();
        story.fail(token, "lost-key").unwrap();
        story.wake();
    }
    assert_eq!(story.row().status.as_str(), "dead");
    let died = story.events.iter().position(|event| event.leaf.kind.as_str() == "died").unwrap();
    assert_eq!(words(notified(&story, died)), ["desk mail 1 -"]);
    let text = deliveries(&story)[0].body.value();
    assert!(text.as_str().unwrap().contains("Error: lost-key"), "{text:?}");
    assert!(!text.as_str().unwrap().contains("it went wrong"), "what went wrong is for those who may look");
}

#[test]
fn workers_that_die_tell_as_a_failure_does() {
    let mut story = Story::submitted(loans(), PAYLOAD);
    story.owed.clear();
    for _ in 0..model::decide::CRASHES_MAX {
        story.claim_any();
        story.pass("1h");
        story.wake();
    }
    assert_eq!(story.row().status.as_str(), "dead");
    assert_eq!(deliveries(&story).len(), 1);
}

#[test]
fn an_error_that_leads_somewhere_tells_as_a_move() {
    let mut story = Story::submitted(loans(), PAYLOAD);
    story.owed.clear();
    let token = story.claim_any();
    story.tell(&support::fail(token, "burnt", false)).unwrap();
    assert_eq!(story.state(), "LOST");
    assert_eq!(words(&story.events.last().unwrap().detail.notified), ["desk mail 1 -"]);
}

#[test]
fn an_address_may_come_with_the_answer_that_makes_the_move() {
    let gone = |output: &str| {
        let mut story = Story::submitted(loans(), PAYLOAD);
        let token = story.claim_any();
        story.finish(token, "gone", output).unwrap();
        words(&story.events.last().unwrap().detail.notified).pop().unwrap()
    };
    assert_eq!(gone(r#"{"contact": "eve@example.com"}"#), "found mail 1 -");
    assert_eq!(gone(r#"{"contact": ["eve@example.com", "a@b", "a@b"]}"#), "found mail 2 -");
    assert_eq!(gone(r#"{"contact": ""}"#), "found mail 0 no address");
    assert_eq!(gone(r#"{"contact": 7}"#), "found mail 0 an address must be a string, not number");
    assert_eq!(gone(r#"{"contact": "a@b\r\nBcc: c@d"}"#), "found mail 0 not a mail address");
    assert!(gone("{}").starts_with("found mail 0 no address: guard"));
}

#[test]
fn nothing_that_goes_wrong_with_telling_stops_the_move() {
    let story = handed(r#"{"isbn": "17", "branch": "no such\nhost", "mail": {"to": "x"}}"#);
    assert_eq!(story.state(), "HANDED");
    assert_eq!(words(notified(&story, 0)), ["branch webhook 0 not an http or https URL"]);
    let moved = notified(&story, story.events.len() - 1);
    assert_eq!(moved[0].problem.as_deref(), Some("an address must be a string, not object"));
    assert!(moved[1].problem.as_ref().unwrap().starts_with("no address: guard `payload.hook`"));
}

#[test]
fn values_in_a_subject_begin_no_second_header() {
    let story = handed(&PAYLOAD.replace("\"17\"", r#""17\r\nBcc: eve@example.com""#));
    assert_eq!(deliveries(&story)[0].subject.as_deref(), Some("17 Bcc: eve@example.com is HANDED"));
}

#[test]
fn a_reason_is_told_where_a_template_names_it() {
    let template = "Subject: x\n\n{{ event.metadata.reason }}|{{ event.trigger }}|{{ event.title }}\n";
    let file = FILE.replace("[states.LOST]", "[states.LOST]\nretention = '1d'");
    let mut source = Source::new("loans.toml", file.replace("notify = \"desk\"\n", "notify = \"reader\"\n"));
    source.files.insert("reader.txt".to_owned(), template.to_owned());
    let mut story = Story::submitted(load(&source).unwrap(), PAYLOAD);
    story.owed.clear();
    let drop = model::command::Act { reason: Some("no budget".to_owned()), ..act("drop") };
    story.tell(&model::Command::Act(drop)).unwrap();
    let text = deliveries(&story)[0].body.value();
    assert_eq!(text.as_str(), Some("no budget|drop|Nowhere to be found\n"));
}

#[test]
fn telling_leaves_no_trace_in_what_is_proven_and_replays() {
    let story = handed(PAYLOAD);
    let event = story.events.last().unwrap();
    let mut silent = event.clone();
    silent.detail.notified.clear();
    assert_eq!((event.id(), event.leaf.bytes()), (silent.id(), silent.leaf.bytes()));
    let (leaf, detail) = event.to_stored();
    let read = model::Event::from_stored(&leaf, &detail).unwrap();
    assert_eq!(read.detail.notified, event.detail.notified);
    assert_eq!(
        support::comparable(&support::replay(&story.events).unwrap()),
        support::comparable(story.row())
    );
}

#[test]
fn one_command_tells_no_more_than_so_many() {
    let list = (0..20).map(|n| format!("\"a{n}@b\"")).collect::<Vec<_>>().join(",");
    let names = ["a", "b", "c", "d", "e", "f"];
    let declared: String = names
        .iter()
        .map(|name| format!("[notify.{name}]\nmail = \"[{}]\"\n", list.replace('"', "'")))
        .collect();
    let file = format!(
        "name = 'many'\nversion = 1\nstart = {{ to = 'DONE', notify = {names:?} }}\n{declared}[states.DONE]\nfinal = 'success'\n"
    );
    let story = Story::submitted(support::pipeline(&file), "{}");
    assert_eq!(deliveries(&story).len(), model::decide::DELIVERIES_MAX);
    let told = words(notified(&story, 0));
    assert_eq!(told[4], "e mail 20 -");
    assert_eq!(told[5], "f mail 0 too much to send at once; the rest is left out");
}
