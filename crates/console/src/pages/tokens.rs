//! Tokens: who may ask, for what, and until when.

use askama::Template;
use wire::api::{TokenBody, TokenView};
use wire::{Millis, Refusal, Role};

use crate::answer::Answer;
use crate::ask::Visit;
use crate::fields::Fields;
use crate::layout::Sheet;
use crate::look::Eye;
use crate::parts::When;

#[derive(Template)]
#[template(path = "tokens.html")]
struct Page {
    tokens: Vec<Token>,
    pipelines: Vec<String>,
    roles: [Role; 5],
}

struct Token {
    id: String,
    subject: String,
    role: &'static str,
    scope: Vec<String>,
    created: When,
    used: Option<When>,
    expires: Option<When>,
    is_over: bool,
}

/// The one page that has a token itself.
#[derive(Template)]
#[template(path = "token_given.html")]
struct Given {
    secret: String,
    subject: String,
    role: &'static str,
}

pub(crate) async fn show(visit: Visit) -> Result<Answer, Refusal> {
    let eye = visit.eye();
    let list = visit.app.tokens().await?.tokens;
    let page = Page {
        tokens: list.iter().map(|view| token(&eye, view)).collect(),
        pipelines: visit.app.names().iter().map(|name| name.to_string()).collect(),
        roles: Role::ALL,
    };
    visit.show(Sheet::new("Tokens").typed(&visit.ask, "tokens list", "/v1/tokens"), &page)
}

fn token(eye: &Eye, view: &TokenView) -> Token {
    let pipelines = view.pipelines.iter().flatten().map(|name| name.to_string());
    let labels = view.labels.iter().map(|(label, value)| format!("{label}={value}"));
    Token {
        id: view.id.to_string(),
        subject: view.subject.to_string(),
        role: view.role.as_str(),
        scope: pipelines.chain(labels).collect(),
        created: eye.when(view.created_at),
        used: eye.when_if(view.last_used_at),
        expires: eye.when_if(view.expires_at),
        is_over: view.expires_at.is_some_and(|at| at <= eye.now),
    }
}

/// Makes a token, and shows it once.
pub(crate) async fn create(visit: Visit) -> Result<Answer, Refusal> {
    let form = visit.ask.form();
    let made = match body(&form, &visit) {
        Ok(body) => visit.app.create_token(body).await,
        Err(refusal) => Err(refusal),
    };
    match made {
        Ok(given) => {
            let page = Given {
                secret: given.token.0,
                subject: given.about.subject.to_string(),
                role: given.about.role.as_str(),
            };
            visit.show(Sheet::new("A new token"), &page)
        }
        Err(refusal) => visit.again(&refusal, "/console/tokens"),
    }
}

fn body(form: &Fields, visit: &Visit) -> Result<TokenBody, Refusal> {
    let role = form.get("token_role").unwrap_or_default();
    let lasts: Option<Millis> = form.get("for").map(str::parse).transpose().map_err(|error| {
        app::invalid(format!("{error}; say how long the token lasts as `12h` or `90d`, or leave it open"))
    })?;
    let pipelines: Vec<String> =
        form.all("pipelines").filter(|name| !name.is_empty()).map(str::to_owned).collect();
    let label = form.get("label").zip(form.get("value"));
    let now = visit.app.clock().now;
    Ok(TokenBody {
        subject: form.get("subject").unwrap_or_default().to_owned(),
        role: role.parse().map_err(|error: String| app::invalid(error))?,
        pipelines: Some(pipelines).filter(|list| !list.is_empty()),
        labels: label.map(|(name, value)| (name.to_owned(), value.to_owned())).into_iter().collect(),
        expires_at: lasts.map(|span| now.plus(span)),
    })
}

pub(crate) async fn revoke(visit: Visit) -> Result<Answer, Refusal> {
    let revoked = visit.app.revoke_token(visit.ask.part("token")).await;
    visit.told(revoked, "/console/tokens", "revoked")
}
