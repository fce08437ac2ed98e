//! Messages to the outside: listing them, and sending one again.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::Uri;
use model::SubmissionId;
use model::owed::{Channel, DELIVERY};
use store::Query;
use wire::address;
use wire::api::{DeliveryPage, DeliveryView, RedriveBody};

use super::actions::check_sees;
use super::{Asking, At, id};
use crate::app::App;
use crate::problem::Answer;
use crate::query::Params;
use crate::{body, conditions};

pub(crate) async fn list(State(app): State<App>, asking: Asking, uri: Uri) -> Answer<Json<DeliveryPage>> {
    let params = Params::read(&uri, &["submission", "channel", "status", "limit", "after"])?;
    asking.check_sees(DELIVERY)?;
    let mut query = Query {
        status: params.parse("status")?,
        after: params.parse("after")?,
        limit: params.limit()?,
        ..Query::default()
    };
    let submission: Option<SubmissionId> = params.parse("submission")?;
    let channel: Option<Channel> = params.parse("channel")?;
    let labels = [
        ("submission", submission.map(|id| id.to_string().into())),
        ("channel", channel.map(|channel| channel.as_str().into())),
    ];
    query.labels = labels.into_iter().filter_map(|(label, value)| Some((label.into(), value?))).collect();
    asking.narrow_labels(&mut query.labels)?;
    let (mut deliveries, more) = app.engine.deliveries(query).await?;
    if !asking.delivers() {
        for to in deliveries.iter_mut().filter_map(|delivery| delivery.to.as_mut()) {
            *to = address::shown(to);
        }
    }
    let next = deliveries.last().filter(|_| more).map(|last| last.id);
    Ok(Json(DeliveryPage { deliveries, next }))
}

pub(crate) async fn replay(
    State(app): State<App>,
    asking: Asking,
    At(text): At<String>,
    request: Request,
) -> Answer<Json<DeliveryView>> {
    conditions::never_once(request.headers())?;
    let id = id(&text)?;
    let (_, RedriveBody { reason }) = body::read_or_default(&request)?;
    check_sees(&app, &asking, id).await?;
    Ok(Json(app.engine.replay(id, asking.caller.clone(), reason).await?))
}
