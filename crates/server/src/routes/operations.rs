//! Operations: one deed for every submission a filter finds.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use engine::NewOperation;
use engine::core::{OPERATIONS, results_of};
use model::{Code, Refusal, SubmissionId};
use serde::de::DeserializeOwned;
use store::{LAST_NAME, Room, Store};
use wire::api::{OperationBody, OperationList, ResultPage, ResultView};
use wire::operation::Operation;

use super::operation_checks::check;
use super::{Asking, At};
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
    let body = app.engine.read(move |store| store::registry_entry(store, OPERATIONS, &name)).await?;
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
    let page = Newest { before: after, limit };
    Ok(Json(app.engine.read(move |store| page.read(store, &wanted)).await?))
}

/// A page of operations, the newest first: ids begin with their time.
struct Newest {
    before: Option<SubmissionId>,
    limit: usize,
}

impl Newest {
    /// The number that is read at a time: an operation has up to [`BODY_MAX`] bytes.
    const AT_ONCE: usize = 50;

    fn read(
        &self,
        store: &dyn Store,
        wanted: &dyn Fn(&Operation) -> bool,
    ) -> Result<OperationList, store::Error> {
        let mut upto = self.before.map_or_else(|| LAST_NAME.to_owned(), |id| id.to_string());
        let (mut operations, mut room): (Vec<Operation>, _) = (Vec::new(), Room::default());
        loop {
            let page = store.registry_back(OPERATIONS, &upto, Self::AT_ONCE)?;
            let is_last = page.len() < Self::AT_ONCE;
            for (name, body) in page {
                // A page begins with the one that the page before ended with.
                if name == upto {
                    continue;
                }
                let read = serde_json::from_str::<Operation>(body.as_str());
                let read = read.inspect_err(
                    |error| tracing::warn!(operation = name, %error, "an operation cannot be read"),
                );
                if let Some(operation) = read.ok().filter(wanted) {
                    if operations.len() == self.limit || !room.is_left() {
                        let next = operations.last().map(|operation| operation.id.clone());
                        return Ok(OperationList { operations, next });
                    }
                    room.take(body.as_str().len());
                    operations.push(operation);
                }
                upto = name;
            }
            if is_last {
                return Ok(OperationList { operations, next: None });
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
