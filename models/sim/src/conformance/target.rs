//! The server that a trace is replayed against.

use std::time::Duration;

use crate::apiserver::{Answer, Events, Request, Server, WatchId};

/// A server that answers.
pub trait Target {
    /// Some time passes between two steps.
    fn pass(&mut self, time: Duration);

    /// Answers a request.
    fn send(&mut self, request: &Request) -> Answer;

    /// The events of a watch since it was last asked.
    fn events(&mut self, id: WatchId) -> Events;

    /// The client hangs up.
    fn close(&mut self, id: WatchId);

    /// Compacts the storage at its newest revision. False if that cannot be done here.
    fn compact(&mut self) -> bool;
}

/// Our server, with a clock of its own.
#[derive(Clone, Debug)]
pub struct Simulated {
    /// The server.
    pub server: Server,
    /// The time, since the Unix epoch.
    pub now: Duration,
}

impl Simulated {
    /// The server on the day on which the recorded answers were given.
    pub fn new(server: Server) -> Self {
        Self { server, now: Duration::from_secs(1_763_942_400) }
    }
}

impl Target for Simulated {
    fn pass(&mut self, time: Duration) {
        self.now += time;
    }

    /// The time that a real server would take passes.
    fn send(&mut self, request: &Request) -> Answer {
        let answer = self.server.handle(self.now, request);
        self.now += match &answer {
            Answer::Response(response) => response.after,
            Answer::Watch { head, .. } => head.after,
            Answer::Lost => Duration::ZERO,
        };
        answer
    }

    fn events(&mut self, id: WatchId) -> Events {
        self.server.advance(self.now);
        self.server.events(id)
    }

    fn close(&mut self, id: WatchId) {
        self.server.close(id);
    }

    fn compact(&mut self) -> bool {
        self.server.compact(self.server.revision());
        true
    }
}
