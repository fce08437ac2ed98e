//! The settings of a reader: light or dark, and the zone of times.

use askama::Template;
use wire::Refusal;

use super::sign_in::inside;
use crate::answer::Answer;
use crate::ask::{Ask, Visit};
use crate::layout::Sheet;
use crate::look::{Look, zones};

#[derive(Template)]
#[template(path = "settings.html")]
struct Page {
    theme: &'static str,
    zone: String,
    zones: Vec<String>,
}

pub(crate) async fn show(visit: Visit) -> Result<Answer, Refusal> {
    let look = visit.ask.look();
    let page = Page { theme: look.theme, zone: look.zone_name().to_owned(), zones: zones() };
    visit.show(Sheet::new("Settings"), &page)
}

/// Keeps the settings that a form names, and leaves the others.
pub(crate) async fn keep(ask: Ask) -> Result<Answer, Refusal> {
    let (form, look) = (ask.form(), ask.look());
    let theme = form.all("theme").next().unwrap_or(look.theme);
    let zone = form.get("zone").unwrap_or(&look.zone);
    let kept = Look::new(theme, zone).keep();
    Ok(Answer::Elsewhere { to: inside(form.get("next")).to_owned(), cookies: vec![kept] })
}
