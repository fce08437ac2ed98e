//! The times at which tokens were last used: kept to the minute, so that a busy token costs one small commit a minute.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use engine::{Engine, clock};
use model::Name;

const EVERY: Duration = Duration::from_secs(60);

#[derive(Debug, Default)]
pub(super) struct Used {
    /// The time at which each was last reported. No more than there are tokens, and those that are gone soon leave.
    noted: Mutex<HashMap<Name, Instant>>,
}

impl Used {
    /// Nobody waits for it: a use that is lost with the process is one that was not seen.
    pub(super) fn note(&self, engine: &Engine, token: Option<&Name>) {
        let Some(token) = token.filter(|token| self.is_due(token, clock::instant())) else { return };
        let (engine, name) = (engine.clone(), token.to_string());
        tokio::spawn(async move {
            if let Err(refusal) = engine.token_used(name).await {
                tracing::debug!(code = refusal.code.as_str(), "the use of a token was not noted");
            }
        });
    }

    fn is_due(&self, token: &Name, now: Instant) -> bool {
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.get(token).is_some_and(|at| now.saturating_duration_since(*at) < EVERY) {
            return false;
        }
        noted.retain(|_, at| now.saturating_duration_since(*at) < EVERY);
        noted.insert(token.clone(), now);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_token_is_noted_once_a_minute() {
        let (used, now) = (Used::default(), clock::instant());
        let (busy, other): (Name, Name) = ("busy".into(), "other".into());
        assert!(used.is_due(&busy, now));
        assert!(!used.is_due(&busy, now + EVERY / 2));
        assert!(used.is_due(&other, now + EVERY / 2));
        assert!(used.is_due(&busy, now + EVERY));
        assert!(used.is_due(&other, now + EVERY * 3));
        assert_eq!(used.noted.lock().unwrap().len(), 1, "what nobody uses is not kept");
    }
}
