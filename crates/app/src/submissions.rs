//! Looking at submissions: one, a page of them, one's history.

use std::collections::BTreeMap;

use engine::pipelines::Versions;
use model::event::Change;
use model::owed::{self, DELIVERY};
use model::{
    Code, Documents, Event, InvestigationStatus, Name, Refusal, Right, Status, Submission, SubmissionId,
};
use serde_json::json;
use store::{Query, Store};
use wire::api::{EventPage, SubmissionPage, SubmissionView};

use crate::refusals::no_submission;
use crate::{App, invalid, quote};

impl App {
    /// Shows a submission, or the one that stands for it.
    pub async fn show(&self, id: SubmissionId) -> Result<SubmissionView, Refusal> {
        let (found, end) = self.engine.read(move |store| lookup(store, id)).await?;
        let seen = found.filter(|(row, _)| self.visitor.sees_row(row));
        let Some((row, documents)) = seen else {
            let sees = |name: &Name| self.visitor.sees_with(name, &BTreeMap::new());
            let end = end.filter(|event| event.unborn_pipeline().is_some_and(sees));
            return Err(end.as_ref().and_then(refusal).unwrap_or_else(|| no_submission(id)));
        };
        let view = model::view::with_attempts(self.view(&row), &row);
        let mut view = model::view::with_documents(view, documents).standing_for(id);
        if &*row.pipeline == DELIVERY && !self.visitor.delivers() {
            view.payload = view.payload.map(|payload| owed::shown(&payload));
        }
        Ok(view)
    }

    /// Lists submissions, the newest first.
    pub async fn list(&self, mut query: Query) -> Result<SubmissionPage, Refusal> {
        query.pipeline = self.chosen_pipeline(query.pipeline)?;
        self.visitor.narrow_labels(&mut query.labels)?;
        self.check_names(&self.engine.pipelines().current(), query.pipeline.as_ref(), query.state.as_ref())?;
        let page = self.engine.read(move |store| store.find(&query)).await?;
        let next = page.next();
        Ok(SubmissionPage { submissions: page.rows.iter().map(|row| self.listed(row)).collect(), next })
    }

    /// Lists dead letters, the newest first.
    pub async fn dead(&self, query: Query) -> Result<SubmissionPage, Refusal> {
        self.list(Query { status: Some(Status::Dead), ..query }).await
    }

    /// Lists ends that somebody should look into and nobody has, the newest first.
    pub async fn investigations(&self, query: Query) -> Result<SubmissionPage, Refusal> {
        self.list(Query { investigation: Some(InvestigationStatus::Open), ..query }).await
    }

    /// Returns what happened to a submission after a revision.
    pub async fn events(&self, id: SubmissionId, after: u64, limit: usize) -> Result<EventPage, Refusal> {
        self.history(id, after, limit, false).await
    }

    /// Returns what people decided and wrote of that. A page may have none of it and still be followed by another.
    pub async fn events_by_people(
        &self,
        id: SubmissionId,
        after: u64,
        limit: usize,
    ) -> Result<EventPage, Refusal> {
        self.history(id, after, limit, true).await
    }

    async fn history(
        &self,
        id: SubmissionId,
        after: u64,
        limit: usize,
        by_people: bool,
    ) -> Result<EventPage, Refusal> {
        let found = self.engine.read(move |store| {
            let mut events = store.history(id, after, limit)?;
            // A page ends by its size, too.
            let mut next = events.last().map(|last| last.event.leaf.revision);
            let more = match next {
                Some(revision) => !store.history(id, revision, 1)?.is_empty(),
                None => false,
            };
            next = next.filter(|_| more);
            if by_people {
                events.retain(|recorded| matches!(recorded.event.leaf.right, Right::Role(_)));
            }
            let about = match store.submission(id)? {
                Some((row, _)) => Some((row.pipeline, row.labels)),
                None => events
                    .first()
                    .and_then(|first| Some((first.event.unborn_pipeline()?.clone(), BTreeMap::new()))),
            };
            Ok(about.map(|about| (about, events, next)))
        });
        let seen = found.await?.filter(|((pipeline, labels), ..)| self.visitor.sees_with(pipeline, labels));
        let (_, recorded, next) = seen.ok_or_else(|| no_submission(id))?;
        let events: Vec<_> =
            recorded.iter().map(|recorded| model::view::event(recorded.seq, &recorded.event)).collect();
        Ok(EventPage { events, next })
    }

