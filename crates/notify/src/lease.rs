//! Keeping a lease while its message is sent.

use std::time::Duration;

use engine::Engine;
use model::command::Renew;
use model::{Code, Command, Token};

const PAUSE_MIN: Duration = Duration::from_millis(100);
const PAUSE_UNREACHABLE: Duration = Duration::from_secs(1);

/// Renews, and ends only when the lease is lost.
pub(crate) async fn keep(engine: &Engine, token: Token, span: Duration) {
    // A third of it: two renewals may be late before it is over.
    let usual = (span / 3).max(PAUSE_MIN);
    let mut pause = usual;
    loop {
        tokio::time::sleep(pause).await;
        match engine.settle(token, Command::Renew(Renew { token, progress: None })).await {
            Ok(_) => pause = usual,
            // Its time is over, but what is on its way may still arrive.
            Err(refusal) if refusal.code == Code::Expired => std::future::pending().await,
            Err(refusal) if is_passing(refusal.code) => pause = usual.min(PAUSE_UNREACHABLE),
            Err(refusal) => {
                tracing::warn!(submission = %token.submission, code = refusal.code.as_str(), "lost a delivery's lease");
                return;
            }
        }
    }
}

fn is_passing(code: Code) -> bool {
    matches!(code, Code::Unavailable | Code::OutcomeUnknown | Code::Overloaded | Code::Draining)
}
