//! `GET /v1/overdue`: what has missed a service level, the longest ago first.

use std::str::FromStr;

use axum::Json;
use axum::extract::State;
use axum::http::Uri;
use model::api::OverduePage;
use model::{Name, Submission, SubmissionId, Time};
use store::{Late, Store};

use super::Asking;
use super::submissions::{no_pipeline, view};
use crate::app::App;
use crate::problem::Answer;
use crate::query::Params;

pub(crate) async fn list(State(app): State<App>, asking: Asking, uri: Uri) -> Answer<Json<OverduePage>> {
    let params = Params::read(&uri, &["pipeline", "limit", "after"])?;
    let limit = params.limit()?;
    let after: Option<Place> = params.parse("after")?;
    let versions = app.engine.pipelines().current();
    let pipelines = match params.name("pipeline") {
        Some(name) => {
            asking.check_sees(&name)?;
            versions.in_force(&name).ok_or_else(|| no_pipeline(&versions, &name))?;
            vec![name]
        }
        None => {
            versions.all().map(|pipeline| pipeline.name.clone()).filter(|name| asking.sees(name)).collect()
        }
    };
    let look = Look { pipelines, until: app.engine.now(), after, most: limit + 1 };
    let mut late = app.engine.read(move |store| look.read(store)).await?;
    let more = late.len() > limit;
    late.truncate(limit);
    let next = late.last().filter(|_| more).map(|(place, _)| place.to_string());
    // After the page is cut, so that `next` goes on where the store's own list does.
    let seen = late.iter().map(|(_, row)| row).filter(|row| asking.sees_row(row));
    Ok(Json(OverduePage { submissions: seen.map(|row| view(&app, row)).collect(), next }))
}

/// The place of a submission in the list: when a service level was missed, and by whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place(Time, SubmissionId);

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.0, self.1)
    }
}

impl FromStr for Place {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let place = text.split_once('/').and_then(|(at, id)| Some(Place(at.parse().ok()?, id.parse().ok()?)));
        place.ok_or("give the `next` of the page before")
    }
}

struct Look {
    pipelines: Vec<Name>,
    until: Time,
    after: Option<Place>,
    most: usize,
}

impl Look {
    /// Each pipeline has its own list; together they are in the order of all.
    fn read(&self, store: &dyn Store) -> Result<Vec<(Place, Submission)>, store::Error> {
        let mut late = Vec::new();
        for pipeline in &self.pipelines {
            let mut after = self.after.map(|Place(at, id)| (at, id));
            let mut missing = self.most;
            // A store may give pages that are shorter than asked for.
            while missing > 0 {
                let page = Late { pipeline: pipeline.clone(), until: self.until, after, limit: missing };
                let (size, rows) = (page.page_size(), store.late(&page)?);
                let whole = rows.len() == size;
                missing -= rows.len().min(missing);
                late.extend(rows.into_iter().filter_map(placed));
                after = late.last().map(|(Place(at, id), _)| (*at, *id));
                if !whole {
                    break;
                }
            }
        }
        late.sort_by_key(|(place, _)| *place);
        late.truncate(self.most);
        Ok(late)
    }
}

fn placed(row: Submission) -> Option<(Place, Submission)> {
    let missed_at = row.clocks.iter().map(|clock| clock.due_at).min()?;
    Some((Place(missed_at, row.id), row))
}
