//! The layer that a page puts over a drawing: how many submissions are where, and where a click leads.

use std::collections::BTreeMap;

use wire::Name;

/// Figures and links by state.
#[derive(Debug, Clone, Default)]
pub struct Overlay {
    /// The submissions that are in the state, or have ended there.
    pub counts: BTreeMap<Name, u64>,
    /// The dead letters among those that the state has.
    pub dead: BTreeMap<Name, u64>,
    /// The address that a click on the state leads to.
    pub links: BTreeMap<Name, String>,
}
