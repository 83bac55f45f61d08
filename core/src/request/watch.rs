//! A watch: the events of a server, one by one.

use std::fmt;
use std::time::Duration;

use serde::de::DeserializeOwned;

use crate::cancel::CancelToken;
use crate::runtime::Runtime;

use super::client::Limits;
use super::event::{Line, WatchEvent};
use super::frames::Frames;
use super::json::{JsonError, read};
use super::patience::Patience;
use super::reply::foreign;
use super::status::{Cause, Details, Reason, Status};
use super::transport::{Answer, Chunks, TransportKind};
use super::veil::Veil;

/// The events of a server. It ends at once with its token; dropping it also ends it.
pub struct Watch<R: Runtime> {
    chunks: Option<Box<dyn Chunks>>,
    frames: Frames,
    token: CancelToken<R>,
    patience: Patience,
    /// The content type, if it is not JSON.
    foreign: Option<String>,
    veil: Veil,
}

impl<R: Runtime> Watch<R> {
    pub(super) fn new(answer: Answer, token: &CancelToken<R>, limits: Limits, veil: Veil) -> Self {
        let (frames, patience) = (Frames::new(limits.event), Patience::new(limits.idle));
        let foreign = foreign(&answer.headers).map(str::to_owned);
        Self { chunks: Some(answer.body), frames, token: token.clone(), patience, foreign, veil }
    }

    /// A watch that has ended.
    pub(super) fn ended(token: &CancelToken<R>) -> Self {
        Self {
            chunks: None,
            frames: Frames::default(),
            token: token.clone(),
            patience: Patience::new(Duration::ZERO),
            foreign: None,
            veil: Veil::default(),
        }
    }

    /// Tells whether the watch has ended.
    #[must_use]
    pub const fn is_ended(&self) -> bool {
        self.chunks.is_none()
    }

    /// Returns the capacity of its buffer.
    #[cfg(all(test, feature = "http"))]
    pub(super) fn held(&self) -> usize {
        self.frames.held()
    }

    /// Waits for the next event; `None` once the watch has ended, for any reason. A future that is
    /// dropped loses no event.
    pub async fn next<O: DeserializeOwned>(&mut self) -> Option<WatchEvent<O>> {
        loop {
            if self.token.is_cancelled() {
                self.chunks = None;
            }
            let chunks = self.chunks.as_mut()?;
            let failed = match self.frames.take() {
                Ok(Some(line)) => match event(line, &self.veil) {
                    Ok(event) => {
                        if matches!(event, WatchEvent::Error(_)) {
                            self.chunks = None;
                        }
                        return Some(event);
                    }
                    Err(why) => why.to_string(),
                },
                Err(too_long) => too_long.to_string(),
                Ok(None) => match self.patience.next_chunk(&self.token, chunks).await {
                    Ok(Some(Ok(bytes))) => {
                        self.frames.push(&bytes);
                        continue;
                    }
                    Ok(None) => return self.last(),
                    Err(_) => {
                        self.chunks = None;
                        continue;
                    }
                    Ok(Some(Err(failure))) => match failure.kind() {
                        TransportKind::Eof | TransportKind::Reset | TransportKind::Timeout => {
                            self.chunks = None;
                            return None;
                        }
                        _ => failure.to_string(),
                    },
                },
            };
            self.chunks = None;
            return Some(self.undecodable(&failed));
        }
    }

    /// Handles the rest after the end of the stream. A last line without a line end may have been
    /// cut off; then the stream simply ends. A line that makes no sense is reported
    /// (`election:RQ-103`).
    fn last<O: DeserializeOwned>(&mut self) -> Option<WatchEvent<O>> {
        self.chunks = None;
        let frames = std::mem::take(&mut self.frames);
        match event(frames.rest()?, &self.veil) {
            Ok(event) => Some(event),
            Err(why) if why.is_cut() => None,
            Err(why) => Some(self.undecodable(&why.to_string())),
        }
    }

    /// Makes the event for bytes that cannot be decoded, so that they are not dropped silently.
    fn undecodable<O>(&self, why: &str) -> WatchEvent<O> {
        let why = self.veil.text(why);
        WatchEvent::Error(Box::new(undecodable(&why, self.foreign.as_deref())))
    }
}

/// Reads one line. Secrets are removed from an error of the server, which may echo them.
fn event<O: DeserializeOwned>(line: &[u8], veil: &Veil) -> Result<WatchEvent<O>, JsonError> {
    Ok(match read::<Line<O>>(line)?.0 {
        WatchEvent::Error(status) => WatchEvent::Error(Box::new(veil.status(*status))),
        event => event,
    })
}

fn undecodable(why: &str, foreign: Option<&str>) -> Status {
    let kind = foreign.map_or_else(String::new, |kind| format!(" (it is {kind:.80})"));
    let message = format!("unable to decode an event from the watch stream: {why}{kind}");
    let causes = ["UnexpectedServerResponse", "ClientWatchDecoding"].map(|reason| Cause {
        reason: reason.to_owned(),
        message: message.clone(),
        field: String::new(),
    });
    Status {
        status: "Failure".to_owned(),
        details: Details { causes: causes.to_vec(), ..Details::default() },
        reason: Reason::InternalError,
        code: 500,
        message,
    }
}

impl<R: Runtime> fmt::Debug for Watch<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("ended", &self.chunks.is_none()).finish_non_exhaustive()
    }
}
