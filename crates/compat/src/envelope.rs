//! The envelope that every answer of the foreign interface has.

use client::Error;
use http::StatusCode;
use serde::Serialize;
use serde_json::{Value, json};
use system::{Call, Reply};
use wire::Refusal;
use wire::api::Problem;

/// The base of every error's code: the status of the answer is added to it.
const CODE: u32 = 10_000;

/// A result, or what was wrong.
pub(crate) type Answer = Result<Value, Trouble>;

/// Something that went wrong, as a caller sees it.
#[derive(Debug)]
pub(crate) struct Trouble {
    status: u16,
    messages: Vec<String>,
}

impl Trouble {
    pub(crate) fn new(status: u16, message: impl Into<String>) -> Trouble {
        Trouble { status, messages: vec![message.into()] }
    }

    /// Makes one of several mistakes.
    pub(crate) fn many(status: u16, messages: Vec<String>) -> Trouble {
        Trouble { status, messages }
    }
}

/// Says a refusal as its code and its sentence.
pub(crate) fn told(problem: &Problem) -> String {
    format!("{}: {}", problem.code, problem.detail)
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Trouble {
        match error {
            Error::Problem(problem) => Trouble::new(problem.status, told(&problem)),
            other => Trouble::new(503, other.to_string()),
        }
    }
}

impl From<Refusal> for Trouble {
    fn from(refusal: Refusal) -> Trouble {
        let problem = Problem::from(&refusal);
        Trouble::new(problem.status, told(&problem))
    }
}

/// Reads the body of a call; no body at all is an empty one, as the official client sends it.
pub(crate) fn read<T: serde::de::DeserializeOwned>(call: &Call) -> Result<T, Trouble> {
    if call.body.iter().all(u8::is_ascii_whitespace) {
        return serde_json::from_str("{}")
            .map_err(|error| Trouble::new(400, format!("the body is missing: {error}")));
    }
    Ok(call.json()?)
}

/// Writes an answer.
pub(crate) fn reply(answer: Answer) -> Reply {
    match answer {
        Ok(result) => Reply::json(&Envelope { success: true, errors: &[], messages: [], result }),
        Err(Trouble { status, messages }) => {
            let code = CODE + u32::from(status);
            let errors: Vec<Value> =
                messages.iter().map(|message| json!({ "code": code, "message": message })).collect();
            let envelope = Envelope { success: false, errors: &errors, messages: [], result: Value::Null };
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            Reply::json(&envelope).with_status(status)
        }
    }
}

#[derive(Serialize)]
struct Envelope<'a> {
    success: bool,
    errors: &'a [Value],
    messages: [&'a str; 0],
    result: Value,
}
