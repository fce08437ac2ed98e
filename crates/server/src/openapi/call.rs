//! One call of the API, as it is written down beside its neighbours. What holds for every call (who may, what it counts
//! against, the names in its address) comes from the table of routes.

use axum::http::Method;
use model::Code;

use super::shape::{Shape, refer};
use super::tree::{Tree, object};
use super::words::{self, Piece};

pub(super) const JSON: &str = "application/json";

pub(super) struct Call {
    pub(super) method: Method,
    /// The path as in the table of routes.
    pub(super) path: &'static str,
    /// The name of the call in generated clients.
    pub(super) name: &'static str,
    pub(super) summary: &'static str,
    pub(super) details: &'static str,
    pub(super) parameters: Vec<Tree>,
    pub(super) body: Option<Tree>,
    /// By status.
    pub(super) answers: Vec<(u16, Tree)>,
    /// The codes the call refuses with, besides those of every call.
    pub(super) codes: Vec<Code>,
}

pub(super) fn get(path: &'static str, name: &'static str, summary: &'static str) -> Call {
    call(Method::GET, path, name, summary)
}

pub(super) fn put(path: &'static str, name: &'static str, summary: &'static str) -> Call {
    call(Method::PUT, path, name, summary)
}

pub(super) fn post(path: &'static str, name: &'static str, summary: &'static str) -> Call {
    call(Method::POST, path, name, summary)
}

pub(super) fn delete(path: &'static str, name: &'static str, summary: &'static str) -> Call {
    call(Method::DELETE, path, name, summary)
}

fn call(method: Method, path: &'static str, name: &'static str, summary: &'static str) -> Call {
    let (parameters, answers, codes) = (Vec::new(), Vec::new(), Vec::new());
    Call { method, path, name, summary, details: "", parameters, body: None, answers, codes }
}

/// Something that is named in the address, the query or a header.
pub(super) fn parameter(place: &str, name: &str, piece: Piece, sentence: &str) -> Tree {
    let parameter = object([("name", name.into()), ("in", place.into())]);
    let parameter = if place == "path" { parameter.with("required", true) } else { parameter };
    words::about(parameter, sentence).with("schema", piece)
}

/// A header of an answer.
pub(super) fn header(piece: Piece, sentence: &str) -> Tree {
    words::about(object([]), sentence).with("schema", piece)
}

impl Call {
    pub(super) fn details(mut self, sentences: &'static str) -> Self {
        self.details = sentences;
        self
    }

    pub(super) fn query(mut self, name: &str, piece: Piece, sentence: &str) -> Self {
        self.parameters.push(parameter("query", name, piece, sentence));
        self
    }

    /// A parameter that must be given.
    pub(super) fn must(mut self, name: &str, piece: Piece, sentence: &str) -> Self {
        self.parameters.push(parameter("query", name, piece, sentence).with("required", true));
        self
    }

    pub(super) fn header(mut self, name: &str, piece: Piece, sentence: &str) -> Self {
        self.parameters.push(parameter("header", name, piece, sentence));
        self
    }

    /// `label.NAME=VALUE`, for any names: an object whose members are parameters themselves.
    pub(super) fn label_filters(mut self) -> Self {
        let sentence = "`label.NAME=VALUE`, for each label that must have this value.";
        let names = words::spelled(r"^label\..");
        let piece = words::map(words::wanted()).with("propertyNames", names);
        let labels = parameter("query", "labels", piece, sentence);
        self.parameters.push(labels.with("style", "form").with("explode", true));
        self
    }

    pub(super) fn pages(self, after: Piece) -> Self {
        self.query("limit", words::limit(), "At most so many.").query(
            "after",
            after,
            "The `next` of the page before.",
        )
    }

    /// An answer that can wait for a signed checkpoint.
    pub(super) fn proof(self) -> Self {
        let sentence = "Answer once a signed checkpoint covers what was done.";
        self.query("wait", words::one_of(&["proof"]), sentence).refuses(&[Code::NoLog, Code::NotProven])
    }

    pub(super) fn once(self) -> Self {
        let sentence =
            "The same request with the same key is done once and gets the same answer, for 24 hours.";
        self.header("Idempotency-Key", words::spelled("^[!-~]{1,255}$"), sentence)
            .refuses(&[Code::IdempotencyMismatch])
    }

    pub(super) fn if_match(self) -> Self {
        let sentence = "Only if the submission is at this revision: its ETag, or `*`.";
        let revision = words::spelled(r#"^(\*|"[0-9]{1,18}")$"#);
        self.header("If-Match", revision, sentence).refuses(&[Code::RevisionMismatch])
    }

    pub(super) fn takes<T: Shape>(self) -> Self {
        self.takes_as(&[JSON], refer::<T>())
    }

    /// A body that may be left out.
    pub(super) fn may_take<T: Shape>(mut self) -> Self {
        self = self.takes_as(&[JSON], refer::<T>());
        self.body = self.body.map(|body| body.with("required", false));
        self
    }

    /// A body in one of these forms.
    pub(super) fn takes_as(mut self, media: &[&str], piece: Piece) -> Self {
        let body = self.body.get_or_insert_with(|| object([("required", true.into())]));
        add_content(body, media, Some(&piece));
        self
    }

    /// An answer that is JSON.
    pub(super) fn gives<T: Shape>(self, status: u16, sentence: &str) -> Self {
        self.gives_as(status, &[JSON], Some(refer::<T>()), sentence)
    }

    /// An answer in one of these forms; without a piece, bytes.
    pub(super) fn gives_as(
        mut self,
        status: u16,
        media: &[&str],
        piece: Option<Piece>,
        sentence: &str,
    ) -> Self {
        let index = self.answers.iter().position(|(known, _)| *known == status).unwrap_or(self.answers.len());
        if index == self.answers.len() {
            self.answers.push((status, object([("description", sentence.into())])));
        }
        add_content(&mut self.answers[index].1, media, piece.as_ref());
        self
    }

    /// A header that every answer so far has.
    pub(super) fn with(mut self, name: &str, piece: Piece, sentence: &str) -> Self {
        for (_, answer) in &mut self.answers {
            *answer.enter("headers").enter(name) = header(piece.clone(), sentence);
        }
        self
    }

    pub(super) fn etag(self) -> Self {
        self.with("ETag", words::spelled("^\"[0-9]+\"$"), "The submission's revision.")
    }

    pub(super) fn location(self) -> Self {
        self.with("Location", words::spelled("^/v1/"), "Where it is from now on.")
    }

    pub(super) fn refuses(mut self, codes: &[Code]) -> Self {
        self.codes.extend(codes);
        self
    }
}

/// Says in which forms a body or an answer comes.
pub(super) fn add_content(whole: &mut Tree, media: &[&str], piece: Option<&Piece>) {
    for kind in media {
        let form = piece.map_or_else(|| object([]), |piece| object([("schema", piece.clone())]));
        *whole.enter("content").enter(kind) = form;
    }
}
