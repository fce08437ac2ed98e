//! The store's clock: whether it is believed, and saying that it is right.

use engine::ClockReport;
use model::Refusal;
use wire::api::ClockView;

use crate::App;

impl App {
    /// Tells whether the store's clock is believed.
    #[must_use]
    pub fn clock(&self) -> ClockView {
        view(&self.engine.clock())
    }

    /// Says that the store's clock is right, however far it is from what was known.
    pub async fn confirm_clock(&self) -> Result<ClockView, Refusal> {
        let confirmed = self.by().confirm_clock().await?;
        tracing::info!(now = %confirmed.now, "the clock was confirmed");
        Ok(view(&confirmed))
    }
}

fn view(report: &ClockReport) -> ClockView {
    let ClockReport { now, known, doubt } = report;
    ClockView { now: *now, known_at: *known, doubt: doubt.map(|doubt| doubt.to_string()) }
}
