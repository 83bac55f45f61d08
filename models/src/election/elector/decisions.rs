//! Two implementations of an elector side by side: their decisions are compared step by step. Each has
//! several electors, which compete for one lease.

use seatrial_core::elector::{
    Abort, Begin, Bounds, Cancel, Check, Config, Election, GiveUp, Holds, Io, IsLeader, Leader,
    Look, Next, Op, Record, Reply, Report, Rest, Ret, Runs, StoreError, Stored, Timing, Try, Turn,
    Watch, WorkEnded,
};
use seatrial_core::machine::{Boxed, Cx, Step};
use seatrial_core::runtime::{Ambient, Instant, WallTime};

use super::asked::turn;
use super::mutants::Make;
use crate::cluster::{Random, Server, Writer};
use crate::election::plain::{Plain, Rules};
use crate::single_step::each_call;

/// One event.
#[derive(Clone, Copy, Debug)]
pub(super) enum Happens {
    /// A call on the elector that needs no answer from the store.
    Call(u8),
    /// The call in flight is answered.
    Answer(u8),
    /// The lease is changed from outside.
    Meddle(u8),
    /// From now on, calls and answers concern this elector.
    Turn(u8),
    /// This many milliseconds pass.
    Pass(u16),
}

/// Draws events: mostly answers and calls.
pub(super) fn random_happenings(seed: u64) -> Vec<Happens> {
    let mut random = Random::new(seed);
    let one = |random: &mut Random| {
        let byte = random.bits() as u8;
        match random.below(27) {
            0..8 => Happens::Call(byte),
            8..20 => Happens::Answer(byte),
            20 => Happens::Meddle(byte),
            25.. => Happens::Turn(byte),
            _ => Happens::Pass(random.below(3_000) as u16),
        }
    };
    (0..120).map(|_| one(&mut random)).collect()
}

/// Reads events from the bytes of a fuzzer, two bytes each.
fn happenings(bytes: &[u8]) -> impl Iterator<Item = Happens> {
    bytes.chunks_exact(2).map(|pair| match pair[0] % 25 {
        _ if pair[0] >= 240 => Happens::Turn(pair[1]),
        0..8 => Happens::Call(pair[1]),
        8..20 => Happens::Answer(pair[1]),
        20 => Happens::Meddle(pair[1]),
        _ => Happens::Pass(u16::from(pair[1]) * 12),
    })
}

/// Compares the decisions of an elector, and the sleepers that it wakes, with those of the one that
/// ships, in whole runs.
///
/// # Panics
/// If they differ.
pub(super) fn decides_as_ours(bytes: &[u8], make: Make) {
    for config in set_ups() {
        let mut ships = Place::new(&config, |config| Box::new(Election::unchecked(config)));
        let mut tried = Place::new(&config, |config| make(config).0);
        for happens in each_call(happenings(bytes)) {
            assert_eq!(tried.step(happens), ships.step(happens), "after {happens:?}");
        }
    }
}

/// The surroundings of one step.
struct Clock(u64, u64);

impl Ambient for Clock {
    fn now(&self) -> Instant {
        Instant::from_nanos(self.0)
    }

    fn wall(&self) -> WallTime {
        WallTime::from_nanos(1_700_000_000_000_000_000 + self.0 as i64)
    }

    fn entropy(&self) -> u64 {
        self.1
    }
}

/// An elector, and the call that it waits for.
struct One {
    rules: Rules,
    asks: Option<Io>,
}

impl One {
    fn follow(&mut self, turn: &Turn) {
        match &turn.next {
            Next::Call { io, .. } => self.asks = Some(io.clone()),
            Next::Refused => {}
            _ => self.asks = None,
        }
    }
}

/// Electors and their server.
pub(super) struct Place {
    electors: [One; 3],
    /// Which of them is stepped.
    acts: usize,
    server: Server,
    now: u64,
    steps: u64,
}

impl Place {
    /// Makes three electors of a set-up. The last one has another identity.
    pub(super) fn new(config: &Config, make: impl Fn(Config) -> Rules) -> Self {
        let other = config.clone().identity("other".into());
        let configs = [config.clone(), config.clone(), other];
        let electors = configs.map(|config| One { rules: make(config), asks: None });
        Self { electors, acts: 0, server: Server::new(), now: 1_000_000_000_000, steps: 0 }
    }

