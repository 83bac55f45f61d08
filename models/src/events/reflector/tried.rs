//! The reflector under trial: the shipped rules. A bug changes their requests, or the replies that
//! they get, on the way.

use std::time::Duration;

use seatrial_core::informer::reflector::{Config, Delivery, Got, Reflector as Rules, Want};
use seatrial_core::informer::{Event, SourceKind};
use seatrial_core::polling::ExponentialDelays;
use seatrial_core::runtime::{Ambient, Instant, WallTime};

use super::server::Object;

/// Changes a request of the rules before the source or the consumer sees it.
pub(super) type Ask = fn(&mut Memory, Want<Object>) -> Want<Object>;
/// Changes a reply before the rules see it.
pub(super) type Tell = fn(&mut Memory, Got<Object>) -> Got<Object>;

/// One way to be wrong.
#[derive(Clone, Copy)]
pub(super) struct Bend {
    pub(super) ask: Ask,
    pub(super) tell: Tell,
    /// The time that the rules are given.
    pub(super) time: fn(&Memory) -> Instant,
    /// The random bits that the rules are given.
    pub(super) chance: fn(u64) -> u64,
    /// The factor by which a delay grows.
    pub(super) growth: f64,
    /// The largest random part of a delay that is added to it.
    pub(super) jitter: f64,
    /// Whether to ask a source for a stream that begins with all objects although it cannot do so.
    pub(super) believes: bool,
    /// Whether skipped events are not reported.
    pub(super) silent: bool,
}

impl Bend {
    pub(super) const NONE: Self = Self {
        ask: |_, want| want,
        tell: |_, got| got,
        time: |memory| memory.now,
        chance: |bits| bits,
        growth: 2.0,
        jitter: 1.0,
        believes: false,
        silent: false,
    };
}

impl std::fmt::Debug for Bend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Bend")
    }
}

/// The past, as far as a bug may know it.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    pub(super) now: Instant,
    /// When the request was made that is answered now.
    pub(super) asked_at: Instant,
    pub(super) opened_at: Instant,
    /// The last request, as the rules made it.
    pub(super) wanted: Option<Want<Object>>,
    /// The kind of the last failure.
    pub(super) failed: Option<SourceKind>,
    /// Whether the stream still sends the objects that existed when it began.
    pub(super) initial: bool,
    /// How many events the stream has sent.
    pub(super) events: u32,
    /// Objects that a bug keeps.
    pub(super) kept: Vec<Object>,
    /// A version that a bug keeps.
    pub(super) version: String,
    pub(super) count: u32,
}

/// The rules, with a bug.
#[derive(Clone, Debug)]
pub(super) struct Tried {
    rules: Rules<Object>,
    bend: Bend,
    memory: Memory,
    random: u64,
    /// The random bits that were used last.
    chance: u64,
}

/// The time and the random bits of one answer.
pub(super) struct Moment(pub(super) Instant, pub(super) u64);

impl Ambient for Moment {
    fn now(&self) -> Instant {
        self.0
    }

    fn wall(&self) -> WallTime {
        WallTime::default()
    }

    fn entropy(&self) -> u64 {
        self.1
    }
}

impl Tried {
    pub(super) fn new(
        config: Config,
        streams: bool,
        bend: Bend,
        random: u64,
        now: Instant,
    ) -> Self {
        let (initial, max) = (Duration::from_millis(800), Duration::from_secs(30));
        let reset = Duration::from_secs(120);
        let delays = ExponentialDelays::new(initial, max, reset, bend.growth, bend.jitter, now);
        let rules = Rules::new(config, streams || bend.believes, delays);
        let memory = Memory {
            now,
            asked_at: now,
            opened_at: now,
            wanted: None,
            failed: None,
            initial: false,
            events: 0,
            kept: Vec::new(),
            version: String::new(),
            count: 0,
        };
        Self { rules, bend, memory, random, chance: random }
    }

    pub(super) fn last_version(&self) -> &str {
        self.rules.last_resource_version()
    }

    /// Whether the rules report that they skipped the last event.
    pub(super) fn skips(&mut self) -> bool {
        self.rules.take_skipped().is_some() && !self.bend.silent
    }

    /// The random bits of the current request.
    pub(super) fn chance(&self) -> u64 {
        self.chance
    }

    fn moment(&mut self, now: Instant) -> Moment {
        self.memory.now = now;
        let bits = self.random;
        self.chance = bits;
        self.random = bits.wrapping_mul(6_364_136_223_846_793_005).rotate_left(23);
        Moment((self.bend.time)(&self.memory), (self.bend.chance)(bits))
    }

    pub(super) fn begin(&mut self, now: Instant) -> Want<Object> {
        let moment = self.moment(now);
        let want = self.rules.begin(&moment);
        self.ask(want)
    }

    pub(super) fn next(&mut self, got: Got<Object>, now: Instant) -> Want<Object> {
        self.memory.now = now;
        self.memory.note(&got);
        let got = (self.bend.tell)(&mut self.memory, got);
        let moment = self.moment(now);
        let want = self.rules.next(got, &moment);
        self.ask(want)
    }

    fn ask(&mut self, want: Want<Object>) -> Want<Object> {
        let wanted = want.clone();
        let asked = (self.bend.ask)(&mut self.memory, want);
        if let Want::Watch(options) = &wanted {
            (self.memory.initial, self.memory.events) = (options.send_initial_events, 0);
        }
        if let Want::Deliver(Delivery::Replace(..)) = &wanted {
            self.memory.initial = false;
        }
        if !matches!(wanted, Want::Deliver(_)) {
            self.memory.asked_at = self.memory.now;
        }
        self.memory.wanted = Some(wanted);
        asked
    }
}

impl Memory {
    fn note(&mut self, got: &Got<Object>) {
        let failed = match got {
            Got::Listed(Err(error)) | Got::Opened(Err(error)) => Some(error.kind()),
            Got::Event(Some(Event::Error(error))) => Some(error.kind()),
            Got::Slept | Got::Delivered(_) => self.failed,
            _ => None,
        };
        self.failed = failed;
        if matches!(got, Got::Opened(Ok(()))) {
            self.opened_at = self.now;
        }
        self.events += u32::from(matches!(got, Got::Event(Some(_))));
    }

    /// Whether the stream was asked to begin with all objects and still sends them.
    pub(super) fn reads_a_list(&self) -> bool {
        self.initial
    }
}
