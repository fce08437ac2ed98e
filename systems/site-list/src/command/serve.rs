//! `milepost site-list serve`: a distribution for browsers, from a folder alone.

use std::convert::Infallible;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use clap::Args;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use system::{Failed, Reply, Shown, Stop};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::distribute::UPDATE;
use crate::published::built_file;

/// The connections at a time; more wait.
const CONNECTIONS_MAX: usize = 1_000;
const HEAD_WITHIN: Duration = Duration::from_secs(10);
/// The longest that one connection is kept, however slow its reader is.
const CONNECTION_WITHIN: Duration = Duration::from_secs(60);

/// Serve a distribution to browsers
///
/// Answers GET of `/update.json`, `/DIGEST.bin` and `/DIGEST.json` out of a folder that `build` wrote, and asks nothing of anybody
/// else. What has not changed since a browser's last look is answered with 304. Runs until it is stopped.
#[derive(Debug, Args)]
pub(super) struct ServeArgs {
    /// The folder of the distribution
    folder: PathBuf,
    /// The address to listen on; port 0 takes a free one
    #[arg(long, default_value = "127.0.0.1:8081", value_name = "ADDRESS")]
    listen: SocketAddr,
}

pub(super) async fn serve(args: ServeArgs) -> Result<Shown, Failed> {
    if !args.folder.join(UPDATE).is_file() {
        let message = format!("{} has no {UPDATE}", args.folder.display());
        let next = "write a distribution there with `milepost site-list build`";
        return Err(Stop::usage(message).next(next).into());
    }
    let listener = TcpListener::bind(args.listen)
        .await
        .map_err(|error| Stop::usage(format!("cannot listen on {}: {error}", args.listen)))?;
    // A script may wait for this line; where nobody reads it, nothing is lost.
    drop(writeln!(std::io::stderr(), "listening on http://{}", listener.local_addr()?));
    let folder: Arc<Path> = args.folder.into();
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let place = places.clone().acquire_owned().await?;
        // A connection that was gone before it was taken is nobody's loss.
        let Ok((stream, _)) = listener.accept().await else { continue };
        let folder = folder.clone();
        tokio::spawn(async move {
            let service = service_fn(move |request| {
                let answer = answer(&folder, &request);
                async move { Ok::<_, Infallible>(answer) }
            });
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD_WITHIN)
                .serve_connection(TokioIo::new(stream), service);
            // Whoever goes away in the middle asks again.
            drop(tokio::time::timeout(CONNECTION_WITHIN, connection).await);
            drop(place);
        });
    }
}

fn answer(folder: &Path, request: &Request<Incoming>) -> Response<Full<Bytes>> {
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    let name = request.uri().path().trim_start_matches('/');
    let reply = match is_read {
        false => Reply::text("only GET is answered here\n").with_status(StatusCode::METHOD_NOT_ALLOWED),
        true => built_file(folder, name, request.headers()).unwrap_or_else(|refusal| {
            Reply::text(format!("{}\n", refusal.message)).with_status(StatusCode::NOT_FOUND)
        }),
    };
    let mut response = Response::new(Full::new(reply.body));
    (*response.status_mut(), *response.headers_mut()) = (reply.status, reply.headers);
    response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}
