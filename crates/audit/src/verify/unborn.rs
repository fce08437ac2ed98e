//! Submissions that never came to be: what was sent has one event, which says why, and nothing after it.

use model::Digest;
use model::Right;
use model::event::Kind;

use super::finding::{Fault, Finding};
use super::rules::{Rules, check_actor, illegal};
use crate::leaf::EventLeaf;

/// The definition it was refused under, if there was a pipeline of the name it gave.
pub(super) fn definition<'l>(leaf: &'l EventLeaf<'_>) -> Option<&'l Digest> {
    Some(&leaf.definition).filter(|digest| **digest != Digest::NONE)
}

pub(super) fn check(leaf: &EventLeaf<'_>, rules: Option<&Rules>) -> Result<(), Finding> {
    if leaf.revision != 1 || leaf.previous.is_some() {
        let message = "what never became a submission has one event, its first";
        return Err(Finding::new(Fault::Revision, message));
    }
    let bare = leaf.from.is_none() && !leaf.held && leaf.attempt == 1 && leaf.output.is_none();
    if !bare || leaf.to != leaf.kind.as_str() {
        return Err(illegal("what never became a submission was in no state"));
    }
    check_actor(leaf)?;
    if !matches!(leaf.right, Right::Role(_)) {
        return Err(Finding::new(Fault::Right, "what is sent is sent by somebody with a role"));
    }
    let trigger = |message: &str| Err(Finding::new(Fault::Trigger, message));
    match (leaf.kind, rules) {
        (Kind::Merged, None) => Err(illegal("only a pipeline's key finds what stands for another")),
        (Kind::Merged, Some(_)) if leaf.trigger != "duplicate" => trigger("what is merged is a duplicate"),
        (Kind::Merged, Some(rules)) if !rules.pipeline.on_duplicate.merges() => {
            Err(illegal("the definition lets no submission stand for another"))
        }
        (Kind::Refused, rules) if rules.is_none() != (leaf.trigger == "unknown-pipeline") => {
            trigger("what names no definition is refused for that, and nothing else is")
        }
        _ => Ok(()),
    }
}

/// Returns the finding that there is another event under the id of what never became a submission.
pub(super) fn goes_on() -> Finding {
    illegal("what never became a submission has no other events")
}
