//! The checks, offline and with nothing but public keys: signatures, places, chains, completeness, and that every
//! move was legal under the definition it names. The first thing wrong is named with its place.

mod chain;
mod evidence;
mod finding;
mod guards;
mod log;
mod rules;
mod stand;
mod unborn;

pub use evidence::{EvidenceOptions, EvidenceReport, verify_evidence};
pub use finding::{Fault, Finding, LogPlace};
pub use log::{Definitions, LogOptions, LogReport, TipReport, verify_log};
