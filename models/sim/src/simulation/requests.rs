//! The way of a request through a run: it arrives, waits for webhooks perhaps, and is answered.

use std::time::Duration;

use super::strike::Blow;
use super::trace::{Asked, Entry, What, Who};
use super::world::Outside;
use crate::apiserver::{Answer, Attempt, Fault, Point, Request, Step, Trouble, WatchId};

/// A request that has arrived.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) process: usize,
    pub(crate) request: Request,
    pub(crate) asked: Asked,
    pub(crate) blow: Blow,
}

impl Outside {
    /// Answers, from the replica that lags if that is allowed.
    pub(super) fn answer(
        &mut self,
        now: Duration,
        pending: &Pending,
        attempt: &mut Attempt,
    ) -> Step {
        self.server.advance(now);
        let Pending { request, asked, blow, .. } = pending;
        if let Some(status) = blow.refused {
            let what = Trouble::Refuse { status, retry_after: None };
            // It strikes what is asked next, which is answered at once.
            self.server.inject(Fault { at: Point::default(), after: 0, times: 1, what });
        }
        let may_lag = asked.takes_any || asked.is_watch;
        match self.lags.get(&self.current).filter(|lag| may_lag && lag.resource == asked.resource) {
            Some(lag) if now < lag.until => {
                self.server.late(lag.revision, |server| server.attempt(now, request, attempt))
            }
            _ => self.server.attempt(now, request, attempt),
        }
    }

    /// A request arrives.
    pub(super) fn begin(&mut self, now: Duration, number: u64) -> Option<Pending> {
        let (process, mut request) = self.travelling.remove(&number)?;
        request.by = self.granted.as_ref().map(|it| it.user.clone()).or(request.by);
        self.server.advance(now);
        self.requests.push((self.current, now));
        self.busy += 1;
        let asked = self.look(&request);
        self.gate.iter_mut().for_each(|it| it.arrived(number, &asked));
        let blow = if asked.write > 0 { self.strike_write(asked.write) } else { Blow::default() };
        Some(Pending { process, request, asked, blow })
    }

    /// A request is carried out, or refused.
    pub(super) fn end(
        &mut self,
        now: Duration,
        pending: Pending,
        answer: Answer,
    ) -> Option<Answer> {
        let Pending { mut asked, blow: Blow { dies, is_lost, refused }, .. } = pending;
        let answer = if is_lost && refused.is_none() { Answer::Lost } else { answer };
        match &answer {
            Answer::Response(response) => asked.learn(response),
            Answer::Watch { id, head } => {
                self.watches.insert(*id, (self.current, asked.resource.clone()));
                asked.status = head.status;
            }
            Answer::Lost => {}
        }
        if let Some(granted) = &self.granted {
            let noted = self.server.noted();
            granted.learn(&mut self.needs, noted, &asked.text());
        }
        let at = self.trace.len();
        asked.has_changed = self.absorb(Who::Controller);
        if dies {
            asked.status = 0;
        }
        let entry = self.entry(What::Asked { request: asked });
        self.trace.insert(at, Entry { at: now.saturating_sub(self.begins_at), ..entry });
        if dies || self.is_endless() {
            self.is_fenced = true;
            self.signal.notify_one();
            return None;
        }
        Some(answer)
    }

    /// The replica that the watch of a process reads from, and until when.
    pub(super) fn lag_of(&self, now: Duration, id: WatchId) -> Option<(u64, Duration)> {
        let (process, resource) = self.watches.get(&id)?;
        let lag = self.lags.get(process).filter(|lag| lag.resource == *resource && now < lag.until);
        lag.map(|lag| (lag.revision, lag.until))
    }
}
