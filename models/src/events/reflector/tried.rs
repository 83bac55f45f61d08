//! The reflector that is tried: the rules that ship, with what they want and what they are told
//! perhaps changed on the way. That is how the bugs are made.

use std::time::Duration;

use seatrial_core::informer::reflector::{Config, Delivery, Got, Reflector as Rules, Want};
use seatrial_core::informer::{Event, SourceKind};
use seatrial_core::polling::ExponentialDelays;
use seatrial_core::runtime::{Ambient, Instant, WallTime};

use super::server::Object;

/// Changes what the rules want, before the source or the consumer sees it.
pub(super) type Ask = fn(&mut Memory, Want<Object>) -> Want<Object>;
/// Changes what the rules are told.
pub(super) type Tell = fn(&mut Memory, Got<Object>) -> Got<Object>;

/// One way to be wrong.
#[derive(Clone, Copy)]
pub(super) struct Bend {
    pub(super) ask: Ask,
    pub(super) tell: Tell,
    /// What the rules take the time for.
    pub(super) time: fn(&Memory) -> Instant,
    /// What the rules take for random bits.
    pub(super) chance: fn(u64) -> u64,
    /// How much a delay grows.
    pub(super) growth: f64,
    /// How large a random part of it is added to a delay at most.
    pub(super) jitter: f64,
    /// Whether a source that cannot begin a stream with all objects is asked to.
    pub(super) believes: bool,
    /// Whether it says nothing of what the consumer does not get.
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

/// What a bug may know of what went before.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    pub(super) now: Instant,
    /// When what is answered was wanted.
    pub(super) asked_at: Instant,
    pub(super) opened_at: Instant,
    /// What was wanted last, as the rules said it.
    pub(super) wanted: Option<Want<Object>>,
    /// How the last call failed.
    pub(super) failed: Option<SourceKind>,
    /// Whether the stream is at the objects that were there already.
    pub(super) initial: bool,
    /// Whether anything came by the stream.
    pub(super) events: u32,
    /// Objects that it kept, though it should not.
    pub(super) kept: Vec<Object>,
    /// A version that it kept.
    pub(super) version: String,
    pub(super) count: u32,
}

/// The rules, bent.
#[derive(Clone, Debug)]
pub(super) struct Tried {
    rules: Rules<Object>,
    bend: Bend,
    memory: Memory,
    random: u64,
    /// The random bits of the last answer.
    chance: u64,
}

/// Time and chance of one answer.
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

    /// Whether it says that the consumer does not get what was answered last.
    pub(super) fn skips(&mut self) -> bool {
        self.rules.take_skipped().is_some() && !self.bend.silent
    }

    /// The random bits that were there for what is wanted.
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

    /// Whether the stream was asked to begin with all objects and is at them.
    pub(super) fn reads_a_list(&self) -> bool {
        self.initial
    }
}
