//! A guard that cannot be evaluated where nobody can be refused any more: along `on.guard_error`, else the dead letter.

use super::cause::Step;
use super::guard_view::Moment;
use super::moves::Walk;
use crate::expr::GuardError;
use crate::pipeline::{Choice, Edge};
use crate::submission::{Failure, Kept};

impl Walk<'_> {
    /// Leads where the state says that a guard error leads. What was decided so far is kept for a dead letter.
    ///
    /// One walk goes this way once: an error after it, in the same commit, ends as a dead letter. So two states that send
    /// each other their guard errors cannot keep a commit from ending.
    pub(super) fn guard_failed(&mut self, error: &GuardError, kept: Option<Kept>, step: Step<'_>) {
        let failure = guard_failure(error);
        let step = Step { moment: Moment::default(), reason: None, success: false, ..step };
        let edges = &self.state().on_guard_error;
        let chosen = if self.fell { None } else { self.lenient_choice(edges, &failure) };
        let Some(Edge { to: Some(Choice::One(to)), .. }) = chosen else {
            return self.die(failure, kept, step);
        };
        let edge = chosen.expect("its target was just read");
        self.fell = true;
        let moment = Moment { error: Some(&failure), ..Moment::default() };
        let down = Step { moment, lenient: true, ..step.clone() };
        match self.take_edge(edge, to, down) {
            Ok(()) => {
                if let Err(error) = self.pass_on() {
                    self.die(guard_failure(&error), None, Step::rule());
                }
            }
            // The state it leads to cannot be entered: its own time cannot be told.
            Err(_) => self.die(failure, kept, step),
        }
    }

    /// The first edge whose guard holds; one that cannot be evaluated does not.
    fn lenient_choice<'e>(&self, edges: &'e [Edge], failure: &Failure) -> Option<&'e Edge> {
        let moment = Moment { error: Some(failure), ..Moment::default() };
        let holds = |edge: &&Edge| {
            let alone = std::slice::from_ref(*edge);
            matches!(self.sight.choose(self.row(), moment, alone), Ok(Some(_)))
        };
        edges.iter().find(holds)
    }
}

pub(super) fn guard_failure(error: &GuardError) -> Failure {
    Failure { code: "guard-error".into(), message: error.message.clone() }
}
