//! The pipeline that carries messages may not send any about itself: each would make the next.

use crate::owed::DELIVERY;
use crate::pipeline::problem::{Problem, Problems};
use crate::pipeline::read::{Draft, Place};

pub(super) fn check(draft: &Draft, problems: &mut Problems) {
    if &*draft.pipeline.name != DELIVERY {
        return;
    }
    let declared = draft.taken.iter().find(|taken| taken.place == Place::Pipeline && taken.key == "notify");
    if let Some(taken) = declared {
        let message = format!("`{DELIVERY}` carries notifications and cannot have any of its own");
        problems.push(Problem::new("key-not-here", taken.at.clone(), message));
    }
}
