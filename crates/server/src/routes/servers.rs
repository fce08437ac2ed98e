//! The servers over one store.

use axum::Json;
use axum::extract::State;
use axum::http::Uri;
use engine::ServerReport;
use model::api::{ServerList, ServerView};

use super::Asking;
use crate::app::App;
use crate::problem::Answer;
use crate::query::Params;

pub(crate) async fn list(State(app): State<App>, _asking: Asking, uri: Uri) -> Answer<Json<ServerList>> {
    Params::read(&uri, &[])?;
    let servers = app.engine.servers().await?.into_iter().map(view).collect();
    Ok(Json(ServerList { servers }))
}

fn view(report: ServerReport) -> ServerView {
    let ServerReport { server, seen_ago, duties, asked } = report;
    ServerView {
        id: server.id,
        name: server.name,
        address: server.address,
        version: server.version,
        started_at: server.started_at,
        seen_ago,
        duties,
        asked,
    }
}
