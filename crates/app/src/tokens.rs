//! Tokens: making, listing, revoking and rotating them. Only owners come here: whoever may see some could otherwise make
//! themselves a token for all.

use engine::KnownToken;
use engine::core::TokenEntry;
use model::admit::KEY_BYTES_MAX;
use model::{Code, Millis, Name, Refusal, Time, person};
use wire::api::{RotateBody, Secret, TokenBody, TokenGiven, TokenList, TokenView};

use crate::{App, invalid, quote};

pub(crate) const SUBJECT_CHARS_MAX: usize = 128;
const SCOPE_MAX: usize = 64;
/// The names under which the server itself appears in events and as a submitter.
const RESERVED: [&str; 4] = ["system", "notify", "schedule", "local"];
const GRACE_DEFAULT: Millis = Millis::from_secs(3_600);
const GRACE_MAX: Millis = Millis::from_secs(30 * 24 * 3_600);

impl App {
    /// Makes a token. The secret is in the answer, and nowhere else.
    pub async fn create_token(&self, body: TokenBody) -> Result<TokenGiven, Refusal> {
        let wanted = entry(body, self.engine.known_time())?;
        Ok(given(self.by().create_token(wanted).await?))
    }

    /// Lists all tokens, without their secrets.
    pub async fn tokens(&self) -> Result<TokenList, Refusal> {
        let tokens = self.engine.tokens().await?.into_iter().map(view).collect();
        Ok(TokenList { tokens })
    }

    /// Revokes a token.
    pub async fn revoke_token(&self, id: &str) -> Result<TokenView, Refusal> {
        Ok(view(self.by().revoke_token(id).await?))
    }

    /// Replaces a token, which goes on being good for a while.
    pub async fn rotate_token(&self, id: &str, body: RotateBody) -> Result<TokenGiven, Refusal> {
        let grace = body.grace.unwrap_or(GRACE_DEFAULT);
        if grace > GRACE_MAX {
            return Err(invalid(format!("`grace` is at most {GRACE_MAX}")));
        }
        Ok(given(self.by().rotate_token(id, grace).await?))
    }
}

fn given((secret, entry): (Secret, TokenEntry)) -> TokenGiven {
    TokenGiven { token: secret, about: view(KnownToken { name: String::new(), entry, last_used_at: None }) }
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
            "{} is a name of the server's own; a subject is none of {}, has no `/` and begins with neither `sql:` nor `system:`",
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
    let is_below = |begins: &str| name.starts_with(begins);
    RESERVED.contains(&name.as_str()) || is_below("sql:") || is_below("system:") || name.contains('/')
}
