//! The budget of one evaluation, and the ways it can stop.

use super::{MAX_LIST_LEN, MAX_STRING_LEN};

/// One unit is about one step on a small value: ten to fifty nanoseconds. The whole budget is some tens of
/// milliseconds and, through the charges for bytes made, some sixteen megabytes.
const BUDGET: u64 = 1_000_000;
/// Bytes read or written for one unit.
const BYTES_PER_UNIT: usize = 16;

/// The reason why an evaluation ended without a value.
#[derive(Debug)]
pub(super) struct Stop {
    pub(super) message: String,
}

impl Stop {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

pub(super) fn stop<T>(message: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::new(message))
}

#[derive(Debug)]
pub(super) struct Fuel(u64);

impl Fuel {
    pub(super) fn full() -> Self {
        Self(BUDGET)
    }

    pub(super) fn spend(&mut self, units: u64) -> Result<(), Stop> {
        match self.0.checked_sub(units) {
            Some(left) => {
                self.0 = left;
                Ok(())
            }
            None => {
                // Empty for good: every further step fails too, so `|| true` cannot hide a spent budget.
                self.0 = 0;
                stop("the expression does too much work; compare or iterate less")
            }
        }
    }

    pub(super) fn spend_bytes(&mut self, bytes: usize) -> Result<(), Stop> {
        self.spend((bytes / BYTES_PER_UNIT) as u64)
    }

    /// Ask before making a string of this many bytes.
    pub(super) fn make_string(&mut self, len: usize) -> Result<(), Stop> {
        if len > MAX_STRING_LEN {
            return stop(format!("a string may have at most {MAX_STRING_LEN} bytes"));
        }
        self.spend_bytes(len)
    }

    /// Ask before iterating or making a list of this many elements.
    pub(super) fn list(&mut self, len: usize) -> Result<(), Stop> {
        if len > MAX_LIST_LEN {
            return stop(format!("a list may have at most {MAX_LIST_LEN} elements here"));
        }
        self.spend(len as u64)
    }
}
