//! One request and the head of its answer, over a connection of its own.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::Poll;

use hyper::client::conn::http1;
use hyper::header::{
    ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, EXPECT, HOST, HeaderMap, HeaderName, HeaderValue,
    PROXY_AUTHORIZATION, RANGE, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use hyper::http::response::Parts;
use hyper::{Method, Request, StatusCode, body::Incoming};
use hyper_util::rt::TokioIo;

use crate::connect::Stream;
use crate::driver::{Driver, Sent, broken};
use crate::error::Error;
use crate::policy::Policy;
use crate::target::Target;
use crate::upload::Upload;
use crate::watched::{Budget, Watched};

/// hyper takes no smaller buffer.
const BUFFER_MIN: usize = 8_192;

/// The words of one side to the next: they end where they are heard.
pub(crate) const OF_ONE_HOP: [HeaderName; 8] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    PROXY_AUTHORIZATION,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// One request as it goes to one place.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) method: Method,
    pub(crate) headers: HeaderMap,
    pub(crate) upload: Upload,
}

/// Sends a request and returns the answer's head, with what its body is read from.
pub(crate) async fn exchange(
    stream: Watched<Box<dyn Stream>>,
    target: &Target,
    asked: Asked,
    policy: &Policy,
) -> Result<(Parts, Incoming, Driver), Error> {
    let request = request(target, asked)?;
    let buffer = policy.head_bytes_max.max(BUFFER_MIN);
    // Interim answers are heads, too, and there may be any number of them. A buffer more: the body's beginning may come along.
    let heads = Budget::new(2 * u64::try_from(buffer).unwrap_or(u64::MAX / 2), Error::HeadTooLarge);
    let (mut sender, connection) = http1::Builder::new()
        .max_headers(policy.headers_max)
        .max_header_size(policy.head_bytes_max)
        .max_buf_size(buffer)
        .handshake(TokioIo::new(stream.reading(heads.clone())))
        .await
        .map_err(|error| broken(&error))?;
    let mut sending = pin!(sender.send_request(request));
    let mut driver = Driver::new(connection, sender);
    let answered = poll_fn(|cx| {
        let sending: &mut Pin<_> = &mut sending;
        if let Poll::Ready(answered) = sending.as_mut().poll(cx) {
            return Poll::Ready(answered);
        }
        driver.drive(cx);
        sending.as_mut().poll(cx)
    });
    let answered = answered.await;
    let response = answered.map_err(|error| driver.reason(&error))?;
    heads.lift();
    let (head, body) = response.into_parts();
    check(&head)?;
    Ok((head, body, driver))
}

/// Refuses what two readers could read differently, and a change to another protocol, which nobody asked for.
fn check(head: &Parts) -> Result<(), Error> {
    let mut codings = head.headers.get_all(TRANSFER_ENCODING).iter();
    let is_clear = match (codings.next(), codings.next()) {
        (None, _) => true,
        (Some(coding), None) => {
            coding.as_bytes().eq_ignore_ascii_case(b"chunked") && !head.headers.contains_key(CONTENT_LENGTH)
        }
        (Some(_), Some(_)) => false,
    };
    if !is_clear || head.status == StatusCode::SWITCHING_PROTOCOLS {
        return Err(Error::Garbled);
    }
    Ok(())
}

fn request(target: &Target, asked: Asked) -> Result<Request<Sent>, Error> {
    let unfit = |_| Error::InvalidUrl("it does not fit a request");
    let mut request = Request::new(asked.upload.into_body());
    *request.method_mut() = asked.method;
    *request.uri_mut() = target.path_and_query().parse().map_err(|_| unfit(()))?;
    let headers = request.headers_mut();
    headers.extend(asked.headers);
    headers.insert(HOST, HeaderValue::try_from(target.authority()).map_err(|_| unfit(()))?);
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    Ok(request)
}

/// Leaves out what is ours to say: how a request is framed, whom it is for, and which part it asks for.
pub(crate) fn without_framing(mut headers: HeaderMap) -> HeaderMap {
    for name in OF_ONE_HOP.iter().chain(&[CONTENT_LENGTH, EXPECT, HOST, RANGE]) {
        headers.remove(name);
    }
    headers
}
