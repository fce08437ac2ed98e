//! Operations: one deed for every submission a filter finds.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use engine::NewOperation;
use engine::core::{OPERATIONS, results_of};
use model::{Code, Millis, Refusal, SubmissionId, Time};
use serde::de::DeserializeOwned;
use store::Store;
use wire::api::{OperationBody, OperationList, ResultPage, ResultView};
use wire::operation::Operation;

use super::operation_checks::check;
use super::{Asking, At, registry};
use crate::access::Visitor;
use crate::app::App;
use crate::body::Given;
use crate::conditions;
use crate::problem::{Answer, quote};
use crate::query::Params;

/// The most bytes of a body, which is kept as long as the operation, and written with every chunk of it.
const BODY_MAX: usize = 64 << 10;
/// Results one call passes over to find those of one code.
const SCAN_MAX: usize = 10_000;
const PAGE: usize = 1_000;

pub(crate) async fn start(
    State(app): State<App>,
    asking: Asking,
    headers: HeaderMap,
    Given(mut body): Given<OperationBody, BODY_MAX>,
) -> Answer<Response> {
    conditions::never_once(&headers)?;
    asking.check_sees(&body.filter.pipeline)?;
    asking.narrow_labels(&mut body.filter.labels)?;
    let deed = body.deed()?;
    check(&asking, &app.engine.pipelines().current(), &body.filter, &deed)?;
    let OperationBody { filter, reason, dry_run, .. } = body;
    let new = NewOperation { filter, deed, reason, dry_run, by: asking.caller.clone() };
    let operation = asking.asks(&app.engine).start_operation(new).await?;
    let path = format!("/v1/operations/{}", operation.id);
    let location = HeaderValue::try_from(path).expect("an id is plain ASCII");
    Ok((StatusCode::CREATED, [(header::LOCATION, location)], Json(operation)).into_response())
}

pub(crate) async fn show(
    State(app): State<App>,
    asking: Asking,
    At(id): At<String>,
    uri: Uri,
) -> Answer<Json<Operation>> {
    Params::read(&uri, &[])?;
    Ok(Json(find(&app, &asking, &id).await?))
}

pub(crate) async fn stop(
    State(app): State<App>,
    asking: Asking,
    At(id): At<String>,
    headers: HeaderMap,
) -> Answer<Json<Operation>> {
    conditions::never_once(&headers)?;
    let operation = find(&app, &asking, &id).await?;
    Ok(Json(app.engine.by(&asking.caller).stop_operation(operation.id).await?))
}

async fn find(app: &App, visitor: &Visitor, id: &str) -> Result<Operation, Refusal> {
    let name = id.to_owned();
    let body = app.engine.read(move |store| registry::entry(store, OPERATIONS, &name)).await?;
    let operation: Option<Operation> = body.map(|body| kept(&body)).transpose()?;
    let seen = operation.filter(|operation| concerns(visitor, operation));
    seen.ok_or_else(|| Refusal::new(Code::UnknownOperation, format!("no operation {}", quote(id))))
}

/// Tells whether all that the operation can find is the visitor's business.
fn concerns(visitor: &Visitor, operation: &Operation) -> bool {
    visitor.sees(&operation.filter.pipeline) && visitor.covers(&operation.filter.labels)
}

fn kept<T: DeserializeOwned>(body: &model::Json) -> Result<T, Refusal> {
    let read = serde_json::from_str(body.as_str());
    read.map_err(|error| {
        Refusal::new(Code::Internal, format!("an operation cannot be read as it is kept: {error}"))
    })
}

pub(crate) async fn list(State(app): State<App>, asking: Asking, uri: Uri) -> Answer<Json<OperationList>> {
    let params = Params::read(&uri, &["limit", "after"])?;
    let limit = params.limit()?;
    let after: Option<SubmissionId> = params.parse("after")?;
    let visitor = asking.0.clone();
    let wanted = move |operation: &Operation| concerns(&visitor, operation);
    let newest = Newest { before: after, most: limit + 1, now: app.engine.now() };
    let mut operations = app.engine.read(move |store| newest.read(store, &wanted)).await?;
    let more = operations.len() > limit;
    operations.truncate(limit);
    let next = operations.last().filter(|_| more).map(|operation| operation.id.clone());
    Ok(Json(OperationList { operations, next }))
}

/// Registries are read forwards and people want the newest: ids begin with their time, so ever longer stretches of the
/// past are read until one has enough.
struct Newest {
    before: Option<SubmissionId>,
    most: usize,
    now: Time,
}

