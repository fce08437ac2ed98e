//! The registry of skills from the outside.

mod corpus;
