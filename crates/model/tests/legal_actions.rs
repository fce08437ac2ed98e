//! Callers are told that they may do exactly what they may do.

use crate::support::{Story, pipeline};
use model::command::Act;
use model::decide::{Current, actions, deeds};
use model::{Caller, Code, Command, Context, Name, Role};
use wire::api::{ActionView, DeedView};

const REVIEW: &str = r#"
name = "review"
version = 1
start = "REVIEW"

[params]
least = 80

[states.REVIEW]
review = "reviewer"
actions.approve = { to = "DONE", approvals = 2, self_approval = false, task = "review.publish" }
actions.pass-on = [
  { to = "DONE", when = "payload.score >= params.least && payload.author != ''" },
  { to = "LOST", when = "payload.score < 10" },
]
actions.grade = [
  { to = "DONE", when = "data.grade > 3", data = "grade.json" },
  { to = "LOST", data = "grade.json", reason = true },
]
actions.reject = { to = "LOST", reason = true, role = "admin" }

[states.DONE]
final = "success"

[states.LOST]
final = "failure"
actions.resume = { to = ["REVIEW", "DONE"] }
"#;

fn review() -> model::Pipeline {
    let mut source = model::pipeline::Source::new("review.toml", REVIEW);
    let grade = r#"{"type":"object","required":["grade"],"properties":{"grade":{"type":"integer"}}}"#;
    source.files.insert("grade.json".to_owned(), grade.to_owned());
    model::pipeline::load(&source).unwrap_or_else(|problems| panic!("{}", problems.render(&source)))
}

fn context(story: &Story) -> Context {
    let (hold, lane_free, key_holder) = (story.hold.clone(), story.lane_free, story.key_holder);
    Context { hold, lane_free, key_holder, ..Context::of_look(story.now) }
}

fn told(story: &Story, caller: &Caller) -> Vec<ActionView> {
    let current = Current { row: story.row(), documents: &story.documents };
    actions(&story.pipeline, current, caller, &context(story))
}

fn one(story: &Story, name: &str, role: Role, action: &str) -> ActionView {
    let all = told(story, &Caller::new(name, role));
    all.into_iter().find(|view| &*view.name == action).unwrap()
}

fn code(view: &ActionView) -> Option<&str> {
    assert_eq!(view.legal, view.refusal.is_none());
    view.refusal.as_ref().map(|refusal| &*refusal.code)
}

/// Holds everything that a caller is told against what is decided when they try.
pub(crate) fn agrees_with_decisions(story: &Story, caller: &Caller) {
    for view in told(story, caller) {
        let tried = |to: Option<&Name>| {
            let act = Act {
                caller: caller.clone(),
                action: view.name.clone(),
                reason: Some("because".to_owned()),
                data: None,
                to: to.cloned(),
                if_match: None,
            };
            match story.clone().decide(&Command::Act(act)) {
                Ok(decision) if decision.events.is_empty() => Some(Code::AlreadyAsked.as_str()),
                Ok(_) => None,
                Err(refusal) => Some(refusal.code.as_str()),
            }
        };
        let Some(form) = view.forms.first() else {
            assert_eq!(tried(None), code(&view), "{} in {}", view.name, story.state());
            continue;
        };
        // What depends on the data is decided when they are there.
        for target in form.to.iter().filter(|_| form.when.is_none() && form.data.is_none()) {
            let told = target.refusal.as_ref().map(|refusal| &*refusal.code);
            let state = story.state();
            assert_eq!(tried(Some(&target.state)), told, "{} to {} in {state}", view.name, target.state);
        }
    }
}

