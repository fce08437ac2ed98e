//! Refusals, as people read them.

use askama::Template;
use wire::refusal::Class;
use wire::{Code, Refusal};

use crate::answer::Answer;
use crate::ask::Ask;
use crate::fields::address;
use crate::layout::{self, Sheet};
use crate::session::{keep, session};

#[derive(Template)]
#[template(path = "refused.html")]
struct Page<'a> {
    title: &'a str,
    message: &'a str,
    code: &'a str,
    again: String,
    signs_in: bool,
}

#[derive(Template)]
#[template(path = "once_more.html")]
struct OnceMore {
    here: String,
}

#[derive(Template)]
#[template(path = "over.html")]
struct Over {
    sign_in: String,
}

/// Answers a page that was refused: with the way in for whoever has no session, or with what is wrong.
#[must_use]
pub fn refused(ask: &Ask, refusal: &Refusal, status: u16) -> Answer {
    if refusal.code == Code::Unauthorized {
        return unknown(ask);
    }
    let reader = refusal.code.class() == Class::Forbidden;
    let page = Page {
        title: refusal.code.title(),
        message: &refusal.message,
        code: refusal.code.as_str(),
        again: if ask.is_form { String::new() } else { ask.here() },
        signs_in: reader && session(&ask.headers).is_some(),
    };
    let html = layout::outside(ask, &Sheet::new(page.title), &page);
    Answer::Page { status, html: html.unwrap_or_else(|refusal| refusal.message) }
}

/// Asks for a session. A browser that comes from another site keeps the session to itself at first: it is asked to come once
/// more, from here.
fn unknown(ask: &Ask) -> Answer {
    let here = if ask.is_form { "/console".to_owned() } else { ask.here() };
    let had_one = session(&ask.headers).is_some();
    if !had_one && ask.header("sec-fetch-site") == Some("cross-site") {
        let page = OnceMore { here };
        return Answer::page(layout::outside(ask, &Sheet::new("Milepost"), &page).unwrap_or_default());
    }
    let fields = [("next", here.as_str()), ("refused", if had_one { "1" } else { "" })];
    if ask.is_part() {
        // In the place of what was there: a page that is open cannot be sent elsewhere.
        let page = Over { sign_in: address("/console/sign-in", fields) };
        let html = layout::outside(ask, &Sheet::new("Signed out"), &page).unwrap_or_default();
        return Answer::Page { status: 401, html };
    }
    let cookies = if had_one { vec![keep(None, ask.secure)] } else { Vec::new() };
    Answer::Elsewhere { to: address("/console/sign-in", fields), cookies }
}
