//! Tokens: making, listing, revoking and rotating them. The door lets only admins here whose own token is for everything:
//! whoever may see some could otherwise make themselves a token for all.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use engine::KnownToken;
use engine::core::TokenEntry;
use model::admit::KEY_BYTES_MAX;
use model::{Code, Millis, Name, Refusal, Time, person};
use wire::api::{RotateBody, Secret, TokenBody, TokenGiven, TokenList, TokenView};

use super::{Asking, At};
use crate::app::App;
use crate::body::{self, Given};
use crate::conditions;
use crate::problem::{Answer, invalid, quote};
use crate::query::Params;

pub(super) const SUBJECT_CHARS_MAX: usize = 128;
const SCOPE_MAX: usize = 64;
/// The names under which the server itself appears in events and as a submitter.
const RESERVED: [&str; 4] = ["system", "notify", "schedule", "local"];
const GRACE_DEFAULT: Millis = Millis::from_secs(3_600);
const GRACE_MAX: Millis = Millis::from_secs(30 * 24 * 3_600);

pub(crate) async fn create(
    State(app): State<App>,
    asking: Asking,
    headers: HeaderMap,
    Given(body): Given<TokenBody>,
) -> Answer<Response> {
    conditions::never_once(&headers)?;
    let wanted = entry(body, app.engine.known_time())?;
    let made = app.engine.by(&asking.caller).create_token(wanted).await;
    app.access.changed().await;
    let (secret, entry) = made?;
    Ok(given(secret, entry))
}

pub(crate) async fn list(State(app): State<App>, uri: Uri) -> Answer<Json<TokenList>> {
    Params::read(&uri, &[])?;
    let tokens = app.engine.tokens().await?.into_iter().map(view).collect();
    Ok(Json(TokenList { tokens }))
}

pub(crate) async fn revoke(
    State(app): State<App>,
    asking: Asking,
    At(id): At<String>,
    headers: HeaderMap,
) -> Answer<Json<TokenView>> {
    conditions::never_once(&headers)?;
    let revoked = app.engine.by(&asking.caller).revoke_token(&id).await;
    app.access.changed().await;
    Ok(Json(view(revoked?)))
}

pub(crate) async fn rotate(
    State(app): State<App>,
    asking: Asking,
    At(id): At<String>,
    request: Request,
) -> Answer<Response> {
    conditions::never_once(request.headers())?;
    let (_, RotateBody { grace }) = body::read_or_default(&request)?;
    let grace = grace.unwrap_or(GRACE_DEFAULT);
    if grace > GRACE_MAX {
        return Err(invalid(format!("`grace` is at most {GRACE_MAX}")).into());
    }
    let rotated = app.engine.by(&asking.caller).rotate_token(&id, grace).await;
    app.access.changed().await;
    let (secret, entry) = rotated?;
    Ok(given(secret, entry))
}

fn given(secret: Secret, entry: TokenEntry) -> Response {
    let about = view(KnownToken { name: String::new(), entry, last_used_at: None });
    let path = format!("/v1/tokens/{}", about.id);
    let location = HeaderValue::try_from(path).expect("an id is plain ASCII");
    (StatusCode::CREATED, [(header::LOCATION, location)], Json(TokenGiven { token: secret, about }))
        .into_response()
}

fn view(known: KnownToken) -> TokenView {
    let TokenEntry { id, subject, role, pipelines, labels, created_at, expires_at } = known.entry;
    TokenView {
        id,
        subject,
        role,
        pipelines,
        labels,
        created_at,
        expires_at,
        last_used_at: known.last_used_at,
    }
}

fn entry(body: TokenBody, now: Time) -> Result<TokenEntry, Refusal> {
    let subject = person::spelled(&body.subject);
    let plain = !subject.chars().any(person::is_invisible);
    if !plain || !(1..=SUBJECT_CHARS_MAX).contains(&subject.chars().count()) {
        let message = format!("`subject` takes 1 to {SUBJECT_CHARS_MAX} characters, none of them invisible");
        return Err(invalid(message));
    }
    if is_reserved(&subject) {
        let message = format!(
            "{} is a name of the server's own; a subject is none of {}, has no `/` and does not begin with `sql:`",
            quote(&subject),
            RESERVED.map(|name| format!("`{name}`")).join(", ")
        );
        return Err(Refusal::new(Code::Reserved, message));
    }
    let pipelines = body.pipelines.as_deref();
    if pipelines.is_some_and(<[String]>::is_empty) {
        return Err(invalid(
            "a token for no pipeline is good for nothing; leave `pipelines` out to mean all",
        ));
    }
    let words = pipelines.into_iter().flatten().chain(body.labels.keys()).chain(body.labels.values());
    let count = pipelines.map_or(0, <[String]>::len).max(body.labels.len());
    if count > SCOPE_MAX || words.clone().any(|word| word.is_empty() || word.len() > KEY_BYTES_MAX) {
        return Err(invalid(format!(
            "a scope has at most {SCOPE_MAX} pipelines and labels, each of 1 to {KEY_BYTES_MAX} bytes"
        )));
    }
    if body.expires_at.is_some_and(|at| at <= now) {
        return Err(invalid("`expires_at` is over already"));
    }
    let name = |text: &String| Name::from(text.as_str());
    Ok(TokenEntry {
        id: "".into(),
        subject: subject.into(),
        role: body.role,
        pipelines: body.pipelines.as_ref().map(|list| list.iter().map(name).collect()),
        labels: body.labels.iter().map(|(label, value)| (name(label), name(value))).collect(),
        created_at: now,
        expires_at: body.expires_at,
    })
}

/// Tells whether events would show a subject as the server itself, or as a worker of another subject.
fn is_reserved(subject: &str) -> bool {
    let name = person::normal(subject);
    RESERVED.contains(&name.as_str()) || name.starts_with("sql:") || name.contains('/')
}
