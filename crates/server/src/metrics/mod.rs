//! `/metrics`: what the engine counted, what the store knows, what this server saw, in the text of OpenMetrics.

mod declared;
mod engine;
mod http;
mod levels;
mod process;
mod scrape;
mod store_figures;
mod store_queries;

pub(crate) use http::Http;

use self::scrape::{Kind, Sheet, Value, labels};
use self::store_queries::Stock;
use crate::state::Server;

#[derive(Debug)]
pub(crate) struct Metrics {
    pub(crate) http: Http,
    stock: Stock,
}

impl Metrics {
    pub(crate) fn new(http: Http) -> Metrics {
        Metrics { http, stock: Stock::default() }
    }

    pub(crate) async fn text(server: &Server) -> String {
        let stand = server.metrics.stock.stand(&server.engine).await;
        let mut sheet = Sheet::default();
        sheet
            .family("milepost_build", "What this server was built from", Kind::Info, None)
            .add(labels!(version = env!("CARGO_PKG_VERSION")), Value::Info);
        engine::tell(&mut sheet, &server.engine);
        if let Some(stand) = &stand {
            store_figures::tell(&mut sheet, &server.engine, stand);
            levels::tell(&mut sheet, &stand.levels);
        }
        declared::tell(&mut sheet, &server.engine, stand.as_deref());
        server.metrics.http.tell(&mut sheet);
        let started_at = server.engine.started_at().millis() as f64 / 1_000.0;
        sheet
            .seconds("process_start_time", "When this server started", Kind::Gauge)
            .value(Vec::new(), started_at);
        process::tell(&mut sheet);
        sheet.text()
    }
}
