//! The layer that a page puts over a drawing: how many submissions are where, how long they stay, how many pass, and where
//! a click leads.

use std::collections::BTreeMap;

use wire::Name;

/// Figures and links by state.
#[derive(Debug, Clone, Default)]
pub struct Overlay {
    /// The submissions that are in the state, or have ended there.
    pub counts: BTreeMap<Name, u64>,
    /// The dead letters among those that the state has.
    pub dead: BTreeMap<Name, u64>,
    /// The time that submissions have stayed in the state lately.
    pub stays: BTreeMap<Name, Stay>,
    /// The moves along an edge lately, by its ends; none is the way in.
    pub rates: BTreeMap<(Option<Name>, Name), Flow>,
    /// The address that a click on the state leads to.
    pub links: BTreeMap<Name, String>,
}

/// A stay in a state, as it is written, and how long that is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stay {
    pub text: String,
    /// The sentence for whoever points at it.
    pub about: String,
    pub heat: Heat,
}

/// The length of a stay beside what it should be, or beside the stays of the other states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Heat {
    Cool,
    Warm,
    Hot,
}

impl Heat {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Heat::Cool => "cool",
            Heat::Warm => "warm",
            Heat::Hot => "hot",
        }
    }
}

/// The moves along an edge, as they are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flow {
    pub text: String,
    /// Set where most of what moves goes along.
    pub is_busy: bool,
}
