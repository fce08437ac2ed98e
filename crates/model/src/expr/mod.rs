//! Guards and derived fields: expressions of the Common Expression Language.
//!
//! The crate `cel` reads the source; what it read is checked and lowered (`lower`) and evaluated (`eval`) here
//! instead of by its interpreter, because a pipeline's author must not be able to hurt the deployment and
//! a payload's author must not be able to hurt the pipeline:
//!
//! - every evaluation runs on a fixed budget (`fuel`), so time and memory are bounded whatever the payload;
//! - integers are compared and computed exactly, whether a worker wrote `92` or `18446744073709551615`, and what cannot
//!   be exact is an error; a decimal counts as the double next to it;
//! - JSON is read in place: an expression on `output.score` never copies the payload beside it;
//! - errors name paths and types but never repeat a value, for they end up in logs and events.
//!
//! There is no clock, and the functions are exactly those that `call` and `lower` list.

mod call;
mod compile;
mod eval;
mod exact;
mod fuel;
mod lower;
mod nearest;
mod node;
mod operate;
mod pattern;
mod repository;
mod scope;
mod terms;
mod val;
mod values;

#[cfg(test)]
mod tests;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::digest::Digest;
use crate::json::Value;
use crate::shared::Shared;
use crate::time::Millis;

pub use nearest::nearest;
pub use scope::Scope;

/// Longer sources are refused before they are read.
pub const MAX_SOURCE_LEN: usize = 4_096;
/// Operators, calls, brackets and selections inside one another.
pub const MAX_DEPTH: usize = 32;
/// Elements of a list that is iterated or made.
pub const MAX_LIST_LEN: usize = 1_000;
/// Bytes of a string that is made.
pub const MAX_STRING_LEN: usize = 65_536;
/// Bytes of a pattern for `matches`.
pub const MAX_PATTERN_LEN: usize = 256;

/// A compiled expression. Cheap to clone; equal when its source is.
#[derive(Clone)]
pub struct Expr(Arc<compile::Compiled>);

/// Compiled expressions, by their source and the names they may see: version after version has the same ones.
static EXPRESSIONS: Shared<Digest, compile::Compiled> = Shared::new();

/// Something wrong with a source, and where in it (bytes).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub message: String,
    pub span: Range<usize>,
}

/// The result of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Out {
    Json(Value),
    Duration(Millis),
}

/// The budget that several evaluations spend together: as much as one alone.
#[derive(Debug)]
pub struct Budget(fuel::Fuel);

impl Default for Budget {
    fn default() -> Self {
        Budget(fuel::Fuel::full())
    }
}

/// The reason why an expression gave nothing. At most [`GuardError::MAX_LEN`] characters, and never a value of the
/// payload.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct GuardError {
    pub message: String,
    /// Set if the expression reads the worker's answer, so that another answer may be what it needs.
    pub reads_output: bool,
}

impl GuardError {
    pub const MAX_LEN: usize = 500;
    const SHOWN_SOURCE_LEN: usize = 200;

    fn new(source: &str, reason: &str) -> Self {
        let source = shorten(source, Self::SHOWN_SOURCE_LEN);
        let message = shorten(&format!("guard `{source}`: {reason}"), Self::MAX_LEN);
        Self { message, reads_output: false }
    }
}

impl Expr {
    /// Reports every problem. `names` are the variables that are legal here.
    pub fn compile(source: &str, names: &[&str]) -> Result<Self, Vec<Problem>> {
        // The same text may be a mistake where it sees less.
        let key = Digest::of_parts(&[names.join(",").as_bytes(), b"\0", source.as_bytes()]);
        EXPRESSIONS.get(key, || compile::compile(source, names)).map(Self)
    }

    pub fn source(&self) -> &str {
        &self.0.source
    }

    /// Tells whether both are one in memory.
    #[must_use]
    pub fn is_same(&self, other: &Expr) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Tells whether the variable `name` is referenced, so that callers load only what is read.
    pub fn reads(&self, name: &str) -> bool {
        self.0.reads.iter().any(|read| read == name)
    }

    /// Tells whether the expression is a value as it stands, which gives itself and cannot fail.
    pub fn is_literal(&self) -> bool {
        use node::Node;
        matches!(self.0.root, Node::Null | Node::Bool(_) | Node::Int(_) | Node::Double(_) | Node::String(_))
    }

    pub fn eval_out(&self, scope: &Scope<'_>) -> Result<Out, GuardError> {
        self.run(scope, |result, fuel| result.to_out(fuel))
    }

    /// A duration becomes its text.
    pub fn eval_json(&self, scope: &Scope<'_>) -> Result<Value, GuardError> {
        self.run(scope, |result, fuel| result.to_json(fuel))
    }

    /// Evaluates like [`Expr::eval_json`], on a budget with others: a text of many costs no more than one.
    pub fn eval_json_within(&self, scope: &Scope<'_>, budget: &mut Budget) -> Result<Value, GuardError> {
        eval::evaluate(&self.0.root, scope, &mut budget.0, |result, fuel| result.to_json(fuel))
            .map_err(|stop| GuardError::new(self.source(), &stop.message))
    }

    pub fn eval_bool(&self, scope: &Scope<'_>) -> Result<bool, GuardError> {
        self.run(scope, |result, _| result.to_bool())
    }

    /// Strings, and booleans and integers as text; everything else has more than one spelling and is refused.
    pub fn eval_string(&self, scope: &Scope<'_>) -> Result<String, GuardError> {
        self.run(scope, |result, _| result.exact_text())
    }

    /// Evaluates like [`Expr::eval_string`], and gives `None` for null.
    pub fn eval_optional_string(&self, scope: &Scope<'_>) -> Result<Option<String>, GuardError> {
        self.run(scope, |result, _| match result.view() {
            val::View::Null => Ok(None),
            _ => result.exact_text().map(Some),
        })
    }

    pub fn eval_i64(&self, scope: &Scope<'_>) -> Result<i64, GuardError> {
        self.run(scope, |result, _| result.to_i64())
    }

    fn run<T>(
        &self,
        scope: &Scope<'_>,
        convert: impl FnOnce(val::Val<'_>, &mut fuel::Fuel) -> Result<T, fuel::Stop>,
    ) -> Result<T, GuardError> {
        eval::evaluate(&self.0.root, scope, &mut fuel::Fuel::full(), convert)
            .map_err(|stop| GuardError::new(self.source(), &stop.message))
    }
}

impl fmt::Debug for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Expr({})", self.source())
    }
}

impl PartialEq for Expr {
    fn eq(&self, other: &Self) -> bool {
        self.source() == other.source()
    }
}

impl Eq for Expr {}

fn shorten(text: &str, max_chars: usize) -> String {
    match text.char_indices().nth(max_chars) {
        None => text.to_owned(),
        Some(_) => text.chars().take(max_chars - 2).chain("..".chars()).collect(),
    }
}
