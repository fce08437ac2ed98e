//! Refusals, as far as everybody may be told of them.

use model::refusal::Class;
use model::{Code, Refusal};

/// The members of a problem that say something about what was sent, and nothing about what is here.
const TOLD: &[&str] = &["violations", "max_bytes", "max", "line", "column", "retry_after_s", "accept"];

/// Returns what somebody at a public page is told. Messages about what was sent stay; what names submissions, keys, roles or
/// expressions of the pipeline is replaced.
#[must_use]
pub fn told(refusal: Refusal) -> Refusal {
    let Refusal { code, message, details } = refusal;
    let plain = |code: Code, message: &str| Refusal::new(code, message);
    let told = match code {
        Code::DuplicateKey | Code::KeyConflict => return taken(),
        Code::SchemaViolation
        | Code::InvalidJson
        | Code::InvalidRequest
        | Code::TooLarge
        | Code::TooComplex
        | Code::UnsupportedMediaType
        | Code::RateLimited
        | Code::ForbiddenHost
        | Code::UnknownRoute
        | Code::ReasonRequired
        | Code::IdempotencyMismatch => Refusal::new(code, message),
        Code::NotAdmitted | Code::GuardError => plain(Code::NotAdmitted, "this is not taken here as it is"),
        Code::UnknownSubmission | Code::UnknownPipeline => {
            plain(Code::UnknownRoute, "there is nothing at this address")
        }
        _ => match code.class() {
            Class::Unavailable => plain(code, "this cannot be done at the moment; try again soon"),
            Class::Forbidden | Class::Unauthorized => {
                plain(Code::RoleRequired, "this is not open to everybody")
            }
            Class::Internal => plain(code, "something went wrong here; try again later"),
            _ => plain(code, code.title()),
        },
    };
    details
        .into_iter()
        .filter(|(name, _)| TOLD.contains(&name.as_str()))
        .fold(told, |told, (name, value)| told.with(&name, value))
}

/// Returns the refusal of what is under way already: not whose it is, and not how far.
pub(super) fn taken() -> Refusal {
    let message = "the same is under way already; whoever submitted it has the receipt";
    Refusal::new(Code::DuplicateKey, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_about_what_is_here_is_told() {
        let secret = "0192f0c1-2345-7abc-8def-0123456789ab role admin payload.secret";
        for code in Code::ALL {
            let refusal = Refusal::new(*code, secret).with("submission", secret).with("role", secret);
            let refusal = told(refusal.with("pipelines", secret));
            let about_what_was_sent = matches!(
                code,
                Code::SchemaViolation
                    | Code::InvalidJson
                    | Code::InvalidRequest
                    | Code::TooLarge
                    | Code::TooComplex
                    | Code::UnsupportedMediaType
                    | Code::RateLimited
                    | Code::ForbiddenHost
                    | Code::UnknownRoute
                    | Code::ReasonRequired
                    | Code::IdempotencyMismatch
            );
            assert_eq!(refusal.message == secret, about_what_was_sent, "{code:?}");
            assert!(refusal.details.is_empty(), "{code:?}: {:?}", refusal.details);
        }
        let violations = Refusal::new(Code::SchemaViolation, "x").with("violations", "y");
        assert_eq!(told(violations).details["violations"], "y");
    }
}
