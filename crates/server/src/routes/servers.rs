//! The servers over one store.

use axum::Json;
use axum::extract::State;
use axum::http::Uri;
use engine::ServerReport;
use model::{Code, Refusal};
use wire::api::{ServerList, ServerView};

use super::Asking;
use crate::app::App;
use crate::problem::Answer;
use crate::query::Params;

/// Servers are for all pipelines: whoever may see some of them only is not shown where they run and what they do.
pub(crate) async fn list(State(app): State<App>, asking: Asking, uri: Uri) -> Answer<Json<ServerList>> {
    Params::read(&uri, &[])?;
    if !asking.is_unlimited() {
        let message = "servers are of everything, and this token is for a part; use one for all";
        return Err(Refusal::new(Code::RoleRequired, message).into());
    }
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
