//! Every state × every command of every shipped pipeline, as a table people can read and a diff can show.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use crate::support::{Story, act, all_shipped, fail, finish, json, shipped};
use model::command::{Acknowledge, Amend, Child, Migrate, Redrive, Review, ReviewStep};
use model::decide::Decision;
use model::pipeline::{FinalKind, Kind};
use model::submission::{Children, SlaClock, Status, Wait};
use model::{Caller, Command, Investigation, LeaseToken, Pipeline, Refusal, Role};

/// The values that a pipeline is given in its table.
struct Samples {
    payload: &'static str,
    outputs: &'static [&'static str],
    data: &'static str,
    amendment: &'static str,
}

fn samples(pipeline: &str) -> Samples {
    match pipeline {
        "skill-review" => Samples {
            payload: r#"{"repo_url":"https://github.com/somebody/skills","skill_name":"pdf"}"#,
            outputs: &[
                r#"{"findings":[{"rule":"x"}],"duration_ms":12,"commit":"0123456789abcdef0123456789abcdef01234567","content_hash":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}"#,
                r#"{"score":80,"high_privilege":false,"model":"m"}"#,
                r#"{"score":80,"high_privilege":true}"#,
                r#"{"score":60,"concerns":["c"]}"#,
                r#"{"score":59}"#,
                r#"{"version":"1.0.0","skill_id":"sk_1","commit":"0123456789abcdef0123456789abcdef01234567","content_hash":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}"#,
            ],
            data: r#"{"intent":true,"scope":true,"permissions":true,"security_notes":true,"scripts":true,"dependencies":true,"edge_cases":true}"#,
            amendment: r#"{"email":"ada@example.com"}"#,
        },
        "site-list" => Samples {
            payload: r#"{"fqdn":"example.com","action":"ADD"}"#,
            outputs: &[
                r#"{"signers":null,"threshold":null,"csp":null,"action":"DELETE","entry":"e"}"#,
                r#"{"code":"no-csp","message":"no policy"}"#,
                r#"{"leaf":"l"}"#,
                r#"{"proof":["p"],"tree_head":"h"}"#,
            ],
            data: "{}",
            amendment: r#"{"action":"DELETE"}"#,
        },
        "site-list-check" => Samples {
            payload: "{}",
            outputs: &[
                "{}",
                r#"{"checked":2,"found":0,"findings":[],"gone":{}}"#,
                r#"{"checked":2,"found":1,"findings":[{"host":"a.example","code":"c","message":"m"}],"gone":{}}"#,
            ],
            data: "{}",
            amendment: "{}",
        },
        "ingest-batch" => Samples {
            payload: r#"{"profile":"maps","submitter":"ada","type":"batch-manifest","filename":"b.checkm"}"#,
            outputs: &["{}", r#"{"problem":"no #%eof"}"#],
            data: "{}",
            amendment: r#"{"notification":"ada@example.com"}"#,
        },
        "ingest-job" => Samples {
            payload: r#"{"payload_version":"1","profile":"maps","submitter":"ada","payload_type":"file","filename":"a.jpg","space_needed":0}"#,
            outputs: &[r#"{"space_needed":1}"#],
            data: "{}",
            amendment: r#"{"priority":1}"#,
        },
        "ledger-batch" => Samples {
            payload: r#"{"batch_header":"0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","serialized_batch":"CgMKAQ=="}"#,
            outputs: &["{}", r#"{"error":{"code":"busy","message":"503"}}"#],
            data: "{}",
            amendment: r#"{"trace":true}"#,
        },
        "ledger-finality" => Samples {
            payload: r#"{"batch":"018c2d36-0000-7000-8000-000000000000","service_id":"0x00000000000000000000000000000000000000aa","headers":["0x00000000000000000000000000000000000000000000000000000000000000bb"]}"#,
            outputs: &["{}"],
            data: "{}",
            amendment: "{}",
        },
        "skill-registry" => Samples {
            payload: r#"{"skill":"sk_0123456789abcdef","reason":"it leaks keys"}"#,
            outputs: &["{}", r#"{"skills":[{"id":"sk_0123456789abcdef"}]}"#],
            data: "{}",
            amendment: "{}",
        },
        "sign-request" => Samples {
            payload: r#"{"sign_id":"8fa876fed6eef5587ec23854211ea72b759f3356c421b8d560139eb4d9d8fcbb","chain":"near","sender":"alice.near","payload":"0000000000000000000000000000000000000000000000000000000000000000","path":"test","key_version":0,"finalized":false}"#,
            outputs: &[
                r#"{"big_r":"02aa","s":"bb","recovery_id":0}"#,
                r#"{"transaction":"tx","block_height":8}"#,
                r#"{"s":"00"}"#,
            ],
            data: "{}",
            amendment: r#"{"finalized":true}"#,
        },
        "delivery" => Samples {
            payload: r#"{"cause":"e1","name":"author","channel":"webhook","to":"https://hooks.example/1","body":{}}"#,
            outputs: &[r#"{"status":200}"#],
            data: "{}",
            amendment: r#"{"to":"https://hooks.example/2"}"#,
        },
        other => panic!("say what {other} is given in its table"),
    }
}

/// A submission standing in a state, however it got there.
fn standing(pipeline: &Pipeline, state: &str, samples: &Samples) -> Story {
    let mut story = Story::submitted(pipeline.clone(), samples.payload);
    if &*pipeline.name == "site-list" {
        // What changes the list is read from the second validation.
        story.documents.outputs.insert("SECOND_VALIDATION_IN_PROGRESS".into(), json(samples.outputs[0]));
    }
    let now = story.now;
    let row = story.row.as_mut().unwrap();
    let declared = pipeline.state(state).unwrap();
    row.state = state.into();
    row.status = Status::Open;
    let clock = |_| SlaClock {
        leg: None,
        since: Some(now),
        due_at: now.plus(model::Millis::from_secs(1)),
        late: false,
        moves: declared.sla.as_ref().is_some_and(model::pipeline::Sla::moves),
    };
    row.clocks = declared.sla.iter().map(clock).collect();
    row.wait = match &declared.kind {
        Kind::Pass { .. } => Wait::Guard,
        Kind::Task { task, .. } => Wait::Worker { task: task.name.clone(), rank: 0 },
        Kind::Wait { .. } => Wait::Clock { until: now },
        Kind::Human { .. } => Wait::Person,
        Kind::Join { task: Some(task), .. } => Wait::Worker { task: task.name.clone(), rank: 0 },
        Kind::Join { task: None, .. } => Wait::Children,
        Kind::Final { outcome, .. } => {
            row.status = match outcome {
                FinalKind::Success => Status::Succeeded,
                FinalKind::Failure => Status::Failed,
                FinalKind::Cancelled => Status::Cancelled,
            };
            Wait::Nothing
        }
    };
    row.investigate = declared.investigate().map(|_| Investigation::Open);
    row.timer = row.deadline();
    story
}

/// In a few words: where it went and how, or why not.
fn verdict(before: &Story, decided: Result<Decision, Refusal>) -> String {
    let decision = match decided {
        Err(refusal) => return format!("refused: {}", refusal.code.as_str()),
        Ok(decision) => decision,
    };
    let mut told: Vec<String> = Vec::new();
    for event in &decision.events {
        let leaf = &event.leaf;
        let moved =
            if leaf.from.as_ref() == Some(&leaf.to) { String::new() } else { format!(" -> {}", leaf.to) };
        told.push(format!("{}{moved} ({}, {})", leaf.kind.as_str(), leaf.trigger, leaf.actor.kind.as_str()));
    }
    if told.is_empty() {
        let same = decision.row == *before.row();
        return if same {
            "nothing".to_owned()
        } else {
            format!("no event; waits for {}", waits(&decision.row.wait))
        };
    }
    let mut verdict = told.join(", ");
    if decision.row.status != Status::Open {
        let _ = write!(verdict, " [{}]", decision.row.status.as_str());
    }
    verdict
}

fn waits(wait: &Wait) -> String {
    match wait {
        Wait::Worker { task, .. } => format!("a worker of {task}"),
        Wait::Lease(lease) => format!("the lease of {}", lease.task),
        other => format!("{other:?}").split([' ', '(']).next().unwrap_or_default().to_lowercase(),
    }
}

struct Table {
    text: String,
}

impl Table {
    fn row(&mut self, command: &str, before: &Story, sent: &Command) {
        let verdict = verdict(before, before.clone().decide(sent));
        self.line(command, &verdict);
    }

    /// A row for each, or one for all when they come to the same.
    fn rows(&mut self, all: &str, before: &Story, sent: Vec<(String, Command)>) {
        let verdicts: Vec<_> =
            sent.iter().map(|(_, sent)| verdict(before, before.clone().decide(sent))).collect();
        if verdicts.windows(2).all(|pair| pair[0] == pair[1]) {
            return self.line(all, &verdicts[0]);
        }
        for ((command, _), verdict) in sent.iter().zip(&verdicts) {
            self.line(command, verdict);
        }
    }

    fn line(&mut self, command: &str, verdict: &str) {
        let _ = writeln!(self.text, "  {command:<44} {verdict}");
    }
}

fn worker_rows(table: &mut Table, story: &Story, samples: &Samples) {
    let stale: LeaseToken =
        LeaseToken { submission: story.row().id, lease_no: 99, bits: model::token::Bits([0; 16]) };
    let Wait::Worker { task, .. } = story.row().wait.clone() else {
        table.row("finish with a token of its own making", story, &finish(stale, "done", "{}"));
        let claim = model::command::Claim { worker: "w".into(), tasks: vec!["any.task".into()], lease: None };
        return table.row("claim", story, &Command::Claim(claim));
    };
    let claim = |task: &str| {
        Command::Claim(model::command::Claim { worker: "w".into(), tasks: vec![task.into()], lease: None })
    };
    table.row(&format!("claim {task}"), story, &claim(&task));
    table.row("claim another task", story, &claim("other.task"));
    table.row("finish without a lease", story, &finish(stale, "done", "{}"));
    let mut leased = story.clone();
    let token = leased.claim_any();
    let kind = &story.pipeline.state(story.state()).unwrap().kind;
    if let Kind::Join { .. } = kind {
        table.row("finish sealed", &leased, &finish(token, "sealed", "{}"));
    }
    if let Kind::Task { on, .. } | Kind::Join { on, .. } = kind {
        for outcome in on.keys() {
            let sent = samples.outputs.iter().map(|output| {
                (format!("finish {outcome} {}", short(output)), finish(token, outcome, output))
            });
            table.rows(&format!("finish {outcome}, whatever the output"), &leased, sent.collect());
        }
    }
    table.row("finish with an unknown outcome", &leased, &finish(token, "nonsense", "{}"));
    for code in ["git-clone", "other"] {
        table.row(&format!("fail {code}"), &leased, &fail(token, code, true));
        table.row(&format!("fail {code}, for good"), &leased, &fail(token, code, false));
    }
    let snooze = model::command::Snooze { token, span: model::Millis::from_secs(60) };
    table.row("snooze 1m", &leased, &Command::Snooze(snooze));
    table.row("give back", &leased, &Command::GiveBack(model::command::GiveBack { token }));
    table.row("renew", &leased, &Command::Renew(model::command::Renew { token, progress: None }));
    let lease = leased.row().lease().unwrap().clone();
    let too_long = lease.times_out_at.unwrap_or(lease.expires_at.plus(model::Millis::from_secs(3600)));
    for (name, at) in [
        ("time: within the lease", lease.expires_at.minus(model::Millis::from_secs(1))),
        ("time: the lease is over", lease.expires_at),
        ("time: the attempt took too long", too_long),
    ] {
        leased.now = at;
        table.row(name, &leased, &Command::Wake);
    }
}

fn short(output: &str) -> String {
    output.chars().take(26).collect()
}

fn action_rows(table: &mut Table, story: &Story, samples: &Samples) {
    let mut names: Vec<_> = story
        .pipeline
        .states
        .iter()
        .flat_map(|state| &state.actions)
        .map(|action| action.name.clone())
        .collect();
    names.sort();
    names.dedup();
    for name in names {
        let mut sent = Vec::new();
        for role in [Role::Submitter, Role::Admin] {
            let mut act = act(&name);
            act.caller = Caller::new("someone", role);
            sent.push((format!("{name} by {role}"), Command::Act(act.clone())));
            act.reason = Some("because".to_owned());
            sent.push((format!("{name} by {role}, with a reason"), Command::Act(act.clone())));
            act.data = Some(json(samples.data));
            sent.push((format!("{name} by {role}, with reason and data"), Command::Act(act)));
        }
        table.rows(&format!("{name}, whoever asks"), story, sent);
    }
}

/// Adds what people may do anywhere: amend the payload, set a dead letter going again, acknowledge an end.
fn common_rows(table: &mut Table, story: &Story, samples: &Samples) {
    let amend = |role| {
        let caller = Caller::new("someone", role);
        Command::Amend(Amend { caller, patch: json(samples.amendment), if_match: None })
    };
    let amends = [Role::Worker, Role::Submitter].map(|role| (format!("amend by {role}"), amend(role)));
    table.rows("amend, whoever asks", story, amends.to_vec());
    let redrive = |role| Command::Redrive(Redrive { caller: Caller::new("someone", role), reason: None });
    table.row("redrive", story, &redrive(Role::Admin));
    let acknowledge = |role| {
        let caller = Caller::new("someone", role);
        Command::Acknowledge(Acknowledge { caller, note: None, if_match: None })
    };
    let asks =
        [Role::Reviewer, Role::Admin].map(|role| (format!("acknowledge by {role}"), acknowledge(role)));
    if story.row().investigation().is_some() {
        table.rows("acknowledge, whoever asks", story, asks.to_vec());
    }
    if story.row().wait == Wait::Person {
        let claim = |role| {
            let (caller, step) = (Caller::new("someone", role), ReviewStep::Claim { span: None });
            Command::Review(Review { caller, step, if_match: None })
        };
        let asks = [Role::Submitter, Role::Reviewer, Role::Admin];
        let asks = asks.map(|role| (format!("claim the review by {role}"), claim(role)));
        table.rows("claim the review, whoever asks", story, asks.to_vec());
    }
    if story.row().status != Status::Open {
        return;
    }
    let mut dead = story.clone();
    let row = dead.row.as_mut().unwrap();
    (row.status, row.wait) = (Status::Dead, Wait::Redrive);
    for role in [Role::Reviewer, Role::Admin] {
        table.row(&format!("redrive a dead one, by {role}"), &dead, &redrive(role));
    }
}

/// To a version with the same rules, where it stands or elsewhere, with a worker at it, and to the one it follows.
fn migrate_rows(table: &mut Table, story: &Story) {
    let to = |pipeline: &Pipeline, role| {
        let caller = Caller::new("someone", role);
        Command::Migrate(Migrate {
            caller,
            target: Arc::new(pipeline.clone()),
            map: BTreeMap::new(),
            reason: None,
        })
    };
    let mut next = story.pipeline.clone();
    next.version += 1;
    let asks = [Role::Reviewer, Role::Admin].map(|role| (format!("migrate by {role}"), to(&next, role)));
    table.rows("migrate, whoever asks", story, asks.to_vec());
    let state = &story.row().state;
    let elsewhere = next.states.iter().find(|other| other.name != *state && !other.is_final());
    let Some(elsewhere) = elsewhere.filter(|_| story.row().status == Status::Open) else { return };
    let Command::Migrate(mut mapped) = to(&next, Role::Admin) else { unreachable!("made above") };
    mapped.map.insert(state.clone(), elsewhere.name.clone());
    table.row(&format!("migrate, mapped to {}", elsewhere.name), story, &Command::Migrate(mapped));
    table.row("migrate to the version it follows", story, &to(&story.pipeline, Role::Admin));
    if matches!(story.row().wait, Wait::Worker { .. }) {
        let mut leased = story.clone();
        leased.claim_any();
        table.row("migrate with its worker", &leased, &to(&next, Role::Admin));
    }
}

/// Adds what the end of the last of its children means, and that one goes on again.
fn children_rows(table: &mut Table, story: &Story) {
    let state = story.pipeline.state(story.state()).unwrap();
    if !state.on_parent_cancelled.is_empty() {
        table.row("its parent is cancelled", story, &Command::ParentCancelled);
    }
    let kind = &state.kind;
    let reopens = matches!(kind, Kind::Final { on_reopened, .. } if !on_reopened.is_empty());
    if !reopens && !matches!(kind, Kind::Join { .. }) {
        return;
    }
    let mut story = story.clone();
    let row = story.row.as_mut().unwrap();
    if row.status == Status::Open {
        row.wait = Wait::Children;
    }
    let ends = [
        ("its last child succeeds", Status::Open, Status::Succeeded),
        ("its last child is cancelled", Status::Open, Status::Cancelled),
        ("its last child fails", Status::Open, Status::Failed),
        ("its last child dies", Status::Open, Status::Dead),
        ("a child goes on again", Status::Failed, Status::Open),
    ];
    for (name, before, after) in ends {
        let row = story.row.as_mut().unwrap();
        row.children = Children { total: 2, succeeded: 1, ..Children::default() };
        *row.children.of(before) += 1;
        table.row(name, &story, &Command::Child(Child { before, after }));
    }
}

#[test]
fn every_state_and_every_command_of_every_shipped_pipeline() {
    for name in all_shipped() {
        let (pipeline, samples) = (shipped(&name), samples(&name));
        let mut table = Table { text: String::new() };
        for state in &pipeline.states {
            let _ = writeln!(table.text, "{}", state.name);
            let story = standing(&pipeline, &state.name, &samples);
            worker_rows(&mut table, &story, &samples);
            action_rows(&mut table, &story, &samples);
            common_rows(&mut table, &story, &samples);
            migrate_rows(&mut table, &story);
            children_rows(&mut table, &story);
            let mut later = story.clone();
            later.pass("52w");
            table.row("time: a year later", &later, &Command::Wake);
        }
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(format!("table-{name}"), table.text);
        });
    }
}
