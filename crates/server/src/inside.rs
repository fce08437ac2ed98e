//! The way of a client inside of the server's own process: into the router, without a socket and without a token.

use app::Visitor;
use async_trait::async_trait;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::Request;
use client::transport::{self, Response, Transport};
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;
use worker::Error;

const NAME: &str = "this process";

/// The API's router, entered by one visitor.
#[derive(Debug, Clone)]
pub(crate) struct Inside {
    api: Router,
    visitor: Visitor,
}

impl Inside {
    pub(crate) fn new(api: Router, visitor: Visitor) -> Inside {
        Inside { api, visitor }
    }

    async fn answer(&self, request: Request<Body>, bytes_max: usize) -> Result<Response, Error> {
        let service = TowerToHyperService::new(self.api.clone());
        // A router has no errors of its own.
        let answered = service.call(request).await.unwrap_or_else(|never| match never {});
        let (head, body) = answered.into_parts();
        let body = to_bytes(body, bytes_max).await.map_err(|_| Error::TooLarge { bytes_max })?;
        Ok(Response { status: head.status, headers: head.headers, body: body.into() })
    }
}

#[async_trait]
impl Transport for Inside {
    fn name(&self) -> String {
        NAME.to_owned()
    }

    async fn send(&self, request: transport::Request) -> Result<Response, Error> {
        let transport::Request { method, url, headers, body, within, bytes_max } = request;
        let path =
            url.query().map_or_else(|| url.path().to_owned(), |query| format!("{}?{query}", url.path()));
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .body(body.map_or_else(Body::empty, Body::from))
            .map_err(|error| Error::Setup(format!("this is no request: {error}")))?;
        *request.headers_mut() = headers;
        request.extensions_mut().insert(self.visitor.clone());
        let unreachable =
            |_| Error::Unreachable { server: NAME.to_owned(), reason: "no answer in time".to_owned() };
        tokio::time::timeout(within, self.answer(request, bytes_max)).await.map_err(unreachable)?
    }
}
