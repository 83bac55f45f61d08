//! A server behind the service, with nothing between them.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Backend, Told};
use crate::apiserver::{Answer, Attempt, Request, Server, Step, WatchId, WebhookCall};

/// A server without a network: requests arrive at once.
#[derive(Debug)]
pub struct Direct {
    pub(super) server: Server,
    travelling: BTreeMap<u64, Request>,
    next: u64,
}

impl Direct {
    pub(super) fn new(server: Server) -> Self {
        Self { server, travelling: BTreeMap::new(), next: 0 }
    }
}

impl Backend for Direct {
    fn depart(&mut self, _: Duration, request: Request) -> Option<(Duration, u64)> {
        self.next += 1;
        self.travelling.insert(self.next, request);
        Some((Duration::ZERO, self.next))
    }

    fn arrive(&mut self, now: Duration, number: u64) -> Option<Answer> {
        let request = self.travelling.remove(&number)?;
        Some(self.server.handle(now, &request))
    }

    fn attempt(&mut self, now: Duration, number: u64, attempt: &mut Attempt) -> Option<Step> {
        let request = self.travelling.remove(&number)?;
        let step = self.server.attempt(now, &request, attempt);
        if let Step::Waits(_) = step {
            self.travelling.insert(number, request);
        }
        Some(step)
    }

    fn tell(&mut self, now: Duration, id: WatchId) -> Told {
        self.server.advance(now);
        let news = self.server.events(id);
        let again_at = self.server.due(id);
        Told { events: news.events, has_ended: news.has_ended, again_at }
    }

    fn unconverted(
        &mut self,
        now: Duration,
        id: WatchId,
        attempt: &mut Attempt,
    ) -> Vec<WebhookCall> {
        self.server.advance(now);
        self.server.unconverted(id, attempt)
    }

    fn close(&mut self, id: WatchId) {
        self.server.close(id);
    }
}