#[test]
fn a_form_says_what_an_action_asks_for() {
    let story = Story::submitted(review(), r#"{"score":85,"author":"x"}"#);
    let approve = one(&story, "bob", Role::Reviewer, "approve");
    assert_eq!((code(&approve), &*approve.title), (None, "Approve"));
    let form = &approve.forms[0];
    assert_eq!((form.role, form.reason, form.approvals), (Role::Reviewer, false, 2));
    assert_eq!(form.task.as_deref(), Some("review.publish"));
    assert_eq!((form.pick.as_deref(), &*form.to[0].state), (Some("DONE"), "DONE"));
    assert_eq!(form.agreement(&form.to[0]).unwrap(), "2 people must agree; nobody has yet");
    let reject = one(&story, "root", Role::Admin, "reject");
    assert!(reject.forms[0].reason);
    assert_eq!(reject.forms[0].agreement(&reject.forms[0].to[0]), None);
}

#[test]
fn each_refusal_is_the_one_that_trying_it_gives() {
    let mut story = Story::submitted(review(), r#"{"score":50,"author":""}"#);
    assert_eq!(code(&one(&story, "ada", Role::Admin, "approve")), Some("self-approval"));
    assert_eq!(code(&one(&story, "bob", Role::Reviewer, "reject")), Some("role-required"));
    let passing = one(&story, "bob", Role::Reviewer, "pass-on");
    assert_eq!(code(&passing), Some("guard-not-met"));
    let refusal = passing.refusal.unwrap();
    assert_eq!(
        refusal.detail,
        "the conditions of `pass-on` do not hold now: not `payload.score >= params.least` and \
         `payload.author != ''`, nor `payload.score < 10`"
    );
    assert_eq!(refusal.more["values"]["payload.score"], 50);
    let elsewhere = one(&story, "bob", Role::Reviewer, "resume");
    assert_eq!(code(&elsewhere), Some("action-not-allowed"));
    assert_eq!(elsewhere.refusal.unwrap().more["states"], serde_json::json!(["LOST"]));

    story.act_by("bob", "approve").unwrap();
    let again = one(&story, "Bob", Role::Reviewer, "approve");
    assert_eq!(code(&again), Some("already-asked"));
    let form = &again.forms[0];
    assert_eq!(form.agreement(&form.to[0]).unwrap(), "1 of 2 have agreed (bob); one more is needed");
    assert_eq!(code(&one(&story, "cleo", Role::Reviewer, "approve")), None);
    story.act_by("cleo", "approve").unwrap();
    assert_eq!(code(&one(&story, "dora", Role::Reviewer, "approve")), Some("already-asked"));
    for name in ["ada", "bob", "dora"] {
        agrees_with_decisions(&story, &Caller::new(name, Role::Reviewer));
    }
}

#[test]
fn conditions_on_the_data_leave_every_way_open() {
    let story = Story::submitted(review(), r#"{"score":1,"author":""}"#);
    let grade = one(&story, "bob", Role::Reviewer, "grade");
    let ways: Vec<_> = grade.forms.iter().map(|form| (form.when.as_deref(), form.reason)).collect();
    assert_eq!(ways, [(Some("data.grade > 3"), false), (None, true)]);
    assert!(grade.legal && grade.forms.iter().all(|form| form.data.is_some()));
}

#[test]
fn one_that_must_be_told_where_to_has_its_choices() {
    let mut story = Story::submitted(review(), r#"{"score":1,"author":""}"#);
    story
        .tell(&Command::Act(Act { reason: Some("no".to_owned()), ..crate::support::act("reject") }))
        .unwrap();
    let resume = one(&story, "root", Role::Admin, "resume");
    let to: Vec<_> = resume.forms[0].to.iter().map(|target| (&*target.state, target.legal)).collect();
    assert_eq!(to, [("REVIEW", true), ("DONE", true)]);
    assert_eq!(resume.forms[0].pick.as_deref(), Some("REVIEW"), "where it failed");
}

#[test]
fn what_is_asked_by_other_calls_is_told_too() {
    let story = Story::submitted(review(), "{}");
    let current = Current { row: story.row(), documents: &story.documents };
    let deeds = deeds(&story.pipeline, current, &Caller::new("root", Role::Admin), &context(&story));
    let told: Vec<_> = deeds.iter().map(|DeedView { name, legal, .. }| (&**name, *legal)).collect();
    assert_eq!(
        told,
        [("amend", false), ("redrive", false), ("acknowledge", false), ("review", true), ("note", true)]
    );
    let plain = pipeline(
        "name='p'\nversion=1\namend={fields=['a'],role='submitter'}\nstart='A'\n[states.A]\ntask='p.a'\non.ok='B'\n[states.B]\nfinal='success'\n",
    );
    let mut story = Story::submitted(plain, "{}");
    let token = story.claim("p.a").unwrap();
    story.fail(token, "x").unwrap();
    let current = Current { row: story.row(), documents: &story.documents };
    let deeds =
        model::decide::deeds(&story.pipeline, current, &Caller::new("root", Role::Admin), &context(&story));
    let told: Vec<_> = deeds.iter().map(|deed| (&*deed.name, deed.legal)).collect();
    assert_eq!(
        told,
        [("amend", true), ("redrive", true), ("acknowledge", false), ("review", false), ("note", true)]
    );
}
