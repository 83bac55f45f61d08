//! A reflector, its consumer and its server as one machine. A turn makes the reflector's request to
//! the server, and gives the result to the consumer.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use seatrial_core::informer::SourceKind;
use seatrial_core::informer::reflector::{Config, Delivery, Got, Want};
use seatrial_core::machine::{Channel, Cx, Machine, Operation, Step};
use seatrial_core::runtime::Instant;

use super::server::{At, Object, Open, Server, Trouble, error};
use super::tried::{Bend, Tried};
use super::turn::{Turned, asked, give, named, reply};

/// The channel of the reflector: it sleeps until a change at the server, or until a time.
pub(super) const REFLECTOR: Channel = 0;

/// The channel of callers that wait until the reflector is at rest.
pub(crate) const RESTERS: Channel = 1;

/// The duration of a slow answer.
const SLOW: Duration = Duration::from_secs(2);

/// The configuration of a trial.
#[derive(Clone, PartialEq, Debug)]
pub struct Setting {
    /// How many objects there are at the beginning.
    pub objects: u8,
    /// Whether the source claims that it can begin a stream with all objects.
    pub says_it_streams: bool,
    /// Whether the source can do so.
    pub streams: bool,
    /// Whether such a stream tells what changed since it began before the end of its first objects.
    pub ends_late: bool,
    /// The seed of the random numbers; zero for none.
    pub random: u64,
    /// How the reflector lists and watches.
    pub config: Config,
}

impl Default for Setting {
    fn default() -> Self {
        let config = Config::default();
        let (says_it_streams, streams, ends_late) = (false, false, false);
        Self { objects: 1, says_it_streams, streams, ends_late, random: 0, config }
    }
}

/// Sets up the trial; the first call.
#[derive(Clone, Debug)]
pub struct Begin(pub Setting);

/// Carries out one request of the reflector.
#[derive(Clone, Debug)]
pub struct Turn;

/// A change at the server; returns its version.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Happen {
    /// An object is stored.
    Write(u8),
    /// An object is deleted.
    Remove(u8),
    /// The server forgets all changes up to now.
    Compact,
    /// The server gets trouble, which one of its callers meets later.
    Meet(Trouble),
}

/// The reflector stops.
#[derive(Clone, Debug)]
pub struct Stop;

/// The reflector stops once this number of things has happened and it has come to rest.
#[derive(Clone, Debug)]
pub struct StopAtRest(pub u32);

seatrial_core::operations! {
    [] Follower: Call, Answer {
        Begin(Begin) -> (),
        Turn(Turn) -> Option<Box<Turned>>,
        Happen(Happen) -> u64,
        Stop(Stop) -> (),
        StopAtRest(StopAtRest) -> (),
    }
}

/// A reflector, its consumer and its server.
#[derive(Clone, Debug)]
pub struct Follower {
    bend: Bend,
    tried: Option<Tried>,
    pub(super) server: Server,
    open: Option<Open>,
    /// The reflector's current request, when it was made, and its random bits.
    want: Option<(Want<Object>, Instant, u64)>,
    /// When the slow answer comes.
    slow: Option<Instant>,
    pub(super) view: BTreeMap<u8, u64>,
    happened: u32,
    stopped: bool,
}

impl Follower {
    /// With the reflector that ships.
    pub(crate) fn ships() -> Self {
        Self::bent(Bend::NONE)
    }

    pub(super) fn bent(bend: Bend) -> Self {
        let (server, view) = (Server::new(0, false, false), BTreeMap::new());
        let (tried, open, want, slow) = (None, None, None, None);
        Self { bend, tried, server, open, want, slow, view, happened: 0, stopped: false }
    }

    /// Whether the reflector waits for a change, knows all changes, and no more trouble waits for
    /// its stream.
    pub(crate) fn is_at_rest(&self) -> bool {
        let reads = matches!(self.want, Some((Want::Next { resync: None }, ..)));
        let told = self.open.as_ref().is_some_and(|open| self.server.has_told(open));
        reads && told && !self.server.is_in_trouble()
    }

    /// The current objects of the server.
    pub(crate) fn newest(&self) -> BTreeMap<u8, u64> {
        self.server.at(u64::MAX)
    }

    /// The whole state that decides the next steps, as text.
    pub(crate) fn form(&self) -> String {
        format!("{:?} {:?} {:?}", (&self.tried, &self.want), (&self.server, &self.open), {
            (self.slow, &self.view, self.happened, self.stopped)
        })
    }