    /// Carries out one event; describes the decision of the elector and the sleepers that it woke.
    pub(super) fn step(&mut self, happens: Happens) -> String {
        match happens {
            Happens::Pass(millis) => self.now += u64::from(millis) * 1_000_000,
            Happens::Meddle(how) => self.meddle(how),
            Happens::Turn(which) => self.acts = usize::from(which) % self.electors.len(),
            Happens::Call(which) => return self.ask(call(which)),
            Happens::Answer(how) => {
                // If no call is in flight, the run goes on.
                return match self.electors[self.acts].asks.take() {
                    Some(io) => {
                        let answer = self.answer(io, how);
                        self.ask(Op::Reply(Reply(Some(answer))))
                    }
                    None => self.ask(Op::Rest(Rest)),
                };
            }
        }
        String::new()
    }

    fn ask(&mut self, mut op: Op) -> String {
        self.steps += 1;
        let clock = Clock(self.now, self.steps.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut cx = Cx::new(&clock);
        let one = &mut self.electors[self.acts];
        let step = one.rules.step(&mut op, &mut cx);
        one.rules.assert_valid();
        if let Step::Done(answer) = &step {
            turn(answer).into_iter().for_each(|turn| one.follow(turn));
        }
        if let Step::Done(Ret::Abort(_)) = step {
            one.asks = None;
        }
        format!("{step:?} {:?}", cx.wakes)
    }

    fn answer(&mut self, io: Io, how: u8) -> Result<Stored, StoreError> {
        match how {
            0..20 => return Err(StoreError::Timeout),
            20..30 => return Err(StoreError::Conflict),
            30..35 => return Err(StoreError::NotFound),
            _ => {}
        }
        let (by, at) = (Writer::Process(self.acts as u16), self.now);
        let served = match io {
            Io::Get => self.server.read(u64::from(how.saturating_sub(245))),
            Io::Create(record) => self.server.create(record, by, at),
            Io::Update(record, version) => self.server.update(record, &version, by, at),
        };
        if (35..50).contains(&how) { Err(StoreError::Timeout) } else { served }
    }

    fn meddle(&mut self, how: u8) {
        let at = self.now;
        let done = match how % 8 {
            0 if how < 128 => self.server.delete(at),
            0 => self.server.go_back(1 + u64::from(how / 8 % 4), at),
            1 => self.server.edit(at, |record| record.holder = "".into()),
            // From zero to more than the longest lease of the set-ups.
            2 => self.server.edit(at, |record| record.duration_seconds = i64::from(how / 8 % 24)),
            3 => self.server.edit(at, |record| record.holder = "b".into()),
            4 => self.server.edit(at, |record| record.transitions += 1),
            5 => self.server.edit(at, |record| {
                let calls = if how < 128 { "b" } else { "" };
                record.preferred_holder = calls.into();
            }),
            6 => self.assign(at),
            _ => self.server.edit(at, |record| {
                (record.acquire_time, record.renew_time) = (None, None);
            }),
        };
        let _there_may_be_no_lease = done;
    }

    /// Gives the lease to the first elector, as the server of a coordinated election does.
    fn assign(&mut self, at: u64) -> bool {
        let record = Record::default().holder("me".into()).duration_seconds(3);
        self.server.create(record, Writer::Outside, at).is_ok()
            || self.server.edit(at, |record| record.holder = "me".into())
    }
}

fn call(which: u8) -> Op {
    let number = u64::from(which / 16 % 4);
    match which % 16 {
        0..3 => Op::Begin(Begin { cancelled: which > 240 }),
        3 => Op::Try(Try),
        4 => Op::GiveUp(GiveUp),
        5 => Op::Cancel(Cancel { run: number }),
        6 => Op::Abort(Abort),
        7 => Op::WorkEnded(WorkEnded { term: number, panicked: number % 2 == 1 }),
        8 => Op::Watch(Watch { term: number }),
        9 => Op::Holds(Holds { term: number }),
        10 => Op::IsLeader(IsLeader),
        11 => Op::Leader(Leader),
        12 => Op::Look(Look),
        13 => Op::Check(Check { tolerance: std::time::Duration::from_millis(500 * number) }),
        14 => Op::Report(Report),
        _ => Op::Runs(Runs),
    }
}

/// The property on the bytes of a fuzzer: at every step the rules that ship decide like the second
/// implementation.
///
/// # Panics
/// If they differ.
pub fn check_bytes(bytes: &[u8]) {
    decides_as_ours(bytes, |config| Boxed(Plain::unchecked(&[], config)));
}

/// Returns the set-ups in which electors are compared.
pub(super) fn set_ups() -> [Config; 4] {
    let timing = Timing::seconds(3, 2, 1);
    let bounds = Bounds::default().drift_ppm(0);
    let strict = Config::new("me").timing(timing).bounds(bounds);
    let releases = strict.clone().release_on_cancel(true);
    let coordinated = strict.clone().coordinated(true);
    [strict, releases, Config::new("me"), coordinated]
}
