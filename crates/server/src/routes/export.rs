//! Exports: everything a filter finds, as lines, sent as it is read.

use app::{Export, Visitor};
use axum::Extension;
use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, Uri, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use model::{Code, Refusal};
use wire::export::Format;

use super::Asking;
use super::lists::{filter, filters};
use crate::charged::in_pieces;
use crate::layers;
use crate::problem::Answer;
use crate::query::Params;
use crate::shares::{Share, Who};
use crate::state::Server;

/// An export that is being sent. It counts as a stream of its caller's, and for the bytes of a page, until it ends.
struct Sending {
    server: Server,
    visitor: Visitor,
    export: Export,
    format: Format,
    /// Read, not sent yet.
    first: Option<String>,
    _shares: [Share; 2],
}

pub(crate) async fn submissions(
    asking: Asking,
    Extension(who): Extension<Who>,
    uri: Uri,
) -> Answer<Response> {
    let settled = ["after", "limit"];
    let known: Vec<_> = filters().filter(|name| !settled.contains(name)).chain(["format"]).collect();
    let params = Params::read(&uri, &known)?;
    let format: Format = params.parse("format")?.unwrap_or_default();
    let server = asking.server.clone();
    let shares = [server.streams.take(&who, 1)?, layers::page(&server, &who).await?];
    let mut export = asking.export(filter(&params)?);
    // The first look is made before the answer begins, so that what is wrong is told as a problem.
    let mut first = format.head().to_owned();
    add(format, export.next().await?, &mut first);
    let sending = Sending {
        server,
        visitor: asking.visitor().clone(),
        export,
        format,
        first: Some(first),
        _shares: shares,
    };
    let lines = stream::try_unfold(sending, |mut sending| async move {
        Ok::<_, Refusal>(sending.next().await?.map(|lines| (Bytes::from(lines), sending)))
    });
    let name = match format {
        Format::JsonLines => "attachment; filename=\"submissions.jsonl\"",
        Format::Csv => "attachment; filename=\"submissions.csv\"",
    };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(format.media_type())),
        (header::CONTENT_DISPOSITION, HeaderValue::from_static(name)),
    ];
    Ok(in_pieces((headers, Body::from_stream(lines)).into_response(), None))
}

impl Sending {
    /// Returns the next lines. An error breaks the answer off, so that nobody takes a part for the whole: when the server
    /// stops, the caller's token ends, or the store cannot be read.
    async fn next(&mut self) -> Result<Option<String>, Refusal> {
        if let Some(first) = self.first.take().filter(|first| !first.is_empty()) {
            return Ok(Some(first));
        }
        loop {
            if self.server.is_stopping() || !self.server.access.holds(&self.visitor).await {
                return Err(Refusal::new(Code::Unavailable, "the export was broken off; ask again"));
            }
            let mut lines = String::new();
            let page = self.export.next().await?;
            let is_over = page.is_none();
            add(self.format, page, &mut lines);
            if is_over || !lines.is_empty() {
                return Ok(Some(lines).filter(|_| !is_over));
            }
        }
    }
}

fn add(format: Format, page: Option<Vec<wire::api::SubmissionView>>, lines: &mut String) {
    page.iter().flatten().for_each(|submission| format.add(submission, lines));
}
