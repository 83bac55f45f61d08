//! For clients of the years before http 1.0, such as kube 0.78 to 0.88: the same service in their types.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use ::http::{HeaderMap, HeaderValue, Request, Response, header::HeaderName};
use bytes::Bytes;
use http_body::{Body, Frame};
use http_body_04::Body as OldBody;
use tower_service::Service;

/// A service, or a body, in the types of http 0.2 and http-body 0.4 if what is within has those of 1.0; and a
/// body the other way round. With kube 0.87: `kube::Client::new(Http02(connection), "default")`.
#[derive(Clone, Debug)]
pub struct Http02<T>(pub T);

/// The future of an answer in the older types.
pub type OldReply<B, E> =
    Pin<Box<dyn Future<Output = Result<http_02::Response<Http02<B>>, E>> + Send>>;

impl<S, D, B> Service<http_02::Request<D>> for Http02<S>
where
    S: Service<Request<Http02<Pin<Box<D>>>>, Response = Response<B>>,
    S::Future: Send + 'static,
    S::Error: 'static,
    B: 'static,
{
    type Response = http_02::Response<Http02<B>>;
    type Error = S::Error;
    type Future = OldReply<B, S::Error>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, request: http_02::Request<D>) -> Self::Future {
        let (old, body) = request.into_parts();
        let mut request = Request::new(Http02(Box::pin(body)));
        // Both versions have the same grammar: what one has read, the other reads too.
        if let Ok(method) = old.method.as_str().parse() {
            *request.method_mut() = method;
        }
        if let Ok(uri) = old.uri.to_string().parse() {
            *request.uri_mut() = uri;
        }
        *request.headers_mut() = newer(&old.headers);
        let reply = self.0.call(request);
        Box::pin(async move {
            let (new, body) = reply.await?.into_parts();
            let mut response = http_02::Response::new(Http02(body));
            if let Ok(status) = http_02::StatusCode::from_u16(new.status.as_u16()) {
                *response.status_mut() = status;
            }
            for (name, value) in &new.headers {
                let name = http_02::header::HeaderName::from_bytes(name.as_ref());
                let value = http_02::HeaderValue::from_bytes(value.as_bytes());
                if let (Ok(name), Ok(value)) = (name, value) {
                    response.headers_mut().append(name, value);
                }
            }
            Ok(response)
        })
    }
}

fn newer(old: &http_02::HeaderMap) -> HeaderMap {
    let header = |(name, value): (&http_02::header::HeaderName, &http_02::HeaderValue)| {
        let name = HeaderName::from_bytes(name.as_ref()).ok()?;
        Some((name, HeaderValue::from_bytes(value.as_bytes()).ok()?))
    };
    let mut new = HeaderMap::new();
    for (name, value) in old.iter().filter_map(header) {
        new.append(name, value);
    }
    new
}

/// The body of a request, on its way to the server.
impl<D: OldBody<Data = Bytes> + Unpin> Body for Http02<D> {
    type Data = Bytes;
    type Error = D::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, D::Error>>> {
        Pin::new(&mut self.0).poll_data(cx).map(|data| data.map(|it| it.map(Frame::data)))
    }
}

/// The body of an answer. No answer of the server has trailers.
impl<B: Body<Data = Bytes> + Unpin> OldBody for Http02<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_data(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, B::Error>>> {
        loop {
            return match Pin::new(&mut self.0).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) => Poll::Ready(Some(Ok(data))),
                    Err(_) => continue,
                },
                Poll::Ready(Some(Err(error))) => Poll::Ready(Some(Err(error))),
                Poll::Ready(None) => Poll::Ready(None),
                Poll::Pending => Poll::Pending,
            };
        }
    }

    fn poll_trailers(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Result<Option<http_02::HeaderMap>, B::Error>> {
        Poll::Ready(Ok(None))
    }
}
