//! Signing in with a token, and out.

use askama::Template;
use wire::Refusal;

use crate::answer::Answer;
use crate::ask::Ask;
use crate::fields::address;
use crate::layout::{Sheet, outside};
use crate::session::{is_token, keep};

#[derive(Template)]
#[template(path = "sign_in.html")]
struct Page {
    next: String,
    was_refused: bool,
}

pub(crate) async fn show(ask: Ask) -> Result<Answer, Refusal> {
    let query = ask.query();
    let page =
        Page { next: inside(query.get("next")).to_owned(), was_refused: query.get("refused").is_some() };
    Ok(Answer::page(outside(&ask, &Sheet::new("Sign in"), &page)?))
}

/// Keeps the token in the browser. Whether it is good is for the door of the next page to say.
pub(crate) async fn enter(ask: Ask) -> Result<Answer, Refusal> {
    let form = ask.form();
    let next = inside(form.get("next"));
    match form.get("token").filter(|token| is_token(token)) {
        Some(token) => {
            Ok(Answer::Elsewhere { to: next.to_owned(), cookies: vec![keep(Some(token), ask.secure)] })
        }
        None => Ok(Answer::to(address("/console/sign-in", [("next", next), ("refused", "1")]))),
    }
}

pub(crate) async fn leave(ask: Ask) -> Result<Answer, Refusal> {
    Ok(Answer::Elsewhere {
        to: "/console/sign-in?done=signed-out".to_owned(),
        cookies: vec![keep(None, ask.secure)],
    })
}

/// Returns where to go on; never to another site.
pub(crate) fn inside(next: Option<&str>) -> &str {
    let is_ours = |next: &&str| {
        let path = next.split(['?', '#']).next().unwrap_or_default();
        (path == "/console" || path.starts_with("/console/")) && !next.contains(['\\', '\n', '\r'])
    };
    next.filter(is_ours).unwrap_or("/console")
}

#[cfg(test)]
mod tests {
    use super::inside;

    #[test]
    fn a_session_leads_to_no_other_site() {
        for next in ["/console", "/console/holds?x=1", "/console?done=held"] {
            assert_eq!(inside(Some(next)), next);
        }
        for next in
            ["//evil.example", "https://evil.example", "/console\\evil", "/consoles", "/v1/tokens", ""]
        {
            assert_eq!(inside(Some(next)), "/console", "{next}");
        }
    }
}
