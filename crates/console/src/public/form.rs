//! The form of a public pipeline: shown, checked, sent. What was typed is never lost.

use app::Submitting;
use app::public::{PublicPipeline, told};
use askama::Template;
use model::links::{form_path, receipt_path};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use wire::api::SubmitBody;
use wire::{Code, Json, Refusal};

use super::field::{Field, WHOLE, object};
use super::{Open, document, framed, paragraphs, schema, status_of};
use crate::answer::Answer;
use crate::fields::Fields;

/// The most bytes of a form, and of a document that a program sends.
const BYTES_MAX: usize = 128 << 10;
/// The answers that are kept for repeated requests of everybody at one pipeline's pages.
const ANSWERS_MAX: usize = 100_000;

#[derive(Template)]
#[template(path = "public/form.html")]
struct Page<'a> {
    title: &'a str,
    intro: Vec<&'a str>,
    to: String,
    key: String,
    fields: &'a [Field],
    asks_reason: bool,
    reason: &'a str,
    reason_missing: bool,
    /// Set if it was looked at and nothing is wrong with it.
    fits: bool,
    /// The sentence about what is wrong, where that is not what was typed.
    problem: &'a str,
    /// The fields with something wrong: id and title.
    wrong: Vec<(String, String)>,
    /// The sentences about the whole.
    general: &'a [String],
}

/// A form as it was sent.
struct Sent {
    fields: Vec<Field>,
    reason: String,
    reason_missing: bool,
    general: Vec<String>,
}

/// The form, as programs read it.
#[derive(Serialize)]
struct FormView<'a> {
    pipeline: &'a str,
    title: &'a str,
    intro: &'a str,
    /// The fields that may be given; all of the schema's where none are named.
    #[serde(skip_serializing_if = "Option::is_none")]
    fields: Option<&'a [String]>,
    /// The JSON Schema of what is submitted.
    schema: Option<Json>,
    /// Set if a reason has to be given.
    reason: bool,
    /// The address to send to.
    submit: String,
}

/// A submission, as programs send it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    payload: Json,
    #[serde(default)]
    reason: Option<String>,
    /// Set if it is to be looked at alone.
    #[serde(default)]
    dry_run: bool,
}

#[derive(Serialize)]
struct ReceiptAnswer {
    receipt: String,
    url: String,
}

pub(crate) async fn show(open: Open) -> Result<Answer, Refusal> {
    if open.ask.wants_json() {
        return described(&open);
    }
    page(&open, Sent { fields: drawn(&open)?, ..Sent::empty() }, None, 200)
}

fn drawn(open: &Open) -> Result<Vec<Field>, Refusal> {
    let source = open.app.payload_schema(&open.public.name)?;
    Ok(schema::draw(source.as_deref(), open.public.fields.as_deref()))
}

fn described(open: &Open) -> Result<Answer, Refusal> {
    let PublicPipeline { name, intro, fields, .. } = &*open.public;
    let source = open.app.payload_schema(name)?;
    let view = FormView {
        pipeline: name,
        title: &open.heading()?,
        intro,
        fields: fields.as_deref(),
        schema: source.and_then(|source| Json::parse(&source).ok()),
        reason: open.app.submitting_takes_a_reason(name)?,
        submit: format!("{}{}", open.ask.server(), form_path(name)),
    };
    Ok(document(200, &view))
}

pub(crate) async fn send(open: Open) -> Result<Answer, Refusal> {
    if open.ask.body.len() > BYTES_MAX {
        let message = format!("this is over {BYTES_MAX} bytes; go back and send less");
        return Err(Refusal::new(Code::TooLarge, message).with("max_bytes", BYTES_MAX));
    }
    if open.ask.sends_json() {
        return of_program(&open).await;
    }
    let form = open.ask.form();
    let mut sent = Sent::read(&open, &form)?;
    let checks = form.get("do") == Some("check");
    let looked = sent.look(open.app.submitting_takes_a_reason(&open.public.name)?);
    let body = sent.body();
    // What is missing is said together with what the schema says: nobody wants to be sent back twice.
    let checked = open.app.check_public(&open.public, body.clone()).await;
    if let Err(refusal) = checked {
        return sent.refused(&open, refusal);
    }
    if looked || checks {
        return page(&open, sent, (!looked).then_some(Note::Fits), if looked { 422 } else { 200 });
    }
    match submitted(&open, body, form.get("key")).await {
        Ok(receipt) => Ok(Answer::to(receipt_path(&open.public.name, &receipt))),
        Err(refusal) => sent.refused(&open, refusal),
    }
}

async fn submitted(open: &Open, body: SubmitBody, key: Option<&str>) -> Result<String, Refusal> {
    (open.turn.0)()?;
    let route = format!("POST {}", form_path(&open.public.name));
    let written = format!("{}\0{}", body.payload.as_str(), body.reason.as_deref().unwrap_or_default());
    let once = |key| open.app.once(&route, key, written.as_bytes(), ANSWERS_MAX);
    let terms = Submitting { once: key.map(once).transpose()?, ..Submitting::default() };
    open.app.submit_public(&open.public, body, terms).await
}

