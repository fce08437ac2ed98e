//! Messages to the outside: whether they arrived, and sending one again.

use app::DeliveryQuery;
use askama::Template;
use wire::api::{DeliveryView, RedriveBody};
use wire::{Refusal, Role, Status};

use super::PAGE;
use crate::answer::Answer;
use crate::ask::Visit;
use crate::fields::address;
use crate::layout::{Sheet, Tab};
use crate::look::Eye;
use crate::parts::{Id, When, of_status};
use crate::raw::Raw;

#[derive(Template)]
#[template(path = "deliveries.html")]
struct Page {
    tabs: Vec<Tab>,
    deliveries: Vec<Delivery>,
    next: String,
    may: bool,
    /// Set if messages are not for this reader.
    closed: bool,
}

struct Delivery {
    id: Id,
    whole: String,
    name: String,
    channel: String,
    to: String,
    about: Option<Id>,
    pipeline: String,
    status: &'static str,
    tone: &'static str,
    attempt: u32,
    error: String,
    created: When,
    next_try: Option<When>,
    /// The address of the same list with what this message says.
    look: String,
    said: Option<Said>,
}

/// The text of a message, and the answers to it.
struct Said {
    payload: Option<Raw>,
    answers: Vec<(String, Raw)>,
}

pub(crate) async fn show(visit: Visit) -> Result<Answer, Refusal> {
    let (query, eye) = (visit.ask.query(), visit.eye());
    let status: Option<Status> = query.get("status").and_then(|text| text.parse().ok());
    let submission = query.get("submission").and_then(|text| text.parse().ok());
    let wanted =
        DeliveryQuery { submission, status, limit: PAGE, after: visit.after()?, ..DeliveryQuery::default() };
    let closed = !visit.app.visitor().sees(model::owed::DELIVERY);
    let (deliveries, next) = match closed {
        true => (Vec::new(), None),
        false => {
            let found = visit.app.deliveries(wanted).await?;
            (found.deliveries, found.next)
        }
    };
    let about = query.get("submission").unwrap_or_default();
    let at = |status: &str, after: &str| {
        address("/console/deliveries", [("submission", about), ("status", status), ("after", after)])
    };
    let here = status.map_or("", Status::as_str);
    let tabs = [("All", ""), ("On their way", "open"), ("Dead", "dead"), ("Sent", "succeeded")];
    let mut shown: Vec<Delivery> = deliveries.iter().map(|view| delivery(&eye, view)).collect();
    let open = query.get("open").unwrap_or_default();
    for delivery in &mut shown {
        let is_open = delivery.whole == open;
        let after = query.get("after").unwrap_or_default();
        let wanted = if is_open { "" } else { delivery.whole.as_str() };
        let fields = [("submission", about), ("status", here), ("after", after), ("open", wanted)];
        delivery.look = format!("{}#m-{}", address("/console/deliveries", fields), delivery.whole);
        if is_open {
            delivery.said = said(&visit, &delivery.whole).await;
        }
    }
    let page = Page {
        tabs: tabs.into_iter().map(|(text, key)| Tab::new(text, at(key, ""), key == here)).collect(),
        deliveries: shown,
        next: next.map_or_else(String::new, |next| at(here, &next.to_string())),
        may: visit.app.visitor().caller.role == Role::Admin,
        closed,
    };
    let route = address("/v1/deliveries", [("status", here)]);
    visit.show(Sheet::new("Deliveries").live().typed(&visit.ask, "deliveries", &route), &page)
}

fn delivery(eye: &Eye, view: &DeliveryView) -> Delivery {
    let text = |name: &Option<wire::Name>| name.as_deref().unwrap_or_default().to_owned();
    let about = view.submission.as_deref().and_then(|text| text.parse().ok());
    Delivery {
        id: Id::of(view.id),
        whole: view.id.to_string(),
        name: text(&view.name),
        channel: text(&view.channel),
        to: view.to.clone().unwrap_or_default(),
        about: about.map(Id::of),
        pipeline: text(&view.pipeline),
        status: view.status.as_str(),
        tone: of_status(view.status),
        attempt: view.attempt,
        error: view
            .error
            .as_ref()
            .map(|error| format!("{}: {}", error.code, error.message))
            .unwrap_or_default(),
        created: eye.when(view.created_at),
        next_try: eye.when_if(view.next_try_at),
        look: String::new(),
        said: None,
    }
}

/// Returns what a message says, as far as it is for this reader and still there.
async fn said(visit: &Visit, id: &str) -> Option<Said> {
    let view = visit.app.show(id.parse().ok()?).await.ok()?;
    let answers = view.outputs.iter().flatten().map(|(state, answer)| (state.to_string(), Raw::of(answer)));
    Some(Said { payload: view.payload.as_ref().map(Raw::of), answers: answers.collect() })
}

pub(crate) async fn replay(visit: Visit) -> Result<Answer, Refusal> {
    let reason = visit.ask.form().get("reason").map(str::to_owned);
    let replayed = visit.app.replay(visit.id()?, RedriveBody { reason }).await;
    visit.told(replayed, "/console/deliveries", "replayed")
}
