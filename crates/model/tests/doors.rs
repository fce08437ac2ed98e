//! The door: which way in a submission takes, and what a system's check of payloads does to it.

use model::admit::{Admission, Application, Door, admit};
use model::pipeline::{PayloadCheck, Source, load};
use model::schema::Fuel;
use model::{Code, Command, Json, Pipeline, Refusal};

use crate::support::{Story, admin, pipeline};

const DOORS: &str = r#"
name = "doors"
version = 1
key = "payload.host"
start = [
  { to = "A", when = "door == 'form'", trigger = "form" },
  { to = "A", when = "door in ['child', 'schedule']", trigger = "machine" },
  { to = "A", when = "door != 'sql'", trigger = "asked" },
]
amend = { fields = ["contact"], role = "submitter" }

[states.A]
review = "admin"
actions.end = "B"

[states.B]
final = "success"
"#;

/// A machine whose payloads are written in small letters.
fn machine() -> Pipeline {
    let check = |payload: &Json| match payload.as_str() {
        text if text.contains("nobody") => Err(Refusal::new(Code::SchemaViolation, "there is nobody")),
        text if text.contains("oops") => panic!("on purpose"),
        text if text.chars().any(char::is_uppercase) => Ok(Json::parse(&text.to_lowercase()).ok()),
        _ => Ok(None),
    };
    let mut machine = pipeline(DOORS);
    machine.payload_check = Some(PayloadCheck::new(check));
    machine
}

fn admitted(payload: &str, door: Door) -> Result<Admission, Refusal> {
    let application = Application { door, ..Story::application(admin(), payload) };
    admit(&machine(), application, &mut Fuel::whole())
}

#[test]
fn a_way_in_can_ask_by_which_door_somebody_comes() {
    let parent = Story::submitted(machine(), r#"{"host":"a"}"#).row().id;
    for (door, trigger) in [
        (Door::Api, Some("asked")),
        (Door::Form, Some("form")),
        (Door::Child(parent, "x".into()), Some("machine")),
        (Door::Schedule, Some("machine")),
        (Door::Sql, None),
    ] {
        let name = door.as_str();
        let admitted = admitted(r#"{"host":"a"}"#, door);
        let Some(trigger) = trigger else {
            assert_eq!(admitted.unwrap_err().code, Code::NotAdmitted, "{name}");
            continue;
        };
        let mut story = Story::of(machine());
        story.tell(&Command::Submit(admitted.unwrap().into())).unwrap();
        assert_eq!(&*story.events[0].leaf.trigger, trigger, "{name}");
    }
}

#[test]
fn guards_of_start_alone_know_a_door() {
    let elsewhere = [
        ("key = \"payload.host\"", "key = \"door\""),
        ("actions.end = \"B\"", "actions.end = { to = \"B\", when = \"door == 'api'\" }"),
    ];
    for (from, to) in elsewhere {
        let problems = load(&Source::new("x.toml", DOORS.replace(from, to))).unwrap_err();
        let told = problems.iter().any(|problem| problem.message.contains("`door` is not known here"));
        assert!(told, "{problems:?}");
    }
}

#[test]
fn a_payload_enters_in_the_normal_form_of_its_system() {
    let admission = admitted(r#"{"host":"Shop.Example"}"#, Door::Api).unwrap();
    assert_eq!(admission.payload().as_str(), r#"{"host":"shop.example"}"#);
    assert_eq!(admission.key().map(|key| &**key), Some("shop.example"));
    assert_eq!(admitted(r#"{"host":"nobody"}"#, Door::Sql).unwrap_err().code, Code::SchemaViolation);
    let panicked = admitted(r#"{"host":"oops"}"#, Door::Api).unwrap_err();
    assert_eq!(panicked.code, Code::Internal, "a panic is that payload's alone");
}

#[test]
fn an_amended_payload_is_checked_as_one_that_is_submitted() {
    let mut story = Story::submitted(machine(), r#"{"host":"a"}"#);
    story.amend(r#"{"contact":"ADA"}"#).unwrap();
    assert!(story.documents.payload.as_str().contains(r#""contact":"ada""#), "{:?}", story.documents.payload);
    assert_eq!(story.amend(r#"{"contact":"nobody"}"#).unwrap_err().code, Code::SchemaViolation);
}
