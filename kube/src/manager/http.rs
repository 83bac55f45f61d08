//! The address for probes and metrics.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, timeout_at};

use super::group::Flag;

/// How many connections are served at once. One more waits for a place, or ends the oldest.
const CONNECTIONS: usize = 32;

/// How long a connection surely has its place. An answer takes no time, so a connection that is older is
/// silent, and silent ones must not keep a probe waiting.
const YOUNG: Duration = Duration::from_secs(1);

/// How long a connection may last, so that a client that does nothing frees its place.
const LONGEST: Duration = Duration::from_secs(60);

/// A check by its name: it says what is wrong.
pub(super) type Check = (String, Box<dyn Fn() -> Result<(), String> + Send + Sync>);

/// What is told at the address.
pub(super) struct Pages {
    pub(super) checks: Vec<Check>,
    pub(super) metrics: Option<Box<dyn Fn() -> String + Send + Sync>>,
    /// All caches have been listed.
    pub(super) ready: Flag,
}

/// Serves until the future is dropped.
pub(super) async fn serve(listener: TcpListener, pages: Arc<Pages>) {
    let mut connections = JoinSet::new(); // aborted when it drops
    let mut oldest_first = VecDeque::<(AbortHandle, Instant)>::new();
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!("no connection for probes: {error}");
                tokio::time::sleep(Duration::from_secs(1)).await; // perhaps no files are left
                continue;
            }
        };
        let pages = Arc::clone(&pages);
        while connections.try_join_next().is_some() {}
        oldest_first.retain(|(connection, _)| !connection.is_finished());
        while oldest_first.len() == CONNECTIONS
            && let Some((oldest, since)) = oldest_first.front()
        {
            if timeout_at(*since + YOUNG, connections.join_next()).await.is_err() {
                oldest.abort();
                oldest_first.pop_front();
            }
            oldest_first.retain(|(connection, _)| !connection.is_finished());
        }
        let connection = connections.spawn(async move {
            let answer = service_fn(move |request: Request<Incoming>| {
                let answer = pages.answer(request.uri().path());
                async move { Ok::<_, Infallible>(answer) }
            });
            let mut server = http1::Builder::new();
            let connection =
                server.timer(TokioTimer::new()).serve_connection(TokioIo::new(stream), answer);
            let _broken = tokio::time::timeout(LONGEST, connection).await;
        });
        oldest_first.push_back((connection, Instant::now()));
        tokio::task::yield_now().await; // so that this one is served before many others are accepted
    }
}

impl Pages {
    fn answer(&self, path: &str) -> Response<Full<Bytes>> {
        let (status, text) = match (path, &self.metrics) {
            ("/healthz" | "/livez", _) => self.checked(true),
            ("/readyz", _) => self.checked(self.ready.is_set()),
            ("/metrics", Some(metrics)) => (StatusCode::OK, metrics()),
            _ => (StatusCode::NOT_FOUND, "no such page\n".to_owned()),
        };
        let mut response = Response::new(Full::new(Bytes::from(text)));
        *response.status_mut() = status;
        let kind = hyper::header::HeaderValue::from_static("text/plain; charset=utf-8");
        response.headers_mut().insert(hyper::header::CONTENT_TYPE, kind);
        response
    }

    /// Lists the checks, as the reference does.
    fn checked(&self, is_listed: bool) -> (StatusCode, String) {
        let (mut text, mut is_well) = (String::new(), is_listed);
        if !is_listed {
            text.push_str("[-]caches: not all of them have been listed\n");
        }
        for (name, check) in &self.checks {
            let result = check();
            is_well &= result.is_ok();
            let _infallible = match result {
                Ok(()) => writeln!(text, "[+]{name} ok"),
                Err(why) => writeln!(text, "[-]{name}: {why}"),
            };
        }
        text.push_str(if is_well { "ok\n" } else { "failed\n" });
        let status = if is_well { StatusCode::OK } else { StatusCode::INTERNAL_SERVER_ERROR };
        (status, text)
    }
}
