//! Answers: what was granted is there, what was refused had a reason, and trouble is blamed on trouble alone.

use engine::core::{Ask, ClaimMany, Due, Granted, Output, Reply};
use engine::pipelines::{AppliedVersion, Apply, Brought, Intent};
use model::admit::Admission;
use model::submission::Wait;
use model::{Code, Command, Pipeline, Refusal, Submission, SubmissionId};
use store::RegistryKey;

use super::act::Acted;
use super::explained::Causes;
use super::ledger::Ledger;
use super::settlement::{self, Asked};
use super::{Checked, Seen, duplicates, ensure, investigated, migrated, retirement, reviewed, right};
use crate::actors::{Heard, token};
use crate::finding::finding;
use crate::report::Report;

pub(super) fn check(ledger: &mut Ledger, seen: &Seen<'_>, report: &mut Report) -> Checked {
    let causes = Causes::of(seen);
    for (index, (input, heard)) in seen.inputs.iter().zip(seen.heard).enumerate() {
        let checked = match (&input.ask, heard) {
            (Ask::Tell(id, command), _) if token(command).is_some() => {
                let token = token(command).expect("looked at just now");
                settlement::check(
                    ledger,
                    &Asked { index, id: *id, command, token, causes: &causes, now: seen.now },
                    heard,
                    report,
                )
            }
            (_, Heard::Silence) => Ok(()),
            (ask, Heard::Told(outcome)) => {
                told(ledger, seen, ask, outcome, report).and_then(|()| match (ask, &**outcome) {
                    (Ask::Submit(admission), Ok(Output::Submission(answered))) if input.once.is_none() => {
                        duplicates::merged(ledger, seen, admission, answered)
                    }
                    (Ask::Tell(id, command), _) if causes.is_first(*id, index) => {
                        acted(ledger, *id, command, outcome)
                    }
                    (Ask::Claim(claim), Ok(Output::Tasks(granted))) => {
                        granted.iter().try_for_each(|granted| {
                            leased(ledger, claim, granted, causes.is_first(granted.row.id, usize::MAX))
                        })
                    }
                    _ => Ok(()),
                })
            }
        };
        let blamed = checked.and_then(|()| blame(ledger, seen, (&input.ask, heard), report));
        blamed.map_err(|problem| problem.about(format_args!("; asked {}", asked(&input.ask))))?;
    }
    Ok(())
}

fn asked(ask: &Ask) -> String {
    match ask {
        Ask::Apply(apply) => format!("to apply {} ({:?})", apply.pipeline.label(), apply.intent),
        other => format!("{other:?}"),
    }
}

/// Refusals that blame the store, or nobody.
fn blame(ledger: &Ledger, seen: &Seen<'_>, (ask, heard): (&Ask, &Heard), report: &mut Report) -> Checked {
    let Some(code) = heard.code() else { return Ok(()) };
    report.count(format!("refused/{}", code.as_str()));
    match code {
        Code::Internal => Err("the engine found a fault in itself".into()),
        Code::Unavailable if retirement::came_late(ledger, ask) => Ok(()),
        Code::Unavailable | Code::OutcomeUnknown if seen.faults.is_empty() => {
            Err(finding!("nothing was wrong with the store, and the answer was {}", code.as_str()))
        }
        _ => Ok(()),
    }
}

