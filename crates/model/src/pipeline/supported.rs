//! What a file may say and this version does not do yet. A feature is switched on by deleting its lines.

use super::problem::{Problem, Problems};
use super::read::{Place, Taken};

/// A key that is refused: whatever its value, or with all values but one.
#[derive(Debug)]
enum Refused {
    Key(Place, &'static str),
    OtherValues(Place, &'static str, &'static str),
}

use Place::{Edge, Pipeline, State};
use Refused::{Key, OtherValues};

const NOT_YET: &[Refused] = &[
    Key(Pipeline, "limits"),
    Key(Pipeline, "schedule"),
    Key(Pipeline, "calendars"),
    Key(Pipeline, "sla"),
    Key(State, "sla"),
    Key(Pipeline, "notify"),
    Key(State, "notify"),
    Key(Edge, "notify"),
    Key(Pipeline, "metrics"),
    OtherValues(Edge, "approvals", "1"),
    OtherValues(Edge, "self_approval", "true"),
];

impl Refused {
    /// What the file says, if this is it.
    fn found(&self, taken: &Taken) -> Option<String> {
        let is_here = |place: Place, key: &str| taken.place == place && taken.key == key;
        match *self {
            Key(place, key) => is_here(place, key).then(|| key.to_owned()),
            OtherValues(place, key, value) => {
                let other = taken.plain.as_deref().filter(|plain| *plain != value);
                other.filter(|_| is_here(place, key)).map(|other| format!("{key} = {other}"))
            }
        }
    }
}

pub(super) fn check(taken: &[Taken], problems: &mut Problems) {
    for taken in taken {
        if let Some(said) = NOT_YET.iter().find_map(|refused| refused.found(taken)) {
            let message = format!("`{said}` is not supported yet");
            problems.push(Problem::new("not-supported-yet", taken.at.clone(), message));
        }
    }
}
