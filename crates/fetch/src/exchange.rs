//! One request and its answer over a connection of its own.

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1;
use hyper::header::{
    ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, HOST, HeaderMap, HeaderValue, TRANSFER_ENCODING,
};
use hyper::{Method, Request, StatusCode, body::Incoming};
use hyper_util::rt::TokioIo;

use crate::connect::Stream;
use crate::error::Error;
use crate::policy::Policy;
use crate::target::Target;

/// hyper takes no smaller buffer.
const BUFFER_MIN: usize = 8_192;

#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) method: Method,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
    pub(crate) is_cut: bool,
}

pub(crate) async fn exchange(
    stream: Box<dyn Stream>,
    target: &Target,
    asked: &Asked,
    policy: &Policy,
) -> Result<Answer, Error> {
    let request = request(target, asked)?;
    let (mut sender, connection) = http1::Builder::new()
        .max_headers(policy.headers_max)
        .max_header_size(policy.head_bytes_max)
        .max_buf_size(policy.head_bytes_max.max(BUFFER_MIN))
        .handshake(TokioIo::new(stream))
        .await
        .map_err(|error| broken(&error))?;
    let answered = async {
        let response = sender.send_request(request).await.map_err(|error| broken(&error))?;
        let (head, body) = response.into_parts();
        let mut taken = Vec::new();
        let reading = read(body, policy.body_bytes_max, &mut taken);
        let is_cut = match policy.body_within {
            None => reading.await?,
            Some(within) => !matches!(tokio::time::timeout(within, reading).await, Ok(Ok(false))),
        };
        Ok(Answer { status: head.status, headers: head.headers, body: taken, is_cut })
    };
    // The connection is driven here and not in a task of its own: it ends with this request, whatever happens.
    let (mut answered, mut connection) = (std::pin::pin!(answered), std::pin::pin!(connection));
    tokio::select! {
        biased;
        answer = &mut answered => answer,
        ended = &mut connection => match ended {
            // What was read before the end may be all there is to read.
            Ok(()) => answered.await,
            Err(error) => match answered.await {
                Ok(answer) => Ok(answer),
                Err(_) => Err(broken(&error)),
            },
        },
    }
}

fn request(target: &Target, asked: &Asked) -> Result<Request<Full<Bytes>>, Error> {
    let unfit = |_| Error::InvalidUrl("it does not fit a request");
    let mut request = Request::new(Full::new(asked.body.clone()));
    *request.method_mut() = asked.method.clone();
    *request.uri_mut() = target.path_and_query().parse().map_err(|_| unfit(()))?;
    let headers = request.headers_mut();
    headers.extend(asked.headers.clone());
    // How the request is framed and whom it is for is ours to say.
    for name in [CONTENT_LENGTH, TRANSFER_ENCODING] {
        headers.remove(name);
    }
    headers.insert(HOST, HeaderValue::try_from(target.authority()).map_err(|_| unfit(()))?);
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    Ok(request)
}

/// Up to the cap; true where there was more.
async fn read(mut body: Incoming, bytes_max: usize, read: &mut Vec<u8>) -> Result<bool, Error> {
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| broken(&error))?;
        let Some(data) = frame.data_ref() else { continue };
        let room = bytes_max - read.len();
        read.extend_from_slice(&data[..data.len().min(room)]);
        if data.len() > room {
            return Ok(true);
        }
    }
    Ok(false)
}

fn broken(error: &hyper::Error) -> Error {
    if error.is_parse_too_large() {
        Error::HeadTooLarge
    } else if error.is_parse() {
        Error::Garbled
    } else {
        Error::Closed
    }
}
