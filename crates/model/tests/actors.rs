//! In whose name events are recorded.

use crate::support;

use model::Code;
use support::{Story, pipeline};

#[test]
fn moves_of_the_system_carry_nobodys_name() {
    let machine = pipeline(
        r#"name = "route"
version = 1
start = { to = "WORK", actor = "system" }
[states.WORK]
task = "work.do"
on.done = { to = "LOOK", actor = "system" }
on.dull = { to = "LOOK", actor = "submitter" }
[states.LOOK]
review = "reviewer"
actions.show = { to = "SORT", self_approval = false }
actions.end = { to = "SORT", actor = "system" }
[states.SORT]
next = [{ to = "LOST", when = "has(payload.lost)" }, "DONE"]
[states.DONE]
final = "success"
[states.LOST]
final = "failure"
"#,
    );
    let actors = |story: &Story| -> Vec<String> {
        let one = |event: &model::Event| format!("{} {}", event.leaf.actor.kind.as_str(), event.detail.actor);
        story.events.iter().map(one).collect()
    };
    let mut story = Story::submitted(machine, "{}");
    let mut dull = story.clone();
    let token = story.claim_any();
    story.finish(token, "done", "{}").unwrap();
    assert_eq!(actors(&story), ["system system"; 2]);
    // Whoever submitted it is still known to whoever must not approve it.
    assert_eq!(&*story.row().submitter, "ada");
    assert_eq!(story.act("show").unwrap_err().code, Code::SelfApproval);
    let mut shown = story.clone();
    shown.act_by("cleo", "show").unwrap();
    assert_eq!(actors(&shown)[2..], ["admin cleo", "system system"]);
    story.act("end").unwrap();
    assert_eq!(actors(&story), ["system system"; 4]);
    // One pseudonym for all of them.
    let ids: std::collections::BTreeSet<_> =
        story.events.iter().map(|event| event.leaf.actor.id.to_string()).collect();
    assert_eq!(ids.len(), 1);
    assert_eq!(&*support::replay(&story.events).unwrap().submitter, "ada");
    let token = dull.claim_any();
    dull.finish(token, "dull", "{}").unwrap();
    assert_eq!(actors(&dull)[1], "submitter w1", "another kind is how the one who acted is shown");
}
