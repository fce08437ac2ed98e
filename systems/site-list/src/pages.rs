//! The public pages: a form to ask for a change, and a page to follow one by its number.

use askama::Template;
use http::{HeaderValue, Method, StatusCode, header};
use system::{Call, Need, Rate, Reply, Room, Route};
use wire::{Code, Refusal};

use crate::followed::Followed;
use crate::published::Shelf;
use crate::wish::{NotTaken, current, submit};

/// The form's most bytes; the longest good one is far shorter.
const FORM_BYTES_MAX: usize = 8 << 10;
/// The newest submissions that the form names.
const RECENT: usize = 5;
/// Nothing is loaded, and the form goes nowhere else.
const SECURITY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
);
/// A form of a person: a few a minute are plenty.
const OF_FORM: Need = Need::Public(Rate::per_minute(10));
const OF_PAGE: Need = Need::Public(Rate::per_second(10));

#[derive(Template, Default)]
#[template(path = "pages/form.html")]
struct FormPage {
    sites: usize,
    recent: Vec<usize>,
    fqdn: String,
    action: String,
    problem: String,
}

#[derive(Template)]
#[template(path = "pages/change.html")]
struct ChangePage {
    change: Followed,
}

pub(crate) fn routes(shelf: &Shelf) -> Vec<Route> {
    let (shown, submitted, followed) = (shelf.clone(), shelf.clone(), shelf.clone());
    let at = |path: &'static str| ((Method::GET, path), (OF_PAGE, Room::Page));
    let (form_at, door) = at("/site-list/");
    let form = Route::new(form_at, door, "Ask for a change of the site list", move |_: Call| {
        let shelf = shown.clone();
        async move { form(&shelf, FormPage::default()).await }
    });
    let submit_at = (Method::POST, "/site-list/submit");
    let submit = Route::new(submit_at, (OF_FORM, Room::Request), "Ask for a change", move |call: Call| {
        let shelf = submitted.clone();
        async move { take(&shelf, &call).await }
    });
    let (change_at, door) = at("/site-list/changes/{number}");
    let change = Route::new(change_at, door, "Follow a change", move |call: Call| {
        let shelf = followed.clone();
        async move {
            let change = Followed::read(&shelf, call.part("number")).await.map_err(refusal)?;
            rendered(&ChangePage { change })
        }
    });
    vec![form, submit, change]
}

fn rendered(page: &impl Template) -> Result<Reply, Refusal> {
    let html = page.render().map_err(|error| Refusal::new(Code::Internal, error.to_string()))?;
    let mut reply = Reply::html(html);
    reply.headers.insert(header::CONTENT_SECURITY_POLICY, SECURITY);
    Ok(reply)
}

fn refusal(not: NotTaken) -> Refusal {
    match not.status {
        StatusCode::NOT_FOUND => Refusal::new(Code::UnknownSubmission, not.message),
        _ => Refusal::new(Code::Unavailable, not.message),
    }
}

async fn form(shelf: &Shelf, page: FormPage) -> Result<Reply, Refusal> {
    let list = current(shelf).await.map_err(refusal)?;
    let newest = list.submissions();
    let recent = (1..=newest).rev().take(RECENT).collect();
    rendered(&FormPage { sites: list.len(), recent, ..page })
}

/// Submits what the form says. What is not taken comes back in the form, with the reason.
async fn take(shelf: &Shelf, call: &Call) -> Result<Reply, Refusal> {
    if call.body.len() > FORM_BYTES_MAX {
        return Err(Refusal::new(Code::TooLarge, "the form is longer than any good one"));
    }
    let mut page = FormPage::default();
    for (name, value) in url::form_urlencoded::parse(&call.body) {
        match &*name {
            "fqdn" => value.trim().clone_into(&mut page.fqdn),
            "action" => value.trim().clone_into(&mut page.action),
            _ => {}
        }
    }
    match submit(&call.client, shelf, (&page.fqdn, &page.action)).await {
        Ok(number) => {
            let to = HeaderValue::try_from(format!("/site-list/changes/{number}"));
            let to = to.map_err(|error| Refusal::new(Code::Internal, error.to_string()))?;
            let mut reply = Reply::text("").with_status(StatusCode::SEE_OTHER);
            reply.headers.insert(header::LOCATION, to);
            Ok(reply)
        }
        Err(NotTaken { status, message }) => {
            Ok(form(shelf, FormPage { problem: message, ..page }).await?.with_status(status))
        }
    }
}