    /// Returns a row as answers show it, with the holds over it.
    pub(crate) fn view(&self, row: &Submission) -> SubmissionView {
        self.without_holds(row).with_holds(self.holds_over(row))
    }

    /// Returns a row as lists show it.
    pub(crate) fn listed(&self, row: &Submission) -> SubmissionView {
        self.without_holds(row).with_holds(self.holds_listed(row))
    }

    fn without_holds(&self, row: &Submission) -> SubmissionView {
        let versions = self.engine.pipelines().current();
        let pipeline = versions.version(&row.pipeline, row.version);
        model::view::submission(row, pipeline.map(|pipeline| &**pipeline))
    }

    /// Returns the one pipeline to look at: whoever may see some only has to say which.
    pub(crate) fn chosen_pipeline(&self, given: Option<Name>) -> Result<Option<Name>, Refusal> {
        match (&self.visitor.pipelines, given) {
            (None, given) => Ok(given),
            (Some(_), Some(name)) => self.visitor.check_sees(&name).map(|()| Some(name)),
            (Some(scope), None) => match &scope[..] {
                [only] => Ok(Some(only.clone())),
                _ => Err(invalid(format!(
                    "this token is for the pipelines {}; say which with `pipeline`",
                    scope.join(", ")
                ))),
            },
        }
    }

    /// Refuses a filter by names that do not exist: it would find nothing, which looks like an answer.
    pub(crate) fn check_names(
        &self,
        versions: &Versions,
        pipeline: Option<&Name>,
        state: Option<&Name>,
    ) -> Result<(), Refusal> {
        if let Some(name) = pipeline {
            self.in_force(versions, name)?;
        }
        let Some(state) = state else { return Ok(()) };
        let mut names = versions.all().map(|pipeline| &pipeline.name);
        let has = |name: &str| versions.versions(name).any(|pipeline| pipeline.state(state).is_some());
        let known = match pipeline {
            Some(name) => has(name),
            None => names.any(|name| has(name)),
        };
        if known {
            Ok(())
        } else {
            Err(invalid(format!("no state {}; see `GET /v1/pipelines`", quote(state))))
        }
    }
}

type Found = Option<(Submission, Documents)>;

/// Reads a submission, or the one that stands for it; and the event of what never became one.
fn lookup(store: &dyn Store, id: SubmissionId) -> Result<(Found, Option<Event>), store::Error> {
    if let Some(found) = store.submission(id)? {
        return Ok((Some(found), None));
    }
    let end = store.history(id, 0, 1)?.pop().map(|recorded| recorded.event);
    let found = match end.as_ref().map(|event| &event.detail.change) {
        Some(Change::Merged { into, .. }) => store.submission(*into)?,
        _ => None,
    };
    Ok((found, end))
}

/// Returns the reason why what was sent under an id is no submission.
fn refusal(event: &Event) -> Option<Refusal> {
    let Change::Refused { pipeline, error } = &event.detail.change else { return None };
    let message = format!("what was sent under this id was refused: {}", error.message);
    let refusal = Refusal::new(Code::Refused, message);
    Some(
        refusal
            .with("submission", event.leaf.submission.to_string())
            .with("pipeline", &**pipeline)
            .with("refused_at", event.leaf.at.to_string())
            .with("error", json!({ "code": &*error.code, "message": error.message })),
    )
}
