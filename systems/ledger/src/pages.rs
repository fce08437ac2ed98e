//! The console's page of services.

use askama::Template;
use http::Method;
use system::{Call, Need, Reply, Room, Route};
use wire::Refusal;

use crate::lookup::{self, Services};
use crate::routes::refusal;

/// Services with a batch under way, those in trouble first.
#[derive(Template)]
#[template(path = "services.html")]
struct ServicesPage {
    shown: Services,
}

pub(crate) fn all() -> Vec<Route> {
    vec![Route::new(
        (Method::GET, "/console/ledger/services"),
        (Need::AnyRole, Room::Page),
        "Services",
        services,
    )]
}

async fn services(call: Call) -> Result<Reply, Refusal> {
    let shown = lookup::services(&call.client, None).await.map_err(refusal)?;
    let content = ServicesPage { shown }.render().unwrap_or_default();
    Ok(console::layout::page(&call, "Services of ledgers", &content))
}