    /// Asks the server. While there is no answer, returns as an error when to ask again, if at a
    /// set time.
    fn answer(
        &mut self,
        want: &Want<Object>,
        now: Instant,
    ) -> Result<Got<Object>, Option<Instant>> {
        let at = match want {
            Want::List(options) => Some(At::List(options)),
            Want::Watch(_) => Some(At::Watch),
            _ => None,
        };
        if let Some(at) = at {
            self.open = None;
            if self.slow.is_none() && self.server.has(Trouble::IsSlow, at) {
                self.slow = Some(now + SLOW);
            }
            if let Some(slow) = self.slow.filter(|slow| now < *slow) {
                return Err(Some(slow));
            }
            self.slow = None;
        }
        Ok(match want {
            Want::List(options) => Got::Listed(self.server.list(options)),
            Want::Watch(options) => {
                let opened = self.server.watch(options);
                Got::Opened(opened.map(|opened| self.open = Some(opened)))
            }
            Want::Next { resync } => {
                if resync.is_some_and(|due| due <= now) {
                    return Ok(Got::ResyncDue);
                }
                let open = self.open.as_mut().expect("a stream is open while it is read");
                Got::Event(self.server.next(open).ok_or(*resync)?)
            }
            Want::Sleep { until, .. } => {
                self.open = None;
                if now < *until {
                    return Err(Some(*until));
                }
                Got::Slept
            }
            _ => unreachable!("what is to be delivered is delivered at once"),
        })
    }

    fn turn(&mut self, cx: &mut Cx<'_>) -> Step<Option<Box<Turned>>> {
        if self.stopped {
            self.open = None;
            return Step::Done(None);
        }
        let now = cx.now();
        let tried = self.tried.as_mut().expect("the stage is set first");
        let begin = || (tried.begin(now), now, tried.chance());
        let (want, since, chance) = self.want.take().unwrap_or_else(begin);
        let got = match self.answer(&want, now) {
            Ok(got) => got,
            Err(until) => {
                self.want = Some((want, since, chance));
                if self.is_at_rest() {
                    cx.wakes.all(RESTERS);
                }
                return Step::Wait { on: REFLECTOR, until };
            }
        };
        let (asked, reply, named) = (asked(&want), reply(&want, &got), named(&got));
        let tried = self.tried.as_mut().expect("the stage is set first");
        let mut next = tried.next(got, now);
        let skipped = tried.skips();
        let (mut given, mut refused) = (None, false);
        while let Want::Deliver(delivery) = next {
            let is_list = matches!(delivery, Delivery::Replace(..));
            refused = is_list && self.server.has(Trouble::ListIsRefused, At::Consumer);
            let told = give(delivery);
            if !refused {
                told.change(&mut self.view);
            }
            given = Some(told);
            let answer =
                if refused { Err(Arc::new(error(SourceKind::Other)) as _) } else { Ok(()) };
            next = tried.next(Got::Delivered(answer), now);
        }
        let last = tried.last_version().to_owned();
        self.want = Some((next, now, tried.chance()));
        let turned = Turned { asked, since, chance, reply, named, skipped, given, refused, last };
        Step::Done(Some(Box::new(turned)))
    }
}

impl Operation<Follower> for Begin {
    fn step(&mut self, follower: &mut Follower, cx: &mut Cx<'_>) -> Step<()> {
        let Setting { objects, says_it_streams, streams, ends_late, random, config } =
            self.0.clone();
        let now = cx.now();
        follower.server = Server::new(objects, streams, ends_late);
        follower.tried = Some(Tried::new(config, says_it_streams, follower.bend, random, now));
        Step::Done(())
    }
}

impl Operation<Follower> for Turn {
    fn step(&mut self, follower: &mut Follower, cx: &mut Cx<'_>) -> Step<Option<Box<Turned>>> {
        follower.turn(cx)
    }
}

impl Operation<Follower> for Happen {
    fn step(&mut self, follower: &mut Follower, cx: &mut Cx<'_>) -> Step<u64> {
        let server = &mut follower.server;
        match *self {
            Self::Write(key) => drop(server.change(key, true)),
            Self::Remove(key) => drop(server.change(key, false)),
            Self::Compact => server.compact(),
            Self::Meet(trouble) => server.meet(trouble),
        }
        follower.happened += 1;
        cx.wakes.all(REFLECTOR);
        Step::Done(follower.server.revision)
    }
}

impl Operation<Follower> for Stop {
    fn step(&mut self, follower: &mut Follower, cx: &mut Cx<'_>) -> Step<()> {
        follower.stopped = true;
        cx.wakes.all(REFLECTOR);
        Step::Done(())
    }
}

impl Operation<Follower> for StopAtRest {
    fn step(&mut self, follower: &mut Follower, cx: &mut Cx<'_>) -> Step<()> {
        if follower.happened < self.0 || !follower.is_at_rest() {
            return Step::Wait { on: RESTERS, until: None };
        }
        Stop.step(follower, cx)
    }
}

/// The machine that ships.
pub(super) fn ships() -> Box<dyn Machine<Op = Call, Ret = Answer>> {
    Box::new(Follower::bent(Bend::NONE))
}
