//! Public pages: a form for whoever comes, and a receipt for whoever submitted. Programs get the same as JSON.
//!
//! They have a frame of their own and keep nothing in the browser: no session, no cookie. What a page is about is public by the
//! deployment's settings, and everything else is not there.

mod field;
mod form;
mod ordered;
mod receipt;
mod schema;

use std::fmt;
use std::sync::Arc;

use app::App;
use app::public::{PublicPages, PublicPipeline, told};
use askama::Template;
use http::header;
use serde::Serialize;
use wire::{Refusal, api};

use crate::answer::Answer;
use crate::ask::Ask;
use crate::assets;

pub(crate) use form::{send, show};
pub(crate) use receipt::show as show_receipt;

/// A request at the pages of a pipeline that is public.
#[derive(Debug, Clone)]
pub struct Open {
    /// The application, as anybody at these pages has it.
    pub app: App,
    pub ask: Ask,
    pub public: Arc<PublicPipeline>,
    pub pages: Arc<PublicPages>,
    pub turn: Turn,
}

/// Takes one of the submissions that the rates leave to this visitor.
#[derive(Clone)]
pub struct Turn(pub Arc<dyn Fn() -> Result<(), Refusal> + Send + Sync>);

impl fmt::Debug for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Turn(..)")
    }
}

#[derive(Template)]
#[template(path = "public/layout.html")]
struct Layout<'a> {
    title: &'a str,
    content: &'a str,
    stamp: &'static str,
    /// Set if the page is read again every few seconds.
    fresh: bool,
}

#[derive(Template)]
#[template(path = "public/refused.html")]
struct RefusedPage<'a> {
    title: &'a str,
    message: &'a str,
}

impl Open {
    fn heading(&self) -> Result<String, Refusal> {
        match &self.public.title {
            Some(title) => Ok(title.clone()),
            None => Ok(self.app.machine(&self.public.name, None)?.title.clone()),
        }
    }
}

impl Ask {
    /// Tells whether a program asks, which reads JSON, and not a person.
    pub(crate) fn wants_json(&self) -> bool {
        let accept = self.header(header::ACCEPT.as_str()).unwrap_or_default();
        accept.contains("application/json") && !accept.contains("text/html")
    }

    pub(crate) fn sends_json(&self) -> bool {
        let kind = self.header(header::CONTENT_TYPE.as_str()).unwrap_or_default();
        kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
    }
}

/// Answers a public page that was refused, as far as everybody may know why.
#[must_use]
pub fn refused(refusal: Refusal, status: u16) -> Answer {
    let refusal = told(refusal);
    let page = RefusedPage { title: refusal.code.title(), message: &refusal.message };
    match framed("Not done", &page, false) {
        Ok(html) => Answer::Page { status, html },
        Err(refusal) => Answer::Page { status, html: refusal.message },
    }
}

/// Puts a page into the frame of public pages.
fn framed(title: &str, page: &impl Template, fresh: bool) -> Result<String, Refusal> {
    let content = rendered(page)?;
    rendered(&Layout { title, content: &content, stamp: assets::stamp(), fresh })
}

fn rendered(page: &impl Template) -> Result<String, Refusal> {
    page.render()
        .map_err(|error| Refusal::new(wire::Code::Internal, format!("the page cannot be made: {error}")))
}

fn document(status: u16, document: &impl Serialize) -> Answer {
    let body = serde_json::to_vec(document).unwrap_or_default();
    Answer::Json { status, body: body.into() }
}

fn status_of(refusal: &Refusal) -> u16 {
    api::Problem::from(refusal).status
}

/// Returns the paragraphs of a text: what empty lines separate.
fn paragraphs(text: &str) -> Vec<&str> {
    text.split("\n\n").map(str::trim).filter(|paragraph| !paragraph.is_empty()).collect()
}
