//! The tests of the list: rules with tables of cases, and the list with what it hands out.

mod check;
mod csp;
mod distribution;
mod headers;
mod hosts;
mod list;
mod sites;
mod support;
