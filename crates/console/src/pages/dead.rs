//! Dead letters, by what they died of, and setting them going again.

use app::Query;
use askama::Template;
use wire::Refusal;
use wire::api::DeadView;

use super::PAGE;
use super::rows::Rows;
use crate::answer::Answer;
use crate::ask::Visit;
use crate::fields::address;
use crate::layout::Sheet;
use crate::parts::{cut, list, number};

#[derive(Template)]
#[template(path = "dead.html")]
struct Page {
    pipeline: String,
    groups: Vec<Group>,
    /// Set if there are more kinds than are shown.
    more: bool,
    rows: Rows,
    next: String,
    may: bool,
}

/// Dead letters of one state whose errors differ in ids, numbers and paths alone: all there are, counted by the store.
struct Group {
    pipeline: String,
    state: String,
    code: String,
    /// Their message, without what differs from one to the next.
    message: String,
    count: String,
    list: String,
    /// The filter that an operation finds them by.
    filter: String,
}

/// The kinds of dead letters that are shown.
const GROUPS_MAX: usize = 24;

pub(crate) async fn show(visit: Visit) -> Result<Answer, Refusal> {
    let (query, eye) = (visit.ask.query(), visit.eye());
    let pipeline = chosen(&visit, query.get("pipeline"));
    let wanted = Query {
        pipeline: pipeline.as_deref().map(Into::into),
        after: visit.after()?,
        limit: PAGE,
        ..Query::default()
    };
    let found = visit.app.dead(wanted).await?;
    let name = pipeline.unwrap_or_default();
    let at = |after: &str| address("/console/dead", [("pipeline", name.as_str()), ("after", after)]);
    let mut figures = visit.app.figures().await?.dead;
    figures.retain(|known| name.is_empty() || *known.pipeline == *name);
    figures.sort_by_key(|known| std::cmp::Reverse(known.count));
    let more = figures.len() > GROUPS_MAX;
    let groups = figures.iter().take(GROUPS_MAX).map(group);
    let page = Page {
        groups: groups.collect(),
        more,
        rows: Rows::of(&eye, &found.submissions),
        next: found.next.map_or_else(String::new, |next| at(&next.to_string())),
        may: visit.app.visitor().caller.role == wire::Role::Admin,
        pipeline: name.clone(),
    };
    let route = address("/v1/dead", [("pipeline", name.as_str())]);
    visit.show(Sheet::new("Dead letters").live().typed(&visit.ask, "dead list", &route), &page)
}

fn group(known: &DeadView) -> Group {
    // Those without an error have no fingerprint to be found by.
    let fingerprint =
        Some(known.fingerprint.to_string()).filter(|_| !known.code.is_empty()).unwrap_or_default();
    let terms = [
        ("state", &*known.state),
        ("status", "dead"),
        ("error", &*known.code),
        ("fingerprint", &*fingerprint),
    ];
    let filter: Vec<String> = [("pipeline", &*known.pipeline)]
        .into_iter()
        .chain(terms)
        .filter(|(_, value)| !value.is_empty())
        .map(|(key, value)| crate::filter::term(key, value))
        .collect();
    Group {
        pipeline: known.pipeline.to_string(),
        state: known.state.to_string(),
        code: if known.code.is_empty() { "no error".to_owned() } else { known.code.to_string() },
        message: cut(&known.message, 160),
        count: number(known.count),
        list: list(&known.pipeline, &terms),
        filter: filter.join(" "),
    }
}

/// Returns the pipeline to look at: the one that was chosen, or the first of those a token is for.
pub(super) fn chosen(visit: &Visit, given: Option<&str>) -> Option<String> {
    let scope = visit.app.visitor().pipelines.as_ref().and_then(|scope| scope.first());
    given.map(str::to_owned).or_else(|| scope.map(|name| name.to_string()))
}
