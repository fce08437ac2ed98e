//! Holds: placing, listing and releasing them.

use engine::Hold;
use engine::holds::HOLDS;
use engine::pipelines::Versions;
use model::admit::{KEY_BYTES_MAX, REASON_BYTES_MAX};
use model::{Actor, Code, Name, Pipeline, Refusal, Submission};
use wire::api::{Held, HoldBody, HoldList, HoldView};

use crate::refusals::no_submission;
use crate::{App, Visitor, invalid, quote};

const LABELS_MAX: usize = 16;
/// The holds that are shown with one submission.
const SHOWN_MAX: usize = 20;
/// The holds that are shown with each submission of a list.
const LISTED_MAX: usize = 3;
const REASON_CHARS_LISTED: usize = 200;

impl App {
    /// Places a hold in the visitor's name.
    pub async fn hold(&self, body: HoldBody) -> Result<HoldView, Refusal> {
        check_size(&body)?;
        let pipeline = self.scope_of(&body).await?;
        self.check_hold_names(&self.engine.pipelines().current(), pipeline.as_ref(), &body)?;
        let mut labels = body.labels.into_iter().map(|(label, value)| (label.into(), value.into())).collect();
        self.visitor.narrow_labels(&mut labels)?;
        let caller = &self.visitor.caller;
        let hold = Hold {
            id: self.engine.fresh_id().to_string().into(),
            pipeline,
            labels,
            lane: body.lane.map(Name::from),
            submission: body.submission,
            reason: body.reason,
            owner: Actor { kind: caller.role.into(), name: caller.name.clone() },
            created_at: self.engine.now(),
            expires_at: body.expires_at,
        };
        Ok(view(&self.sharing().hold(hold).await?))
    }

    /// Lists the holds that stop something the visitor may see.
    pub async fn holds(&self) -> Result<HoldList, Refusal> {
        let holds = self.engine.holds().current();
        let holds = holds.all().filter(|hold| concerns(&self.visitor, hold)).cloned().collect();
        let seen = self.seen_holds(holds).await?;
        Ok(HoldList { holds: seen.iter().map(view).collect() })
    }

    /// Releases a hold whose every submission is the visitor's business.
    pub async fn release(&self, id: &str) -> Result<HoldView, Refusal> {
        // Not what this server knows: another one may have placed it a moment ago, and its end would be decided all the same.
        let name = id.to_owned();
        let kept = self.engine.read(move |store| store::registry_entry(store, HOLDS, &name)).await?;
        let hold: Option<Hold> = kept.and_then(|body| serde_json::from_str(body.as_str()).ok());
        if hold.is_none_or(|hold| !owns(&self.visitor, &hold)) {
            return Err(Refusal::new(Code::UnknownHold, format!("no hold {}", quote(id))));
        }
        Ok(view(&self.by().release(id).await?))
    }

    /// Returns the first holds over a submission, as those see it who look at the submission. The one that took it out of its
    /// queue comes before all others.
    pub(crate) fn holds_over(&self, row: &Submission) -> Vec<Held> {
        let short = |hold: &Hold| Held {
            id: hold.id.clone(),
            reason: hold.reason.clone(),
            owner: hold.owner.clone(),
            expires_at: hold.expires_at,
        };
        let holds = self.engine.holds().current();
        let is_first = |hold: &&Hold| row.parked.as_ref() == Some(&hold.id);
        let (first, others): (Vec<_>, Vec<_>) = holds.over(row).partition(is_first);
        first.into_iter().chain(others).take(SHOWN_MAX).map(short).collect()
    }

    /// Returns the holds over a submission that a list shows: few, and the beginnings of their reasons. A page of a thousand
    /// submissions must not have a thousand holds with each.
    pub(crate) fn holds_listed(&self, row: &Submission) -> Vec<Held> {
        let mut holds = self.holds_over(row);
        holds.truncate(LISTED_MAX);
        for hold in &mut holds {
            if let Some((end, _)) = hold.reason.char_indices().nth(REASON_CHARS_LISTED) {
                hold.reason.truncate(end);
                hold.reason.push('…');
            }
        }
        holds
    }

    /// Returns those of some holds that name no submission, or one the visitor sees: a hold does not say which labels that
    /// has.
    async fn seen_holds(&self, holds: Vec<Hold>) -> Result<Vec<Hold>, Refusal> {
        if self.visitor.labels.is_empty() {
            return Ok(holds);
        }
        let visitor = self.visitor.clone();
        let read = self.engine.read(move |store| {
            let mut seen = Vec::new();
            for hold in holds {
                let row = match hold.submission {
                    Some(id) => store.submission(id)?.map(|(row, _)| row),
                    None => None,
                };
                if hold.submission.is_none() || row.is_some_and(|row| visitor.sees_row(&row)) {
                    seen.push(hold);
                }
            }
            Ok(seen)
        });
        read.await
    }