async fn of_program(open: &Open) -> Result<Answer, Refusal> {
    let invalid = |message: String| Refusal::new(Code::InvalidJson, message);
    Json::check_bytes(&open.ask.body)
        .map_err(|error| invalid(format!("the body is not strict JSON: {error}")))?;
    let body: Body = serde_json::from_slice(&open.ask.body)
        .map_err(|error| app::invalid(format!("the body has another shape than this takes: {error}")))?;
    let dry_run = body.dry_run;
    let body = SubmitBody { payload: body.payload, reason: body.reason, ..SubmitBody::default() };
    if dry_run {
        open.app.check_public(&open.public, body).await?;
        return Ok(document(200, &serde_json::json!({ "fits": true })));
    }
    let receipt = submitted(open, body, open.ask.header("idempotency-key")).await?;
    let url = format!("{}{}", open.ask.server(), receipt_path(&open.public.name, &receipt));
    Ok(document(201, &ReceiptAnswer { receipt, url }))
}

/// The word over a form.
enum Note {
    Fits,
    Problem(String),
}

fn page(open: &Open, sent: Sent, note: Option<Note>, status: u16) -> Result<Answer, Refusal> {
    let title = open.heading()?;
    let mut wrong = Vec::new();
    sent.fields.iter().for_each(|field| field.wrong(&mut wrong));
    if sent.reason_missing {
        wrong.push(("reason".to_owned(), "Reason".to_owned()));
    }
    let (fits, problem) = match note {
        Some(Note::Fits) => (true, String::new()),
        Some(Note::Problem(problem)) => (false, problem),
        None => (false, String::new()),
    };
    let page = Page {
        title: &title,
        intro: paragraphs(&open.public.intro),
        to: form_path(&open.public.name),
        // Another one each time: what is changed is another submission.
        key: open.app.fresh_key(),
        fields: &sent.fields,
        asks_reason: open.app.submitting_takes_a_reason(&open.public.name)?,
        reason: &sent.reason,
        reason_missing: sent.reason_missing,
        fits,
        problem: &problem,
        wrong,
        general: &sent.general,
    };
    Ok(Answer::Page { status, html: framed(&title, &page, false)? })
}

impl Sent {
    fn empty() -> Sent {
        Sent { fields: Vec::new(), reason: String::new(), reason_missing: false, general: Vec::new() }
    }

    fn read(open: &Open, form: &Fields) -> Result<Sent, Refusal> {
        let mut fields = drawn(open)?;
        fields.iter_mut().for_each(|field| field.fill(form));
        let reason = form.get("reason").unwrap_or_default().to_owned();
        Ok(Sent { fields, reason, ..Sent::empty() })
    }

    /// Says what is missing. Returns whether something is.
    fn look(&mut self, takes_reason: bool) -> bool {
        self.reason_missing = takes_reason && self.reason.is_empty();
        self.fields.iter_mut().map(Field::look).fold(self.reason_missing, |wrong, next| wrong | next)
    }

    fn body(&self) -> SubmitBody {
        let text = match &self.fields[..] {
            [whole] if whole.name() == WHOLE => whole.json().unwrap_or_else(|| "null".to_owned()),
            fields => object(fields),
        };
        // Made of JSON alone; were it not, the schema would refuse it.
        let payload = Json::parse(&text).unwrap_or_else(|_| Json::null());
        let reason = (!self.reason.is_empty()).then(|| self.reason.clone());
        SubmitBody { payload, reason, ..SubmitBody::default() }
    }

    /// Shows the form as it was sent, with what is wrong beside its field.
    fn refused(mut self, open: &Open, refusal: Refusal) -> Result<Answer, Refusal> {
        let refusal = told(refusal);
        let status = status_of(&refusal);
        let violations =
            refusal.details.get("violations").and_then(Value::as_array).cloned().unwrap_or_default();
        let note = match refusal.code {
            Code::SchemaViolation if !violations.is_empty() => None,
            Code::ReasonRequired => None,
            Code::IdempotencyMismatch => Some(Note::Problem(
                "Something else was submitted from this page before. Send it again to submit this as well."
                    .to_owned(),
            )),
            _ => Some(Note::Problem(sentence(&refusal.message))),
        };
        for violation in &violations {
            let text = |key: &str| violation.get(key).and_then(Value::as_str).unwrap_or_default();
            self.blame(text("path"), text("message"));
        }
        page(open, self, note, status)
    }

    /// Puts a violation beside the field that it is about.
    fn blame(&mut self, path: &str, message: &str) {
        // Said already, beside the very field that is empty.
        if message.ends_with("is a required property") && self.misses() {
            return;
        }
        let message = sentence(message);
        match self.fields.iter_mut().find_map(|field| field.at(path)) {
            // Of what is empty nothing is said twice, and that a document is no JSON is enough.
            Some(field) if !field.problems.is_empty() => {}
            Some(field) => field.problems.push(message),
            None => self.general.push(message),
        }
    }

    fn misses(&self) -> bool {
        let mut wrong = Vec::new();
        self.fields.iter().for_each(|field| field.wrong(&mut wrong));
        !wrong.is_empty()
    }
}

/// Writes a message of a schema as people would say it.
fn sentence(message: &str) -> String {
    let message =
        message.strip_prefix("value ").map_or_else(|| message.to_owned(), |rest| format!("this {rest}"));
    let mut chars = message.chars();
    chars.next().map(|first| first.to_uppercase().collect::<String>() + chars.as_str()).unwrap_or_default()
}
