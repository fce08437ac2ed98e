//! The refusals of a call, as the answers of its description.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use model::{Code, Refusal};
use wire::api::Problem;

use super::call::{Call, add_content, header};
use super::shape::refer;
use super::tree::{Tree, object};
use super::words;
use crate::table::{Need, Room, Route};

const PROBLEM: &str = "application/problem+json";

/// Lists the codes that every call like this may be refused with, whatever it does.
fn common(route: &Route, call: &Call) -> Vec<Code> {
    let mut codes = vec![Code::Internal];
    if route.room != Room::Always {
        codes.extend([Code::InvalidRequest, Code::RateLimited, Code::Overloaded, Code::OutcomeUnknown]);
    }
    if route.need != Need::Nothing {
        codes.extend([Code::Unauthorized, Code::RoleRequired, Code::ForbiddenHost]);
        codes.extend([Code::Unavailable, Code::Draining]);
    }
    if call.body.is_some() {
        codes.extend([Code::InvalidJson, Code::TooLarge, Code::UnsupportedMediaType]);
    }
    codes
}

/// One answer for each status, which names the codes it comes with.
pub(super) fn refusals(route: &Route, call: &Call) -> Vec<(u16, Tree)> {
    let mut by_status: BTreeMap<u16, Vec<Problem>> = BTreeMap::new();
    let common = common(route, call);
    for &code in Code::ALL.iter().filter(|code| common.contains(code) || call.codes.contains(code)) {
        let problem = Problem::from(&Refusal::new(code, ""));
        by_status.entry(problem.status).or_default().push(problem);
    }
    by_status.into_iter().map(|(status, problems)| (status, answer(status, &problems))).collect()
}

fn answer(status: u16, problems: &[Problem]) -> Tree {
    let mut sentence = String::new();
    for Problem { code, title, .. } in problems {
        let separator = if sentence.is_empty() { "" } else { "; " };
        // Writing into a string cannot fail.
        let _ = write!(sentence, "{separator}`{code}`: {title}");
    }
    let mut answer = object([("description", sentence.into())]);
    add_content(&mut answer, &[PROBLEM], Some(&refer::<Problem>()));
    let with = match status {
        401 => Some(("WWW-Authenticate", header(words::text(), "How to show a token: `Bearer`."))),
        429 | 503 => {
            Some(("Retry-After", header(words::whole(0, 86_400), "Seconds to wait before the next try.")))
        }
        _ => None,
    };
    if let Some((name, header)) = with {
        *answer.enter("headers").enter(name) = header;
    }
    answer
}