    /// Returns the pipeline a hold is for: a submission has one, and whoever has a token for some pipelines must say which.
    async fn scope_of(&self, body: &HoldBody) -> Result<Option<Name>, Refusal> {
        let given = body.pipeline.as_deref().map(Name::from);
        let Some(id) = body.submission else { return self.chosen_pipeline(given) };
        let found = self.engine.read(move |store| store.submission(id)).await?;
        let row = found.map(|(row, _)| row).filter(|row| self.visitor.sees_row(row));
        let row = row.ok_or_else(|| no_submission(id))?;
        match given {
            Some(name) if name != row.pipeline => {
                Err(invalid(format!("submission {id} is one of `{}`; leave `pipeline` out", row.pipeline)))
            }
            _ => Ok(Some(row.pipeline)),
        }
    }

    /// Refuses names that no submission has: a misspelt hold stops nothing, which nobody would notice.
    fn check_hold_names(
        &self,
        versions: &Versions,
        pipeline: Option<&Name>,
        body: &HoldBody,
    ) -> Result<(), Refusal> {
        if let Some(name) = pipeline {
            self.in_force(versions, name)?;
        }
        let names = versions.all().map(|latest| &latest.name);
        let names: Vec<_> = names.filter(|name| pipeline.is_none_or(|wanted| wanted == *name)).collect();
        let candidates: Vec<_> = names.iter().flat_map(|name| versions.versions(name)).collect();
        for label in body.labels.keys() {
            let has = |pipeline: &Pipeline| pipeline.labels.iter().any(|(name, _)| **name == **label);
            if !candidates.iter().any(|pipeline| has(pipeline)) {
                return Err(invalid(format!("no submission there has a label {}", quote(label))));
            }
        }
        if body.lane.is_some() && !candidates.iter().any(|pipeline| pipeline.lane.is_some()) {
            return Err(invalid("no submission there has a lane; hold by pipeline, label or submission"));
        }
        Ok(())
    }
}

fn view(hold: &Hold) -> HoldView {
    let Hold { id, pipeline, labels, lane, submission, reason, owner, created_at, expires_at } = hold.clone();
    HoldView { id, pipeline, labels, lane, submission, reason, owner, created_at, expires_at }
}

/// Tells whether the hold stops something the visitor may see.
fn concerns(visitor: &Visitor, hold: &Hold) -> bool {
    hold.pipeline.as_ref().is_none_or(|pipeline| visitor.sees(pipeline)) && visitor.may_cover(&hold.labels)
}

/// Tells whether everything the hold stops is the visitor's business.
fn owns(visitor: &Visitor, hold: &Hold) -> bool {
    let pipeline = match &hold.pipeline {
        Some(pipeline) => visitor.sees(pipeline),
        None => visitor.pipelines.is_none(),
    };
    pipeline && visitor.covers(&hold.labels)
}

fn check_size(body: &HoldBody) -> Result<(), Refusal> {
    if body.reason.trim().is_empty() {
        return Err(Refusal::new(Code::ReasonRequired, "a hold needs a reason: whoever finds it reads it"));
    }
    if body.reason.len() > REASON_BYTES_MAX {
        let message = format!("the reason is over {REASON_BYTES_MAX} bytes");
        return Err(Refusal::new(Code::TooLarge, message).with("max_bytes", REASON_BYTES_MAX));
    }
    let nothing = body.pipeline.is_none() && body.labels.is_empty() && body.lane.is_none();
    if nothing && body.submission.is_none() {
        return Err(invalid(
            "this hold names nothing and would stop everything; name a `pipeline`, `labels`, a `lane` or a `submission`",
        ));
    }
    let mut words = body.labels.values().chain(&body.lane);
    if body.labels.len() > LABELS_MAX || words.clone().any(|word| word.len() > KEY_BYTES_MAX) {
        let message =
            format!("a hold has at most {LABELS_MAX} labels, and values up to {KEY_BYTES_MAX} bytes");
        return Err(Refusal::new(Code::TooLarge, message));
    }
    match words.any(String::is_empty) {
        true => Err(invalid("an empty label or lane holds nothing; leave it out")),
        false => Ok(()),
    }
}
