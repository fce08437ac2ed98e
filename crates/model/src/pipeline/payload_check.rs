//! The check of payloads that a pipeline's system brings: code, where a schema is not enough.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::json::Json;
use crate::refusal::{Code, Refusal};

/// A pure function that refuses a payload, or returns its normal form where it is not in it already. What it returns
/// it must return unchanged: a payload may be checked more than once.
#[derive(Clone)]
pub struct PayloadCheck(Arc<Function>);

type Function = dyn Fn(&Json) -> Result<Option<Json>, Refusal> + Send + Sync;

impl PayloadCheck {
    pub fn new(check: impl Fn(&Json) -> Result<Option<Json>, Refusal> + Send + Sync + 'static) -> Self {
        PayloadCheck(Arc::new(check))
    }

    /// Runs it. A panic is that payload's alone.
    pub(crate) fn run(&self, payload: &Json) -> Result<Option<Json>, Refusal> {
        catch_unwind(AssertUnwindSafe(|| (self.0)(payload))).unwrap_or_else(|_| {
            Err(Refusal::new(Code::Internal, "the payload could not be checked; nothing was submitted"))
        })
    }
}

impl fmt::Debug for PayloadCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PayloadCheck")
    }
}
