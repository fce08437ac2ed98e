//! Every test of this crate in one binary: linked once.
#![expect(clippy::unwrap_used, reason = "a test says what it expects by unwrapping it")]

mod actors;
mod approvals;
mod attempts;
mod cel_suite;
mod common;
mod depth;
mod doors;
mod duplicates;
mod edge_errors;
mod escalations;
mod going_on;
mod guard_errors;
mod investigations;
mod json_suite;
mod leases;
mod legal_actions;
mod limits;
mod matrix;
mod migrations;
mod migrations_and_lanes;
mod moves;
mod notifications;
mod pipeline_diff;
mod pipeline_files;
mod pipeline_problems;
mod pipeline_random;
mod priorities;
mod properties;
mod reviews;
mod service_levels;
mod support;
mod table;
mod templates;
