//! Public pages: who may come how often, whose forms are taken, and what everybody is told.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use app::public::{PublicPages, PublicPipeline, told};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use console::Ask;
use console::public::{Open, Turn};
use engine::clock;
use model::{Code, Name, Refusal};

use crate::layers::Peer;
use crate::pages;
use crate::problem::Refused;
use crate::rates::{self, Rates};
use crate::state::Server;

const MINUTE: Duration = Duration::from_secs(60);
const NOT_INDEXED: (&str, HeaderValue) = ("x-robots-tag", HeaderValue::from_static("noindex, nofollow"));

/// The submissions that the rates of each public pipeline leave.
#[derive(Debug, Default)]
pub(crate) struct Turns(BTreeMap<Name, Of>);

#[derive(Debug)]
struct Of {
    each: Rates<IpAddr>,
    /// Of everybody together.
    all: Rates<()>,
}

impl Turns {
    pub(crate) fn of(pages: &PublicPages) -> Turns {
        let of = |public: &Arc<PublicPipeline>| {
            let (each, all) = (public.rate.max(1), public.rate_all.max(1));
            let of = Of { each: Rates::every(MINUTE / each, each), all: Rates::every(MINUTE / all, all) };
            (public.name.clone(), of)
        };
        Turns(pages.all().map(of).collect())
    }

    /// Takes a submission for an address, or says when to come again.
    fn take(&self, pipeline: &str, address: IpAddr) -> Result<(), Refusal> {
        let Some(of) = self.0.get(pipeline) else { return Ok(()) };
        let now = clock::instant();
        of.each.take(rates::caller(address), now)?;
        of.all.take((), now).map_err(|refusal| {
            let seconds = refusal.details.get("retry_after_s").cloned().unwrap_or_default();
            let message = format!("many people submit at present; try again in {seconds} seconds");
            Refusal::new(Code::RateLimited, message).with("retry_after_s", seconds)
        })
    }
}

/// Opens the pages of a pipeline that is public. Of one that is not, nothing is said: not even that there is one.
pub(crate) fn open(server: &Server, ask: Ask, request: &Request) -> Result<Open, Refusal> {
    let pages = &server.options.public;
    let public = pages.get(ask.part("pipeline")).ok_or_else(nothing)?.clone();
    // One that the settings name and nobody has applied is not there yet.
    let app = public.app(server.engine.clone());
    app.check_submits_to(&public.name).map_err(|_| nothing())?;
    // Inside of the process there is no address.
    let address =
        request.extensions().get().map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |Peer(address)| *address);
    let (server, name) = (server.clone(), public.name.clone());
    let turn = Turn(Arc::new(move || {
        let taken = server.public.take(&name, address);
        taken.inspect_err(|_| server.metrics.http.limited_by_address.add(1))
    }));
    Ok(Open { app, ask, public, pages: pages.clone(), turn })
}

fn nothing() -> Refusal {
    Refusal::new(Code::UnknownRoute, "there is nothing at this address")
}

/// Stands before the door of a public page: refuses forms of other sites, shows refusals as far as everybody may be told, and
/// keeps the page out of indexes.
pub(crate) async fn welcome(mut request: Request, next: Next) -> Response {
    let is_page = pages::is_browser(request.headers());
    // Nothing that a browser keeps counts here, and a token neither: everybody is the same.
    let foreign = !is_taken(request.method(), request.headers());
    request.headers_mut().remove(header::AUTHORIZATION);
    request.headers_mut().remove(header::COOKIE);
    let mut response = match foreign {
        true => {
            let message = "this form was not sent from its page here; open the page and send it again";
            Refused(Refusal::new(Code::ForbiddenHost, message)).into_response()
        }
        false => next.run(request).await,
    };
    if let Some(refusal) = response.extensions_mut().remove::<Refusal>() {
        let retry = response.headers().get(header::RETRY_AFTER).cloned();
        let number = response.status().as_u16();
        response = match is_page {
            true => pages::rendered(console::public::refused(refusal, number), None),
            false => Refused(told(refusal)).with_status(number),
        };
        if let Some(retry) = retry {
            response.headers_mut().insert(header::RETRY_AFTER, retry);
        }
    }
    response.headers_mut().insert(NOT_INDEXED.0, NOT_INDEXED.1);
    response
}

/// Tells whether a request is taken: a form that comes from its own page, or a document of a program. A browser says where a
/// request comes from, and sends no JSON to another site without asking first.
fn is_taken(method: &Method, headers: &HeaderMap) -> bool {
    let says_nothing = !headers.contains_key(header::ORIGIN) && !headers.contains_key("sec-fetch-site");
    let is_json = headers
        .get(header::CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok())
        .is_some_and(|kind| kind.to_ascii_lowercase().starts_with("application/json"));
    console::is_from_here(method, headers) || (says_nothing && is_json)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_of_each_address_and_of_all() {
        let public = PublicPipeline { name: "p".into(), rate: 2, rate_all: 5, ..PublicPipeline::default() };
        let turns = Turns::of(&PublicPages::new([public]));
        let take = |last: u8| turns.take("p", IpAddr::from([10, 0, 0, last]));
        assert_eq!((take(1).is_ok(), take(1).is_ok(), take(1).is_ok()), (true, true, false));
        assert!(take(2).is_ok() && take(3).is_ok() && take(4).is_ok());
        let refusal = take(5).unwrap_err();
        assert!(
            refusal.message.contains("many people") && refusal.details["retry_after_s"].as_u64() > Some(0)
        );
        assert!(turns.take("other", IpAddr::from([10, 0, 0, 1])).is_ok());
    }

    #[test]
    fn forms_are_taken_from_here_and_documents_from_programs() {
        let taken = |pairs: &[(&'static str, &str)]| {
            let headers = pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
            is_taken(&Method::POST, &headers.collect())
        };
        let (host, form, json) = (
            ("host", "m.example"),
            ("content-type", "application/x-www-form-urlencoded"),
            ("content-type", "application/json; charset=utf-8"),
        );
        assert!(taken(&[host, form, ("origin", "https://m.example")]));
        assert!(taken(&[host, json]));
        for pairs in [
            &[host, form][..],
            &[host, form, ("origin", "https://evil.example")],
            &[host, json, ("origin", "https://evil.example")],
            &[host, json, ("sec-fetch-site", "cross-site")],
            &[host, ("content-type", "text/plain")],
        ] {
            assert!(!taken(pairs), "{pairs:?}");
        }
    }
}
