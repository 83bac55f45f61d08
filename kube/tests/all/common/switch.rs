//! A server in this process whose storage can be replaced, and whose lists can be made slow.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http::{Request, Response};
use http_body_util::BodyExt as _;
use hyper::body::{Body, Bytes, Frame};
use kube::Client;
use kube::client::Body as KubeBody;
use seatrial_sim::apiserver::{Fault, Options, Point, Server, Trouble};
use seatrial_sim::tower::{Face, Service, Stream};
use tokio::time::{Sleep, sleep};
use tower::ServiceExt as _;

/// How a list is sent: in how many pieces, and the wait before each.
type Pace = Option<(usize, Duration)>;

#[derive(Clone)]
pub(crate) struct Switch {
    face: Arc<Mutex<Face>>,
    pace: Arc<Mutex<Pace>>,
    /// The paths of all GET requests.
    asked: Arc<Mutex<Vec<String>>>,
}

impl Switch {
    pub(crate) fn new() -> Self {
        let face = Face::new(Server::new(&Options::default()));
        Self { face: Arc::new(Mutex::new(face)), pace: Arc::default(), asked: Arc::default() }
    }

    pub(crate) fn client(&self) -> Client {
        let Self { face, pace, asked } = self.clone();
        let service = tower::service_fn(move |request: Request<KubeBody>| {
            if request.method() == "GET" {
                asked.lock().unwrap().push(request.uri().path().to_owned());
            }
            let service = face.lock().unwrap().service();
            answer(service, request, *pace.lock().unwrap())
        });
        Client::new(service, "default")
    }

    pub(crate) fn with<R>(&self, action: impl FnOnce(&mut Server) -> R) -> R {
        self.face.lock().unwrap().with(action)
    }

    /// Counts the lists and watches of a resource.
    pub(crate) fn requests(&self, resource: &str) -> usize {
        self.asked.lock().unwrap().iter().filter(|path| path.ends_with(resource)).count()
    }

    /// From now on a list comes in this number of pieces, with this wait before each.
    pub(crate) fn trickle(&self, pieces: usize, wait: Duration) {
        *self.pace.lock().unwrap() = Some((pieces, wait));
    }

    /// A copy of the storage.
    pub(crate) fn copy(&self) -> Server {
        self.with(|server| server.clone())
    }

    /// The server restarts with that storage, in which the versions of open watches have expired.
    pub(crate) async fn restore(&self, mut copy: Server) {
        let at = Point::of("GET", "configmaps");
        let fault = |what| Fault { at: at.clone(), after: 0, times: 1, what };
        copy.inject(fault(Trouble::Refuse { status: 410, retry_after: None }));
        let old = std::mem::replace(&mut *self.face.lock().unwrap(), Face::new(copy));
        old.with(|server| server.inject(fault(Trouble::Restart)));
        let last = Client::new(old.service(), "default");
        let _restarts = super::small::maps(&last).get_opt("any").await;
        old.wake();
    }
}

async fn answer(
    service: Service,
    request: Request<KubeBody>,
    pace: Pace,
) -> io::Result<Response<Paced>> {
    let is_watch = request.uri().query().is_some_and(|query| query.contains("watch=true"));
    let is_list = request.method() == "GET" && !is_watch;
    let (head, body) = service.oneshot(request).await?.into_parts();
    let Some((pieces, wait)) = pace.filter(|_| is_list) else {
        return Ok(Response::from_parts(head, Paced::Whole(body)));
    };
    let bytes = body.collect().await.map_err(io::Error::other)?.to_bytes();
    let size = bytes.len().div_ceil(pieces);
    let pieces = bytes.chunks(size).map(Bytes::copy_from_slice).collect();
    Ok(Response::from_parts(head, Paced::Pieces { pieces, wait, pause: None }))
}

/// The body of an answer.
enum Paced {
    Whole(Stream),
    Pieces { pieces: VecDeque<Bytes>, wait: Duration, pause: Option<Pin<Box<Sleep>>> },
}

impl Body for Paced {
    type Data = Bytes;
    type Error = tower::BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, tower::BoxError>>> {
        match &mut *self {
            Self::Whole(body) => {
                Pin::new(body).poll_frame(context).map(|it| it.map(|it| it.map_err(Into::into)))
            }
            Self::Pieces { pieces, wait, pause } => {
                if pieces.is_empty() {
                    return Poll::Ready(None);
                }
                let timer = pause.get_or_insert_with(|| Box::pin(sleep(*wait)));
                ready!(timer.as_mut().poll(context));
                *pause = None;
                Poll::Ready(pieces.pop_front().map(|piece| Ok(Frame::data(piece))))
            }
        }
    }
}