fn told(ledger: &Ledger, seen: &Seen<'_>, ask: &Ask, outcome: &Reply, report: &mut Report) -> Checked {
    if let Ok(Output::Submission(answered)) = outcome {
        promised(ledger, &answered.row)?;
    }
    match (ask, outcome) {
        (Ask::Submit(admission), Ok(Output::Submission(answered))) => {
            report.count(if answered.duplicate { "answer/duplicate" } else { "answer/submitted" });
            let same = answered.row.key.as_ref() == admission.key()
                && answered.row.pipeline == *admission.pipeline();
            ensure!(same, "a submission was answered with one of another key");
            Ok(())
        }
        (Ask::Submit(admission), Err(refusal)) => not_submitted(ledger, seen, admission, refusal),
        (Ask::Claim(claim), Ok(Output::Tasks(granted))) => {
            ensure!(granted.len() <= claim.max, "a claim was given more than it asked for");
            report.add("answer/granted", granted.len() as u64);
            Ok(())
        }
        (Ask::Apply(apply), Ok(Output::Applied(brought))) => {
            report.count(match (brought.changed, brought.is_rollback(), brought.pipeline.revision) {
                (false, ..) => "answer/applied-already",
                (true, true, _) => "answer/rolled-back",
                (true, false, 1) => "answer/applied",
                (true, false, _) => "answer/revised",
            });
            applied(ledger, seen, &apply.pipeline, brought)
        }
        (Ask::Apply(apply), Err(refusal)) => not_applied(ledger, seen, apply, refusal.code),
        (Ask::RetireVersion { pipeline, version }, outcome) => {
            retirement::check(ledger, (pipeline, *version), outcome, report)
        }
        (Ask::Tell(..), Ok(Output::Submission(_))) => {
            report.count("answer/acted");
            Ok(())
        }
        (Ask::Hold(hold), Ok(Output::Hold(placed))) => {
            ensure!(hold.id == placed.id, "another hold was placed");
            report.count("answer/hold-placed");
            Ok(())
        }
        (Ask::Release(id), Ok(Output::Hold(hold))) => {
            ensure!(*id == hold.id, "another hold was released");
            report.count("answer/hold-released");
            Ok(())
        }
        (Ask::MoveCursor(wanted), Ok(Output::Cursor(cursor))) => {
            ensure!(cursor.position == wanted.position, "a cursor was moved elsewhere");
            report.count("answer/cursor-moved");
            Ok(())
        }
        (Ask::MoveCursor(wanted), Err(refusal)) if refusal.code == Code::CursorAhead => {
            ensure!(!wanted.rewind, "a cursor was not rewound");
            Ok(())
        }
        (Ask::Tick(tick), Ok(Output::Scheduled(scheduled))) => {
            let served = scheduled.at >= tick.at || matches!(tick.due, Due::Begin);
            ensure!(served, "a time of {} was taken and not served", tick.name());
            Ok(())
        }
        (Ask::Start(_) | Ask::Stop(_) | Ask::Operate(_), Ok(Output::Operation(_)))
        | (Ask::Drop { .. } | Ask::Retire { .. } | Ask::LookAside(_) | Ask::Log(_), Ok(Output::Gone)) => {
            Ok(())
        }
        (Ask::Release(id), Err(refusal)) if refusal.code == Code::UnknownHold => {
            ensure!(!ledger.lasting_holds.contains_key(id), "hold {id} is there and was said not to be");
            Ok(())
        }
        (_, Err(_)) => Ok(()),
        (_, Ok(other)) => Err(finding!("the answer is of another kind: {other:?}")),
    }
}

/// Checks that what was acknowledged is in the history, at that revision, with that leaf.
fn promised(ledger: &Ledger, row: &Submission) -> Checked {
    let known = ledger.ever(row.id);
    let known = known.ok_or_else(|| finding!("{} was acknowledged and is not there", row.id))?;
    let index = usize::try_from(row.revision).unwrap_or(usize::MAX).wrapping_sub(1);
    ensure!(
        known.history.get(index) == Some(&row.leaf),
        "revision {} of {} was acknowledged and is not in its history",
        row.revision,
        row.id
    );
    Ok(())
}

fn not_submitted(ledger: &Ledger, seen: &Seen<'_>, admission: &Admission, refusal: &Refusal) -> Checked {
    match refusal.code {
        Code::DuplicateKey | Code::KeyConflict => duplicates::refused(ledger, seen, admission, refusal),
        Code::GuardError | Code::IdempotencyMismatch | Code::Unavailable | Code::OutcomeUnknown => Ok(()),
        code => Err(finding!("a submission was refused with {}", code.as_str())),
    }
}

/// `untold`: nothing in the step was said to the submission. What made it ready in the step that leased it was an event
/// then, or something it waited for that ends without one.
fn leased(ledger: &Ledger, claim: &ClaimMany, granted: &Granted, untold: bool) -> Checked {
    let (id, row) = (granted.row.id, &granted.row);
    let lease = row.lease().ok_or_else(|| finding!("{id} was granted without a lease"))?;
    let could = ledger.before(id).is_none_or(|before| {
        let silent = matches!(before.wait, Wait::Worker { .. } | Wait::Delay { .. } | Wait::Line | Wait::Key);
        silent || before.revision < row.revision
    });
    ensure!(could || !untold, "{id} was leased while it waited for something else");
    ensure!(claim.tasks.contains(&lease.task), "{id} was leased for a task nobody asked for");
    let of_pipeline = claim.pipelines.is_empty() || claim.pipelines.contains(&row.pipeline);
    let labelled = claim.labels.iter().all(|(label, value)| row.labels.get(label) == Some(value));
    ensure!(of_pipeline && labelled, "{id} was leased to a worker that wanted others");
    let token = granted.token;
    let same = (token.submission, token.lease_no, token.bits) == (id, lease.no, lease.bits)
        && lease.worker == claim.worker;
    ensure!(same, "the token of {id} is not that of its lease");
    let known = &ledger.known[&id];
    let unchanged = known.row.revision == granted.row.revision;
    ensure!(
        !unchanged || granted.documents == known.documents,
        "{id} was leased with other documents than it has"
    );
    Ok(())
}

