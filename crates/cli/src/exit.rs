//! The exit codes of commands: one set for the program's own commands and for those of systems.

pub(crate) use ::system::{Exit, Stop};
