//! Operations: one deed for every submission a filter finds.

use axum::Json;
use axum::http::{HeaderMap, Uri};
use axum::response::Response;
use wire::api::{OperationBody, OperationList, ResultPage};
use wire::operation::Operation;

use super::{Asking, At, created};
use crate::body::Given;
use crate::preconditions;
use crate::problem::Answer;
use crate::query::Params;

/// The most bytes of a body, which is kept as long as the operation, and written with every chunk of it.
const BODY_MAX: usize = 64 << 10;

pub(crate) async fn start(
    asking: Asking,
    headers: HeaderMap,
    Given(body): Given<OperationBody, BODY_MAX>,
) -> Answer<Response> {
    preconditions::never_once(&headers)?;
    let operation = asking.start_operation(body).await?;
    created(format!("/v1/operations/{}", operation.id), operation)
}

pub(crate) async fn show(asking: Asking, At(id): At<String>, uri: Uri) -> Answer<Json<Operation>> {
    Params::read(&uri, &[])?;
    Ok(Json(asking.operation(&id).await?))
}

pub(crate) async fn stop(asking: Asking, At(id): At<String>, headers: HeaderMap) -> Answer<Json<Operation>> {
    preconditions::never_once(&headers)?;
    Ok(Json(asking.stop_operation(&id).await?))
}

pub(crate) async fn list(asking: Asking, uri: Uri) -> Answer<Json<OperationList>> {
    let params = Params::read(&uri, &["limit", "after"])?;
    Ok(Json(asking.operations(params.parse("after")?, params.limit()?).await?))
}

pub(crate) async fn results(asking: Asking, At(id): At<String>, uri: Uri) -> Answer<Json<ResultPage>> {
    let params = Params::read(&uri, &["limit", "after", "code"])?;
    let (code, after) = (params.get("code").map(str::to_owned), params.parse("after")?);
    Ok(Json(asking.operation_results(&id, code, after, params.limit()?).await?))
}
