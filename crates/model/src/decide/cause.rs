//! The causes of moves.

use super::guard_view::Moment;
use crate::actor::{Actor, Right};
use crate::admit::Sealed;
use crate::event::{NewDocuments, Spent};

/// The cause of a move: who, by which right, with what in hand.
#[derive(Debug, Clone)]
pub(super) struct Step<'a> {
    pub(super) actor: Actor,
    pub(super) right: Right,
    pub(super) moment: Moment<'a>,
    pub(super) reason: Option<&'a str>,
    pub(super) documents: NewDocuments,
    /// Their payload's digest, where it is there already.
    pub(super) sealed: Option<Sealed>,
    /// Set if leaving counts as the state's success.
    pub(super) success: bool,
    /// Set if expressions that cannot be evaluated are left out: the way of a guard error does not fail in turn.
    pub(super) lenient: bool,
    /// The time to live that makes the step.
    pub(super) spent: Option<Spent>,
}

impl<'a> Step<'a> {
    /// The machine's own step.
    pub(super) fn rule() -> Self {
        Step::by(Actor::system(), Right::Rule)
    }

    pub(super) fn by(actor: Actor, right: Right) -> Self {
        Step {
            actor,
            right,
            moment: Moment::default(),
            reason: None,
            documents: NewDocuments::default(),
            sealed: None,
            success: false,
            lenient: false,
            spent: None,
        }
    }
}
