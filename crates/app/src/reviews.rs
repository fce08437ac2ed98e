//! Reviews: what waits for a person, newest first.

use std::collections::BTreeSet;

use model::submission::Wait;
use model::{Name, Refusal, Role, Status, SubmissionId};
use store::{Page, Query, Store};
use wire::api::SubmissionPage;

use crate::App;

/// A choice of what waits for people.
#[derive(Debug, Clone, Default)]
pub struct ReviewQuery {
    pub pipeline: Option<Name>,
    /// The role that may decide.
    pub role: Option<Role>,
    pub limit: usize,
    pub after: Option<SubmissionId>,
}

impl App {
    /// Lists what waits for a person.
    pub async fn reviews(&self, query: ReviewQuery) -> Result<SubmissionPage, Refusal> {
        let ReviewQuery { pipeline: wanted, role, limit, after } = query;
        let versions = self.engine.pipelines().current();
        if let Some(name) = &wanted {
            self.visitor.check_sees(name)?;
            self.in_force(&versions, name)?;
        }
        let sees = |name: &Name| wanted.as_ref().map_or(self.visitor.sees(name), |wanted| wanted == name);
        let mut places: BTreeSet<(Name, Name)> = BTreeSet::new();
        for pipeline in versions.all().filter(|pipeline| sees(&pipeline.name)) {
            places
                .extend(pipeline.reviewed_by(role).map(|state| (pipeline.name.clone(), state.name.clone())));
        }
        let mut query = Query { status: Some(Status::Open), after, limit, ..Query::default() };
        self.visitor.narrow_labels(&mut query.labels)?;
        let found = self.engine.read(move |store| read(store, &places, &query)).await?;
        let next = found.rows.last().filter(|_| found.more).map(|row| row.id);
        // After the page is cut, so that `next` goes on where the store's own list does.
        let waiting = found.rows.iter().filter(|row| row.wait == Wait::Person);
        Ok(SubmissionPage { submissions: waiting.map(|row| self.listed(row)).collect(), next })
    }
}

/// Reads the list of each state; together they are in the order of all. There are as many as files declare.
fn read(store: &dyn Store, places: &BTreeSet<(Name, Name)>, query: &Query) -> Result<Page, store::Error> {
    let mut all = Page::default();
    // A page that ended by its size says nothing of older ones, which other states may have.
    let mut oldest = None;
    for (pipeline, state) in places {
        let of = Query { pipeline: Some(pipeline.clone()), state: Some(state.clone()), ..query.clone() };
        let page = store.find(&of)?;
        if page.more {
            oldest = oldest.max(page.rows.last().map(|row| row.id));
        }
        all.rows.extend(page.rows);
        all.more |= page.more;
    }
    all.rows.retain(|row| Some(row.id) >= oldest);
    all.rows.sort_by_key(|row| std::cmp::Reverse(row.id));
    all.more |= all.rows.len() > query.page_size();
    all.rows.truncate(query.page_size());
    Ok(all)
}
