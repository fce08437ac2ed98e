//! Dead letters, by what they died of, and setting them going again.

use std::collections::BTreeMap;

use app::Query;
use askama::Template;
use wire::Refusal;
use wire::api::SubmissionView;

use super::PAGE;
use super::rows::Rows;
use crate::answer::Answer;
use crate::ask::Visit;
use crate::fields::address;
use crate::layout::Sheet;
use crate::parts::cut;

#[derive(Template)]
#[template(path = "dead.html")]
struct Page {
    pipeline: String,
    groups: Vec<Group>,
    rows: Rows,
    next: String,
    may: bool,
}

/// Dead letters of one pipeline and one error code.
struct Group {
    pipeline: String,
    state: String,
    code: String,
    message: String,
    count: usize,
}

pub(crate) async fn show(visit: Visit) -> Result<Answer, Refusal> {
    let (query, eye) = (visit.ask.query(), visit.eye());
    let pipeline = chosen(&visit, query.get("pipeline"));
    let wanted = Query {
        pipeline: pipeline.as_deref().map(Into::into),
        after: visit.after()?,
        limit: PAGE * 2,
        ..Query::default()
    };
    let found = visit.app.dead(wanted).await?;
    let name = pipeline.unwrap_or_default();
    let at = |after: &str| address("/console/dead", [("pipeline", name.as_str()), ("after", after)]);
    let page = Page {
        groups: groups(&found.submissions),
        rows: Rows::of(&eye, &found.submissions),
        next: found.next.map_or_else(String::new, |next| at(&next.to_string())),
        may: visit.app.visitor().caller.role == wire::Role::Admin,
        pipeline: name.clone(),
    };
    let route = address("/v1/dead", [("pipeline", name.as_str())]);
    visit.show(Sheet::new("Dead letters").live().typed(&visit.ask, "dead list", &route), &page)
}

/// Returns the pipeline to look at: the one that was chosen, or the first of those a token is for.
pub(super) fn chosen(visit: &Visit, given: Option<&str>) -> Option<String> {
    let scope = visit.app.visitor().pipelines.as_ref().and_then(|scope| scope.first());
    given.map(str::to_owned).or_else(|| scope.map(|name| name.to_string()))
}

/// Puts those that died of the same beside each other, most first.
fn groups(views: &[SubmissionView]) -> Vec<Group> {
    let mut groups: BTreeMap<(String, String, String), Group> = BTreeMap::new();
    for view in views {
        let code = view.error.as_ref().map_or_else(|| "no error".to_owned(), |error| error.code.to_string());
        let key = (view.pipeline.to_string(), view.state.to_string(), code.clone());
        let group = groups.entry(key).or_insert_with(|| Group {
            pipeline: view.pipeline.to_string(),
            state: view.state.to_string(),
            code,
            message: view.error.as_ref().map(|error| cut(&error.message, 160)).unwrap_or_default(),
            count: 0,
        });
        group.count += 1;
    }
    let mut groups: Vec<Group> = groups.into_values().collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.count));
    groups
}
