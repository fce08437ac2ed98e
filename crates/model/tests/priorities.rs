//! Priorities: who may set one, what becomes of it, and how waiting counts against it.

use crate::support;

use model::admit::admit;
use model::pipeline::Ageing;
use model::schema::Fuel;
use model::submission::Wait;
use model::{Caller, Code, Command, Pipeline, Role};
use support::{Story, migrate, pipeline};

const WORK: &str = r#"
name = "work"
version = 1
title = "Work"
start = "DOING"

[states.DOING]
task = "work.do"
on.again = "RESTING"
on.done = "DONE"

[states.RESTING]
wait = "1h"
next = "DOING"

[states.DONE]
final = "success"
"#;

fn work(with: &str) -> Pipeline {
    pipeline(&WORK.replace("start = ", &format!("{with}\nstart = ")))
}

/// A story that begins with a submission for which somebody set a priority.
fn set(machine: Pipeline, role: Role, priority: i64) -> Result<Story, model::Refusal> {
    let mut application = Story::application(Caller::new("ada", role), "{}");
    application.priority = Some(priority);
    let admission = admit(&machine, application, &mut Fuel::whole())?;
    let mut story = Story::of(machine);
    story.tell(&Command::Submit(admission.into()))?;
    Ok(story)
}

fn rank(story: &Story) -> i64 {
    let Wait::Worker { rank, .. } = story.row().wait else { panic!("{:?}", story.row().wait) };
    rank
}

#[test]
fn only_an_admin_sets_a_priority_unless_the_file_says_otherwise() {
    for role in Role::ALL {
        let refused = set(work(""), role, -5).err().map(|refusal| (refusal.code, refusal.message));
        match role {
            Role::Admin => assert_eq!(refused, None),
            _ => {
                let message =
                    "setting a priority in pipeline `work` needs the role admin; leave `priority` out";
                assert_eq!(refused, Some((Code::RoleRequired, message.to_owned())), "{role}");
            }
        }
    }
    for (with, may) in [
        ("priority = { set_by = \"submitter\" }", [Role::Submitter, Role::Admin].as_slice()),
        (
            "priority = { value = 3, set_by = [\"submitter\", \"worker\"] }",
            [Role::Submitter, Role::Worker, Role::Admin].as_slice(),
        ),
    ] {
        for role in Role::ALL {
            assert_eq!(set(work(with), role, -5).is_ok(), may.contains(&role), "{with}: {role}");
        }
    }
}

#[test]
fn what_was_set_replaces_an_expression_that_does_not_ask_for_it() {
    let machine = work("priority = \"from == null ? 7 : 3\"");
    let mut story = set(machine.clone(), Role::Admin, -5).unwrap();
    assert_eq!(story.row().priority, -5);
    let token = story.claim_any();
    story.finish(token, "again", "{}").unwrap();
    assert_eq!(story.row().priority, -5);
    assert_eq!(Story::submitted(machine, "{}").row().priority, 7);
}

#[test]
fn an_expression_that_asks_for_what_was_set_decides_on_every_move() {
    let machine = work(
        "priority = { value = \"from != null ? 3 : given == null ? 7 : given\", set_by = \"submitter\" }",
    );
    assert_eq!(Story::submitted(machine.clone(), "{}").row().priority, 7);
    let mut story = set(machine, Role::Submitter, -5).unwrap();
    assert_eq!(story.row().priority, -5);
    let token = story.claim_any();
    story.finish(token, "again", "{}").unwrap();
    assert_eq!(story.row().priority, 3);
}

#[test]
fn waiting_makes_up_for_a_better_priority_only_as_the_file_says() {
    let ranks = |ageing: &str| {
        [(0, "1h"), (1, "0s")].map(|(priority, later)| {
            let machine = work(&format!("priority = {priority}\n{ageing}"));
            let mut story = Story::of(machine);
            story.pass(later);
            story.submit(support::admin(), "{}").unwrap();
            rank(&story)
        })
    };
    let goes_first = |ranks: [i64; 2]| ranks[0] < ranks[1];
    assert!(!goes_first(ranks("")), "an hour is more than the minute a step is worth");
    assert!(!goes_first(ranks("ageing = \"59m\"")));
    assert!(goes_first(ranks("ageing = \"61m\"")));
    assert!(goes_first(ranks("ageing = \"never\"")));
}

#[test]
fn a_migration_ranks_by_the_new_version_and_keeps_since_when() {
    let mut story = Story::submitted(work("priority = 2"), "{}");
    let since = story.now;
    story.pass("10m");
    let target = WORK
        .replace("version = 1", "version = 2")
        .replace("start = ", "priority = -1\nageing = \"never\"\nstart = ");
    story.tell(&migrate(&pipeline(&target), &[])).unwrap();
    assert_eq!(rank(&story), Ageing::Never.rank(since, -1));
}