fn applied(ledger: &Ledger, seen: &Seen<'_>, asked: &Pipeline, brought: &Brought) -> Checked {
    let (pipeline, label) = (&brought.pipeline, brought.pipeline.label());
    ensure!(pipeline.is_revision_of(asked), "{label} was applied, and it is not what was asked for");
    let versions = seen.pipelines.current();
    let known = versions.version(&pipeline.name, pipeline.version);
    // It may have been revised once more in the same step.
    let is_known =
        known.is_some_and(|known| known.revision > pipeline.revision || known.digest == pipeline.digest);
    ensure!(is_known, "{label} was applied and is not known");
    let logged = ledger.registry.applied(&pipeline.name);
    ensure!(logged.contains(&AppliedVersion::from(&**pipeline)), "{label} was applied and is not on record");
    let in_force = versions.in_force(&pipeline.name).map(|known| known.version);
    let last = logged.last().map(|last| last.version);
    // Another may have been applied behind it in the step, of whose commit the server has not heard: it learns of that with
    // its next commit.
    let unheard = !seen.faults.is_empty() && in_force == Some(pipeline.version);
    ensure!(
        in_force == last || unheard,
        "version {in_force:?} of `{}` is in force, and it is not what was applied last; faults: {:?}",
        pipeline.name,
        seen.faults
    );
    Ok(())
}

fn not_applied(ledger: &Ledger, seen: &Seen<'_>, apply: &Apply, code: Code) -> Checked {
    let pipeline = &apply.pipeline;
    let key =
        RegistryKey { kind: "pipeline".into(), name: format!("{}@{}", pipeline.name, pipeline.version) };
    let stored = ledger.registry.entry(&key.kind, &key.name);
    let stored = stored
        .map(crate::pipelines::stored)
        .transpose()
        .map_err(|error| finding!("a stored definition does not load: {error}"))?;
    let logged = ledger.registry.applied(&pipeline.name);
    let justified = match code {
        Code::VersionExists => stored.is_some_and(|stored| !stored.is_revision_of(pipeline)),
        Code::VersionOutdated => {
            let others = logged.iter().map(|applied| applied.version).any(|version| {
                version > pipeline.version || apply.intent == Intent::Start && version < pipeline.version
            });
            let retired = ledger.registry.is_retired(&pipeline.name, pipeline.version);
            (others || retired) && apply.intent != Intent::Rollback
        }
        // It may have been applied later in the same step.
        Code::UnknownVersion => {
            let mut changes = seen.commits.iter().flat_map(|commit| &commit.changes.registry);
            let new = stored.is_none() || changes.any(|change| change.key == key);
            new && apply.intent == Intent::Rollback
        }
        Code::Unavailable | Code::OutcomeUnknown => true,
        _ => false,
    };
    ensure!(justified, "a pipeline was refused with {}", code.as_str());
    Ok(())
}

/// An action that was decided on the row as it was before the step.
fn acted(ledger: &Ledger, id: SubmissionId, command: &Command, outcome: &Reply) -> Checked {
    let Some(before) = ledger.before(id) else {
        if ledger.gone.contains_key(&id) && matches!(outcome, Ok(Output::Submission(_))) {
            // The answer kept for an earlier request, to one that was forgotten since.
            return Ok(());
        }
        let code = outcome.as_ref().err().map(|refusal| refusal.code);
        let fits = matches!(
            code,
            Some(
                Code::UnknownSubmission
                    | Code::Unavailable
                    | Code::OutcomeUnknown
                    | Code::IdempotencyMismatch
            )
        );
        ensure!(fits, "{id} does not exist, and an action on it was answered {outcome:?}");
        return Ok(());
    };
    let act = match command {
        Command::Act(act) => act,
        Command::Amend(amend) => return right::amended(ledger, before, amend, outcome),
        Command::Redrive(redrive) => return right::redriven(before, redrive, outcome),
        Command::Acknowledge(asked) => return investigated::answered(&ledger.law, before, asked, outcome),
        Command::Review(review) => return reviewed::answered(&ledger.law, before, review, outcome),
        Command::Note(note) => return reviewed::noted(before, note, outcome),
        Command::Migrate(migrate) => return migrated::answered(ledger, before, migrate, outcome),
        _ => return Err("a command that no client sends".into()),
    };
    let acted = Acted { law: &ledger.law, before, act };
    match outcome {
        // An older revision: the answer kept for an earlier request. Its own check has looked at it.
        Ok(Output::Submission(answered)) if answered.row.revision <= before.revision => Ok(()),
        Ok(Output::Submission(answered)) => acted.granted(&answered.row),
        Ok(other) => Err(finding!("an action was answered {other:?}")),
        Err(refusal) => match refusal.code {
            Code::Unavailable | Code::OutcomeUnknown | Code::IdempotencyMismatch => Ok(()),
            _ => acted.refused(refusal),
        },
    }
}
