//! The tests of the list: rules with tables of cases, and the list with what it hands out.

mod api;
mod check;
mod checks;
mod csp;
mod distribution;
mod fleet;
mod headers;
mod hosts;
mod list;
mod log;
mod machine;
mod many;
mod sites;
mod support;