impl Newest {
    const FIRST: Millis = Millis::from_secs(3600);
    const WIDER: u64 = 8;
    /// Longer than operations are kept.
    const LONGEST: Millis = Millis::from_secs(60 * 24 * 3600);

    fn read(
        &self,
        store: &dyn Store,
        wanted: &dyn Fn(&Operation) -> bool,
    ) -> Result<Vec<Operation>, store::Error> {
        let mut span = Self::FIRST;
        loop {
            let from = SubmissionId::new(self.end().minus(span), [0; 10]).to_string();
            let all = span > Self::LONGEST;
            let mut found = self.since(store, if all { "" } else { &from }, wanted)?;
            if all || found.len() >= self.most {
                found.reverse();
                found.truncate(self.most);
                return Ok(found);
            }
            span = span.times(Self::WIDER);
        }
    }

    fn end(&self) -> Time {
        let stamp = self.before.and_then(|id| id.0.get_timestamp());
        let millis = stamp.map(|stamp| stamp.to_unix()).map(|(seconds, _)| seconds.saturating_mul(1_000));
        let end = millis.and_then(|millis| i64::try_from(millis).ok()).map(Time::from_millis);
        // Seconds are cut off above, and clocks of two servers differ a little.
        end.unwrap_or(self.now).plus(Millis::from_secs(1))
    }

    fn since(
        &self,
        store: &dyn Store,
        from: &str,
        wanted: &dyn Fn(&Operation) -> bool,
    ) -> Result<Vec<Operation>, store::Error> {
        let before = self.before.map(|id| id.to_string());
        let mut found = Vec::new();
        let mut after = from.to_owned();
        loop {
            let page = store.registry(OPERATIONS, &after, PAGE)?;
            let whole = page.len() == PAGE;
            for (name, body) in page {
                if before.as_ref().is_some_and(|before| name >= *before) {
                    return Ok(found);
                }
                match serde_json::from_str::<Operation>(body.as_str()) {
                    Ok(operation) => found.extend(Some(operation).filter(wanted)),
                    Err(error) => tracing::warn!(operation = name, %error, "an operation cannot be read"),
                }
                after = name;
            }
            if !whole {
                return Ok(found);
            }
        }
    }
}

pub(crate) async fn results(
    State(app): State<App>,
    asking: Asking,
    At(id): At<String>,
    uri: Uri,
) -> Answer<Json<ResultPage>> {
    let params = Params::read(&uri, &["limit", "after", "code"])?;
    let limit = params.limit()?;
    let after: Option<SubmissionId> = params.parse("after")?;
    let code = params.get("code").map(str::to_owned);
    let operation = find(&app, &asking, &id).await?;
    let look = Results { kind: results_of(&operation.id), code, limit };
    let after = after.map_or_else(String::new, |id| id.to_string());
    Ok(Json(app.engine.read(move |store| look.page(store, after)).await?))
}

/// The results of one operation, in the order of their submissions' ids.
struct Results {
    kind: String,
    code: Option<String>,
    limit: usize,
}

impl Results {
    fn page(&self, store: &dyn Store, mut after: String) -> Result<ResultPage, store::Error> {
        let mut results = Vec::new();
        let mut scanned = 0;
        // With a code, most may be passed over; without, one page has all that is wanted.
        while scanned < SCAN_MAX {
            let wanted = if self.code.is_some() { PAGE } else { self.limit + 1 };
            let page = store.registry(&self.kind, &after, wanted)?;
            let whole = page.len() == wanted;
            for (name, body) in page {
                let view = view(&name, &body)?;
                if results.len() == self.limit {
                    return Ok(ResultPage { results, next: after.parse().ok() });
                }
                if self.code.is_none() || view.result.code == self.code {
                    results.push(view);
                }
                scanned += 1;
                after = name;
            }
            if !whole {
                return Ok(ResultPage { results, next: None });
            }
        }
        Ok(ResultPage { results, next: after.parse().ok() })
    }
}

fn view(name: &str, body: &model::Json) -> Result<ResultView, store::Error> {
    let corrupt =
        |error: String| store::Error::corrupt(format!("the result of {name} cannot be read: {error}"));
    let submission = name.parse().map_err(|_| corrupt("its name is no id".to_owned()))?;
    let result = serde_json::from_str(body.as_str()).map_err(|error| corrupt(error.to_string()))?;
    Ok(ResultView { submission, result })
}
