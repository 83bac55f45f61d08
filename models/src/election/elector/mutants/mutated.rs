//! An elector in a wrapper that changes it.

use std::time::Duration;

use seatrial_core::elector::{
    Config, Election, Io, Look, Next, Observed, Op, RUN, Record, Reply, Ret, StoreError, Stored,
    TERM, Turn, Version,
};
use seatrial_core::machine::{Boxed, Cx, Machine, Step};
use seatrial_core::runtime::{Ambient, Instant, WallTime};

use crate::election::plain::{self, Rules};

type StepOf = fn(&mut Mutated, &mut Op, &mut Cx<'_>) -> Step<Ret>;
type TellOf = fn(&mut Mutated, &mut Result<Stored, StoreError>);
type OrderOf = fn(&Mutated, &mut Record);

/// An elector in a wrapper, with the state that the changes need.
pub(super) struct Mutated {
    rules: Rules,
    pub(super) config: Config,
    step: StepOf,
    tell: TellOf,
    order: OrderOf,
    /// Whether the call in flight is a read, whether it belongs to a release, whether it is an
    /// update without a read before it, and whether such an update has failed.
    pub(super) reading: bool,
    pub(super) releasing: bool,
    pub(super) fast: bool,
    pub(super) failed_fast: bool,
    pub(super) leads: bool,
    /// Whether its run was cancelled.
    pub(super) cancelled: bool,
    /// The record that was read last, and the record that was sent last, with its version.
    pub(super) read: Option<Record>,
    pub(super) written: Option<Record>,
    pub(super) version: Option<Version>,
    /// The first record that was read of each holder.
    pub(super) holders: Vec<Record>,
    /// When the attempt in flight began, and how long the last successful one took.
    pub(super) began: Instant,
    pub(super) took: Duration,
    /// A time of observation that a check has noted.
    pub(super) noted: Option<Instant>,
}

pub(super) fn wrap(config: Config, step: StepOf) -> Boxed<Election> {
    Boxed(Box::new(Mutated::new(config, step, |_, _| {}, |_, _| {})))
}

/// A mutant that misunderstands the answers that it is given.
pub(super) fn told(config: Config, tell: TellOf) -> Boxed<Election> {
    Boxed(Box::new(Mutated::new(config, Mutated::inner, tell, |_, _| {})))
}

/// A mutant that writes another record.
pub(super) fn orders(config: Config, order: OrderOf) -> Boxed<Election> {
    Boxed(Box::new(Mutated::new(config, Mutated::inner, |_, _| {}, order)))
}

impl Mutated {
    fn new(config: Config, step: StepOf, tell: TellOf, order: OrderOf) -> Self {
        Self {
            rules: plain::rules(config.clone()),
            config,
            step,
            tell,
            order,
            reading: false,
            releasing: false,
            fast: false,
            failed_fast: false,
            leads: false,
            cancelled: false,
            read: None,
            written: None,
            version: None,
            holders: Vec::new(),
            began: Instant::ZERO,
            took: Duration::ZERO,
            noted: None,
        }
    }

    pub(super) fn observed(&mut self, cx: &mut Cx<'_>) -> Observed {
        match self.rules.step(&mut Op::Look(Look), cx) {
            Step::Done(Ret::Look(observed)) => observed,
            step => unreachable!("a look shows what was observed, and not {step:?}"),
        }
    }

    pub(super) fn is_holder(&mut self, cx: &mut Cx<'_>) -> bool {
        self.observed(cx).record.holder == self.config.identity
    }

    /// Steps the elector, with the answers and the writes changed.
    pub(super) fn inner(&mut self, op: &mut Op, cx: &mut Cx<'_>) -> Step<Ret> {
        if let Op::Reply(Reply(Some(reply))) = op {
            if reply.is_ok() && !self.reading {
                self.took = cx.now().since(self.began);
            }
            if let Ok(stored) = &*reply {
                self.version = Some(stored.version.clone());
            }
            let tell = self.tell;
            tell(self, reply);
            if self.reading
                && let Ok(stored) = &*reply
            {
                self.read = Some(stored.record.clone());
            }
            self.failed_fast = self.fast && reply.is_err();
        } else if matches!(op, Op::Begin(_) | Op::Try(_) | Op::Rest(_)) {
            self.began = cx.now();
        } else if let Op::Cancel(_) = op {
            self.cancelled = true;
        }
        let mut step = self.rules.step(op, cx);
        if let Step::Done(ret) = &mut step
            && let Some(turn) = turn_of(ret)
        {
            self.follow(turn, !matches!(op, Op::Reply(_)));
        }
        step
    }

    /// As [`inner`](Self::inner), at another time.
    pub(super) fn inner_at(&mut self, now: Instant, op: &mut Op, cx: &mut Cx<'_>) -> Step<Ret> {
        let mut wakes = cx.wakes;
        let clock = OtherClock { ambient: cx.ambient(), now };
        let mut other = Cx::new(&clock);
        let step = self.inner(op, &mut other);
        for channel in [RUN, TERM] {
            wakes.many(channel, usize::from(other.wakes.get(channel)));
        }
        cx.wakes = wakes;
        step
    }

    fn follow(&mut self, turn: &mut Turn, first: bool) {
        match &mut turn.next {
            Next::Call { io, releases, .. } => {
                self.reading = *io == Io::Get;
                self.releasing = *releases;
                self.fast = first && !self.reading;
                if let Io::Create(record) | Io::Update(record, _) = io {
                    (self.order)(self, record);
                    self.written = Some(record.clone());
                }
            }
            Next::Lead { .. } => self.leads = true,
            Next::Ended { .. } => (self.leads, self.cancelled) = (false, false),
            _ => {}
        }
    }

    /// The answer of a store that accepted the last write.
    pub(super) fn as_if_accepted(&self) -> Option<Stored> {
        if self.reading {
            return None;
        }
        let version = self.version.clone().unwrap_or(Version::Number(1));
        Some(Stored::new(self.written.clone()?, version, "uid-1".into()))
    }
}

fn turn_of(ret: &mut Ret) -> Option<&mut Turn> {
    match ret {
        Ret::Begin(turn)
        | Ret::Try(turn)
        | Ret::GiveUp(turn)
        | Ret::Reply(turn)
        | Ret::Rest(turn) => Some(turn),
        _ => None,
    }
}

/// Another clock in place of the clock of a step.
struct OtherClock<'a> {
    ambient: &'a dyn Ambient,
    now: Instant,
}

impl Ambient for OtherClock<'_> {
    fn now(&self) -> Instant {
        self.now
    }

    fn wall(&self) -> WallTime {
        self.ambient.wall()
    }

    fn entropy(&self) -> u64 {
        self.ambient.entropy()
    }
}

/// Changes until when a step waits.
pub(super) fn moved(step: Step<Ret>, change: impl FnOnce(Instant) -> Instant) -> Step<Ret> {
    match step {
        Step::Wait { on, until } => Step::Wait { on, until: until.map(change) },
        step => step,
    }
}

impl Machine for Mutated {
    type Op = Op;
    type Ret = Ret;

    fn step(&mut self, op: &mut Op, cx: &mut Cx<'_>) -> Step<Ret> {
        (self.step)(self, op, cx)
    }
}
