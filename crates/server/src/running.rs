//! The systems of a site as they are: which have ended by themselves, and why.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A place where whoever runs the systems of a site says how they are; the server tells it.
#[derive(Debug, Clone, Default)]
pub struct Running {
    ended: Arc<Mutex<BTreeMap<&'static str, String>>>,
}

impl Running {
    /// Tells that a system has ended by itself.
    pub fn ended(&self, system: &'static str, reason: impl Into<String>) {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner).insert(system, reason.into());
    }

    /// Returns a line for each system that has ended by itself.
    pub(crate) fn lines(&self) -> String {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = ended.iter().map(|(system, reason)| {
            // One line, whatever the reason is.
            let reason = reason.replace(char::is_control, " ");
            format!("the system `{system}` has ended: {reason}; start the server again\n")
        });
        lines.collect()
    }
}
