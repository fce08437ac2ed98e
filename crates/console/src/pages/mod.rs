//! The pages: what each shows, and its handler.

pub(crate) mod audit;
pub(crate) mod dead;
pub(crate) mod deliveries;
pub(crate) mod holds;
pub(crate) mod investigations;
pub(crate) mod operations;
pub(crate) mod overdue;
pub(crate) mod overview;
pub(crate) mod pipeline;
pub(crate) mod pipelines;
pub(crate) mod reviews;
pub(crate) mod rows;
pub(crate) mod servers;
pub(crate) mod settings;
pub(crate) mod sign_in;
pub(crate) mod submission;
pub(crate) mod submission_forms;
pub(crate) mod submissions;
pub(crate) mod tail;
pub(crate) mod timeline;
pub(crate) mod tokens;
pub(crate) mod workers;

/// The entries of a list that a page shows.
pub(crate) const PAGE: usize = 50;
