//! The receipt of a submission: how far it is, in plain words.

use app::public::{Expected, ReceiptView, Step};
use askama::Template;
use askama::filters::HtmlSafe;
use model::links::{form_path, receipt_path};
use wire::{Millis, Refusal, Status};

use super::{Open, document, framed, paragraphs, rendered};
use crate::answer::Answer;
use crate::look::{Eye, Look, span};
use crate::parts::{When, cut};

/// The most letters of a value in a step's metadata.
const VALUE_CHARS_MAX: usize = 300;

#[derive(Template)]
#[template(path = "public/receipt.html")]
struct Page<'a> {
    title: &'a str,
    live: Live<'a>,
    address: String,
    thanks: Vec<&'a str>,
    form: String,
}

/// The part of the page that changes.
#[derive(Template)]
#[template(path = "public/receipt_live.html")]
struct Live<'a> {
    view: &'a ReceiptView,
    steps: Vec<StepLine>,
    said: String,
    tone: &'static str,
    /// Set if it may still change.
    fresh: bool,
    here: String,
}

impl HtmlSafe for Live<'_> {}

struct StepLine {
    title: String,
    at: When,
    metadata: Vec<(String, String)>,
}

pub(crate) async fn show(open: Open) -> Result<Answer, Refusal> {
    let receipt = open.ask.part("receipt").to_owned();
    let flow = open.pages.flow(&open.app).await?;
    let view = open.app.receipt(&open.public, &receipt, &flow).await?;
    if open.ask.wants_json() {
        return Ok(document(200, &view));
    }
    let eye = Eye { now: open.app.clock().now, zone: Look::default().zone() };
    let path = receipt_path(&open.public.name, &receipt);
    let fresh = view.status == Status::Open;
    let live = Live {
        steps: view.history.iter().map(|step| line(&eye, step)).collect(),
        said: said(&view),
        tone: match view.status {
            Status::Succeeded => "good",
            Status::Failed => "bad",
            _ => "",
        },
        fresh,
        here: path.clone(),
        view: &view,
    };
    if open.ask.is_part() {
        return Ok(Answer::page(rendered(&live)?));
    }
    let page = Page {
        title: &view.title,
        live,
        address: format!("{}{path}", open.ask.server()),
        thanks: paragraphs(&open.public.thanks),
        form: form_path(&open.public.name),
    };
    Ok(Answer::page(framed(&view.title, &page, fresh)?))
}

fn line(eye: &Eye, step: &Step) -> StepLine {
    let text = |json: &wire::Json| match serde_json::from_str::<String>(json.as_str()) {
        Ok(text) => cut(&text, VALUE_CHARS_MAX),
        Err(_) => cut(json.as_str(), VALUE_CHARS_MAX),
    };
    let metadata = step.metadata.iter().map(|(name, json)| (name.to_string(), text(json)));
    StepLine { title: step.title.clone(), at: eye.when(step.at), metadata: metadata.collect() }
}

/// Says how it stands and how long it may take.
fn said(view: &ReceiptView) -> String {
    match view.status {
        Status::Succeeded => "It is done.".to_owned(),
        Status::Failed => "It has ended, and not as wished.".to_owned(),
        Status::Cancelled => "It was cancelled.".to_owned(),
        Status::Open | Status::Dead => match view.expected {
            Some(expected) => told(expected),
            None => "It is under way. How long it takes cannot be said at present.".to_owned(),
        },
    }
}

fn told(Expected { likely, rarely_over }: Expected) -> String {
    let second = Millis::from_secs(1);
    let (likely, late) = (span(likely.max(second)), span(rarely_over.max(second)));
    match likely == late {
        true => format!("It is under way. Others took about {likely} from here."),
        false => {
            format!("It is under way. Others took about {likely} from here, and rarely more than {late}.")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_expected_is_said_in_plain_words() {
        let expected =
            |likely, late| told(Expected { likely: Millis::new(likely), rarely_over: Millis::new(late) });
        assert_eq!(
            expected(90_000, 7_200_000),
            "It is under way. Others took about 1 min from here, and rarely more than 2 h."
        );
        assert_eq!(expected(3, 20), "It is under way. Others took about 1 s from here.");
    }
}
