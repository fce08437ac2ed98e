//! `GET /v1/reviews`: what waits for a person, newest first.

use std::collections::BTreeSet;

use axum::Json;
use axum::extract::State;
use axum::http::Uri;
use model::submission::Wait;
use model::{Name, Role, Status};
use store::{Page, Query, Store};
use wire::api::SubmissionPage;

use super::Asking;
use super::submissions::{no_pipeline, view};
use crate::app::App;
use crate::problem::Answer;
use crate::query::Params;

pub(crate) async fn list(State(app): State<App>, asking: Asking, uri: Uri) -> Answer<Json<SubmissionPage>> {
    let params = Params::read(&uri, &["pipeline", "role", "limit", "after"])?;
    let (wanted, role): (_, Option<Role>) = (params.name("pipeline"), params.parse("role")?);
    let limit = params.limit()?;
    let versions = app.engine.pipelines().current();
    if let Some(name) = &wanted {
        asking.check_sees(name)?;
        versions.in_force(name).ok_or_else(|| no_pipeline(&asking, &versions, name))?;
    }
    let seen = |name: &Name| wanted.as_ref().map_or(asking.sees(name), |wanted| wanted == name);
    let mut places: BTreeSet<(Name, Name)> = BTreeSet::new();
    for pipeline in versions.all().filter(|pipeline| seen(&pipeline.name)) {
        places.extend(pipeline.reviewed_by(role).map(|state| (pipeline.name.clone(), state.name.clone())));
    }
    let mut query =
        Query { status: Some(Status::Open), after: params.parse("after")?, limit, ..Query::default() };
    asking.narrow_labels(&mut query.labels)?;
    let found = app.engine.read(move |store| read(store, &places, &query)).await?;
    let next = found.rows.last().filter(|_| found.more).map(|row| row.id);
    // After the page is cut, so that `next` goes on where the store's own list does.
    let waiting = found.rows.iter().filter(|row| row.wait == Wait::Person);
    Ok(Json(SubmissionPage { submissions: waiting.map(|row| view(&app, row)).collect(), next }))
}

/// Each state has its own list; together they are in the order of all. There are as many as files declare.
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
