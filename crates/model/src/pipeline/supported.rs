//! What a file may say and this version does not do yet. A feature is switched on by deleting its lines.

use super::problem::{Problem, Problems};
use super::read::{Place, Taken};

use Place::{Edge, Pipeline, State};

/// Keys that are refused, whatever they say.
const NOT_YET: &[(Place, &str)] = &[(Pipeline, "notify"), (State, "notify"), (Edge, "notify")];

pub(super) fn check(taken: &[Taken], problems: &mut Problems) {
    for taken in taken {
        let refused = |&&(place, key): &&(Place, &str)| taken.place == place && taken.key == key;
        if let Some((_, key)) = NOT_YET.iter().find(refused) {
            let message = format!("`{key}` is not supported yet");
            problems.push(Problem::new("not-supported-yet", taken.at.clone(), message));
        }
    }
}
