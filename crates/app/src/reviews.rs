//! Reviews: what waits for a person, the first due first; and whose it is.

use std::collections::BTreeSet;

use model::command::{Note, Review, ReviewStep};
use model::person::is_same;
use model::submission::Wait;
use model::{Name, Refusal, Role, Submission, SubmissionId, Time};
use store::entries::{ReviewList, review_due};
use wire::api::{ClaimReviewBody, HandOverBody, NoteBody, ReviewPage, SubmissionView};

use crate::by_time::{AT_ONCE, Look, TimePlace};
use crate::seal::Seal;
use crate::{App, Terms};

/// A choice of what waits for people.
#[derive(Debug, Clone, Default)]
pub struct ReviewQuery {
    pub pipeline: Option<Name>,
    /// The role that may decide.
    pub role: Option<Role>,
    pub whose: Whose,
    pub limit: usize,
    /// The place that the page before ended with.
    pub after: Option<String>,
}

/// The part of the reviews that a page is about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Whose {
    #[default]
    All,
    /// Those that nobody has taken on.
    Unassigned,
    /// The visitor's own.
    Mine,
}

impl std::str::FromStr for Whose {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "all" => Ok(Whose::All),
            "unassigned" => Ok(Whose::Unassigned),
            "mine" => Ok(Whose::Mine),
            other => Err(format!("`{other}` is none of all, unassigned, mine")),
        }
    }
}

impl App {
    /// Lists what waits for a person: by when it is due, and where no service level says so, since when it waits.
    pub async fn reviews(&self, query: ReviewQuery) -> Result<ReviewPage, Refusal> {
        let ReviewQuery { pipeline: wanted, role, whose, limit, after } = query;
        let seal = Seal(self.engine.secret_for("reviews"));
        let after = after.map(|text| TimePlace::read(&text, &seal)).transpose()?;
        let versions = self.engine.pipelines().current();
        if let Some(name) = &wanted {
            self.visitor.check_sees(name)?;
            self.in_force(&versions, name)?;
        }
        let sees = |name: &Name| wanted.as_ref().map_or(self.visitor.sees(name), |wanted| wanted == name);
        let names: BTreeSet<Name> = versions.all().map(|pipeline| pipeline.name.clone()).collect();
        let mut places: BTreeSet<(Name, Name)> = BTreeSet::new();
        for name in names.into_iter().filter(sees) {
            // Submissions follow the version they were made under, so every version's states count.
            let states = versions.versions(&name).flat_map(|pipeline| pipeline.reviewed_by(role));
            places.extend(states.map(|state| (name.clone(), state.name.clone())));
        }
        let me = self.visitor.caller.name.clone();
        let lists = match whose {
            Whose::Mine => vec![ReviewList::Of(me.clone()).name()],
            _ => places.iter().map(|place| list(place, whose).name()).collect(),
        };
        let all = self.visitor.labels.is_empty() && whose != Whose::Mine;
        let most = if all { limit + 1 } else { AT_ONCE };
        let mut look = Look { lists, due: |row| Some(review_due(row)), until: Time::MAX, after, most };
        let visitor = self.visitor.clone();
        let shown = move |row: &Submission| {
            let mine = row.assignment.as_ref().is_some_and(|held| is_same(&held.to, &me));
            row.wait == Wait::Person
                && visitor.sees_row(row)
                && places.contains(&(row.pipeline.clone(), row.state.clone()))
                && (whose != Whose::Mine || mine)
        };
        let page = self.engine.read(move |store| look.page(store, limit, &shown)).await?;
        let next = page.next.map(|next| next.shown(&seal));
        Ok(ReviewPage { submissions: page.rows.iter().map(|row| self.listed(row)).collect(), next })
    }

    /// Takes a review on, or keeps it for longer.
    pub async fn claim_review(
        &self,
        id: SubmissionId,
        body: ClaimReviewBody,
        terms: Terms,
    ) -> Result<SubmissionView, Refusal> {
        self.dispose(id, ReviewStep::Claim { span: body.span }, terms).await
    }

    /// Gives a review to somebody else.
    pub async fn hand_over_review(
        &self,
        id: SubmissionId,
        body: HandOverBody,
        terms: Terms,
    ) -> Result<SubmissionView, Refusal> {
        self.dispose(id, ReviewStep::HandOver { to: body.to, span: body.span }, terms).await
    }

    /// Lets a review go.
    pub async fn release_review(&self, id: SubmissionId, terms: Terms) -> Result<SubmissionView, Refusal> {
        self.dispose(id, ReviewStep::Release, terms).await
    }

    /// Writes down what others should know of a submission.
    pub async fn note(
        &self,
        id: SubmissionId,
        body: NoteBody,
        terms: Terms,
    ) -> Result<SubmissionView, Refusal> {
        self.check_sees(id).await?;
        let note = Note { caller: self.visitor.caller.clone(), text: body.text, if_match: terms.if_match };
        let answered = self.engine.note(id, note, terms.once).await?;
        self.done(&answered, terms.proof).await
    }

    async fn dispose(
        &self,
        id: SubmissionId,
        step: ReviewStep,
        terms: Terms,
    ) -> Result<SubmissionView, Refusal> {
        self.check_sees(id).await?;
        let review = Review { caller: self.visitor.caller.clone(), step, if_match: terms.if_match };
        let answered = self.engine.review(id, review, terms.once).await?;
        self.done(&answered, terms.proof).await
    }
}

fn list((pipeline, state): &(Name, Name), whose: Whose) -> ReviewList {
    let (pipeline, state) = (pipeline.clone(), state.clone());
    match whose {
        Whose::Unassigned => ReviewList::Unassigned { pipeline, state },
        _ => ReviewList::All { pipeline, state },
    }
}
