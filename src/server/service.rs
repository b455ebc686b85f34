//! What stands in front of the routes: the way of every request, in order.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::Method;
use axum::response::{IntoResponse, Response};
use axum::{BoxError, Router};
use tower_service::Service;

use super::auth::Auth;
use super::error::{Style, render};
use super::{Api, health};

/// The whole server as a service: login, then the router, then the errors in the client's format.
#[derive(Clone)]
pub struct Front {
    pub auth: Auth,
    pub router: Router,
    pub api: Arc<Api>,
}

impl Front {
    async fn answer(mut self, request: Request) -> Response {
        let style = Style::wanted_by(request.headers());
        let is_head = request.method() == Method::HEAD;
        // Before the body is read, and before the path is looked at.
        let login = match request.uri().path() {
            health::PATH => Ok(()),
            _ => self.auth.check(request.headers()).await,
        };
        let response = match login {
            Ok(()) => self.router.call(request).await.unwrap_or_else(|never| match never {}),
            Err(refusal) => refusal.into_response(),
        };
        self.api.counters.answered(response.status());
        render(response, style, is_head)
    }
}

impl<B> Service<axum::http::Request<B>> for Front
where
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: axum::http::Request<B>) -> Self::Future {
        let front = self.clone();
        let request = request.map(Body::new);
        Box::pin(async move { Ok(front.answer(request).await) })
    }
}
