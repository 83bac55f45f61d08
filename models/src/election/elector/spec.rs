//! The elector as a sequential object: whole attempts and releases, written as the rules describe
//! them, with nothing in flight.

use seatrial_core::elector::{
    Config, Fields, Io, Name, Profile, Record, StoreError, Stored, Timestamp, Version,
};

/// The surroundings of one call: they answer calls on the lock, and time passes meanwhile.
pub trait Surroundings {
    /// Makes a call.
    ///
    /// # Errors
    /// The errors of a store.
    fn call(&mut self, io: Io) -> Result<Stored, StoreError>;
    /// Reads the monotonic clock, in nanoseconds.
    fn now(&self) -> u64;
    /// Reads the wall clock.
    fn wall(&self) -> Timestamp;
}

/// A term of the strict profile.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Term {
    uid: Name,
    transitions: i64,
    valid_until: u64,
}

/// A state of the lock: object, version and record, unless there was none; and whether it can
/// follow the state that was seen before it.
type Seen = (Option<(Name, Version, Record)>, bool);

/// One elector (`election:LE-8`).
#[derive(Clone, Debug)]
pub struct Spec {
    config: Config,
    /// The observed record that counts, and the time since which it does.
    pub observed: (Record, u64),
    /// The raw bytes that were read last, as text.
    raw: String,
    /// The states that the strict profile has seen, oldest first.
    seen: Vec<Seen>,
    /// When a state was last seen for the first time, and whether the last one that was read is
    /// that state and follows its predecessor.
    newest: u64,
    current: bool,
    /// There has been a state since the last read, which was not read.
    overtaken: bool,
    remembered: Option<Version>,
    reported: Name,
    term: Option<Term>,
    /// When the last term ends, or would have ended.
    over: u64,
    written: Option<i64>,
    /// Until when nobody else can hold a lease that this elector wrote.
    own_until: u64,
    /// The same for the last write alone, by its renew time.
    last: (Option<Timestamp>, u64),
}

impl Spec {
    /// Makes an elector that has seen no record.
    #[must_use]
    pub fn new(config: Config) -> Self {
        Self {
            config,
            observed: (Record::default(), 0),
            raw: String::new(),
            seen: Vec::new(),
            newest: 0,
            current: false,
            overtaken: false,
            remembered: None,
            reported: Name::EMPTY,
            term: None,
            over: 0,
            written: None,
            own_until: u64::MAX,
            last: (None, 0),
        }
    }

    fn strict(&self) -> bool {
        self.config.profile != Profile::Classic
    }

    fn holds(&self) -> bool {
        self.observed.0.holder == self.config.identity
    }

    /// Tells whether the user is told that this elector leads (`election:LE-12`).
    pub fn is_leader(&mut self, now: u64) -> bool {
        self.holds() && (!self.strict() || self.live(now))
    }

    fn live(&mut self, now: u64) -> bool {
        self.term = self.term.take().filter(|term| now < term.valid_until);
        self.term.is_some()
    }

    fn lease_valid(&self, now: u64) -> bool {
        let (record, since) = &self.observed;
        let mut seconds = record.duration_seconds;
        if seconds <= 0 && self.strict() {
            seconds = self.config.timing.lease.as_secs() as i64;
        }
        i128::from(*since) + i128::from(seconds) * 1_000_000_000 > i128::from(now)
    }

    /// Answers the health check (`election:LE-55`).
    #[must_use]
    pub fn is_healthy(&self, tolerance: u64, now: u64) -> bool {
        let allowed = self.config.timing.lease.as_nanos() + u128::from(tolerance);
        !self.holds() || u128::from(now.saturating_sub(self.observed.1)) <= allowed
    }

    /// Takes the report of a new leader, if there is one (`election:LE-52`).
    pub fn report(&mut self) -> Option<Name> {
        let holder = &self.observed.0.holder;
        if *holder == self.reported {
            return None;
        }
        self.reported = holder.clone();
        Some(holder.clone())
    }

    /// Makes one attempt (`election:LE-16` to `LE-24`); true if it succeeded.
    pub fn attempt(&mut self, around: &mut impl Surroundings) -> bool {
        let now = around.now();
        let mut desired = Record::default()
            .holder(self.config.identity.clone())
            .duration_seconds(self.config.timing.lease.as_secs() as i64)
            .acquire_time(Some(around.wall()))
            .renew_time(Some(around.wall()));
        let may_renew_unread = !self.strict() || self.live(now);
        if self.holds() && self.lease_valid(now) && may_renew_unread {
            desired.acquire_time = self.observed.0.acquire_time;
            desired.transitions = self.observed.0.transitions;
            if let Some(version) = self.remembered.clone()
                && let Ok(stored) = self.write(now, around, Io::Update(desired.clone(), version))
            {
                return self.won(now, desired, &stored, around.now());
            }
        }
        let read = match around.call(Io::Get) {
            Err(StoreError::NotFound) => {
                if self.strict() && self.term.is_none() {
                    self.see(None, around.now());
                    let was_own = self.holds() && now < self.over;
                    if !was_own && !self.may_take(now) {
                        return false;
                    }
                }
                return self.create(now, desired, around);
            }
            Err(_) => return false,
            Ok(read) => read,
        };
        self.observe(&read, around.now());
        if self.strict() {
            return self.take_or_renew_strictly(now, desired, &read, around);
        }
        if !read.record.holder.is_empty() && self.lease_valid(now) && !self.holds() {
            return false;
        }
        if self.holds() {
            desired.acquire_time = read.record.acquire_time;
            desired.transitions = read.record.transitions;
        } else {
            desired.transitions = read.record.transitions + 1;
        }
        self.update(now, desired, read.version, around)
    }

    fn take_or_renew_strictly(
        &mut self,
        now: u64,
        mut desired: Record,
        read: &Stored,
        around: &mut impl Surroundings,
    ) -> bool {
        let record = &read.record;
        if self.live(around.now()) {
            let of_term = self.term.as_ref().is_some_and(|term| {
                (&term.uid, term.transitions) == (&read.uid, record.transitions)
            });
            if !of_term || record.holder != self.config.identity {
                self.term = None;
                return false;
            }
            desired.acquire_time = record.acquire_time;
            desired.transitions = record.transitions;
        } else {
            if !self.may_take(now) {
                return false;
            }
            desired.acquire_time = desired.renew_time;
            desired.transitions = record.transitions + 1;
        }
        self.update(now, desired, read.version.clone(), around)
    }

    fn create(&mut self, now: u64, desired: Record, around: &mut impl Surroundings) -> bool {
        if self.strict() && self.term.take().is_some() {
            return false;
        }
        match self.write(now, around, Io::Create(desired.clone())) {
            Ok(stored) => self.won(now, desired, &stored, around.now()),
            Err(_) => {
                if !self.strict() {
                    self.remembered = None;
                }
                false
            }
        }
    }

    fn update(
        &mut self,
        now: u64,
        desired: Record,
        version: Version,
        around: &mut impl Surroundings,
    ) -> bool {
        match self.write(now, around, Io::Update(desired.clone(), version)) {
            Ok(stored) => self.won(now, desired, &stored, around.now()),
            Err(_) => false,
        }
    }

    fn write(
        &mut self,
        began: u64,
        around: &mut impl Surroundings,
        io: Io,
    ) -> Result<Stored, StoreError> {
        if let Io::Create(record) | Io::Update(record, _) = &io {
            let until = began.saturating_add(self.acting());
            if self.written != Some(record.transitions) {
                (self.written, self.own_until) = (Some(record.transitions), until);
            }
            if record.renew_time > self.last.0 {
                self.last = (record.renew_time, until);
            }
        }
        self.overtaking(around, io)
    }

    /// Makes a call that writes. Unless it is lost, the store is not as it was read any more.
    fn overtaking(&mut self, around: &mut impl Surroundings, io: Io) -> Result<Stored, StoreError> {
        use StoreError::{AlreadyExists, Conflict, NotFound};
        let answer = around.call(io);
        if matches!(answer, Ok(_) | Err(AlreadyExists | Conflict | NotFound)) {
            self.overtaken = true;
        }
        answer
    }

    fn acting(&self) -> u64 {
        u64::try_from(self.config.acting().as_nanos()).unwrap_or(u64::MAX)
    }

    fn won(&mut self, began: u64, desired: Record, stored: &Stored, now: u64) -> bool {
        let transitions = desired.transitions;
        self.observed = (desired, now);
        self.remembered = Some(stored.version.clone());
        if !self.strict() {
            return true;
        }
        let valid_until = began + self.acting();
        self.own_until = valid_until;
        let renewed = self.term.is_some();
        if self.live(now) {
            self.term.iter_mut().for_each(|term| term.valid_until = valid_until);
            self.over = valid_until;
            return true;
        }
        let acquired = !renewed && now < valid_until;
        if acquired {
            self.over = valid_until;
        }
        self.term = acquired.then(|| Term { uid: stored.uid.clone(), transitions, valid_until });
        acquired
    }

    /// Takes note of the state that was read (`election:LE-21`, [S] `CX-12`).
    fn observe(&mut self, read: &Stored, now: u64) {
        self.remembered = Some(read.version.clone());
        if !self.strict() {
            let raw = read.record.to_json(Fields::Current);
            if raw != self.raw {
                self.observed = (read.record.clone(), now);
                self.raw = raw;
            }
            return;
        }
        let state = (read.uid.clone(), read.version.clone(), read.record.clone());
        self.see(Some(state), now);
        self.observed = (read.record.clone(), self.newest);
    }

    /// Takes note of a state, or that there is none ([S] `election:CX-12`).
    fn see(&mut self, state: Option<(Name, Version, Record)>, now: u64) {
        let is_known = self.seen.iter().any(|(seen, _)| *seen == state);
        if !is_known || self.overtaken {
            let follows = !is_known
                && match (self.seen.last(), &state) {
                    (None, None) => self.written.is_none(),
                    (None, _) => true,
                    (Some((None, follows)), _) => *follows,
                    (Some((Some(last), _)), Some(new)) => {
                        last.0 == new.0 && last.2.transitions <= new.2.transitions
                    }
                    (Some(_), None) => false,
                };
            self.seen.retain(|(old, _)| old.is_some() && *old != state);
            self.seen.push((state.clone(), follows));
            (self.newest, self.overtaken) = (now, false);
            if self.seen.len() > 8 {
                self.seen.remove(0);
            }
        }
        self.current = self.seen.last() == Some(&(state, true));
    }

    /// Tells whether the strict elector may write, although it does not lead.
    fn may_take(&self, now: u64) -> bool {
        let record = &self.observed.0;
        let own = self.config.timing.lease.as_secs() as i64;
        let seconds = match record.duration_seconds {
            seconds if seconds > 0 && self.current => seconds,
            seconds => seconds.max(own),
        };
        let over = i128::from(self.newest) + i128::from(seconds) * 1_000_000_000 <= i128::from(now);
        let is_last = record.renew_time == self.last.0 && now < self.last.1;
        let is_own = self.holds() && (now < self.own_until || is_last);
        over || self.current && (record.holder.is_empty() || is_own)
    }

    /// Gives up the lease (`election:LE-41`, strict: `LE-42`). `pause` is called between tries of
    /// the strict profile, with the time at which the release gives up.
    pub fn release<W: Surroundings>(
        &mut self,
        around: &mut W,
        mut pause: impl FnMut(&mut W, u64),
    ) -> bool {
        self.term = self.term.take().filter(|_| !self.strict());
        let deadline = around.now() + self.config.timing.renew.as_nanos() as u64;
        loop {
            if around.now() >= deadline {
                return false;
            }
            let Ok(read) = around.call(Io::Get) else { return false };
            let ours = if self.strict() {
                self.observe(&read, around.now());
                let record = &read.record;
                record.holder == self.config.identity && self.written == Some(record.transitions)
            } else {
                self.remembered = Some(read.version.clone());
                self.holds()
            };
            if !ours {
                return true;
            }
            if around.now() >= deadline {
                return false;
            }
            let record = Record::default()
                .duration_seconds(1)
                .renew_time(Some(around.wall()))
                .acquire_time(Some(around.wall()))
                .transitions(read.record.transitions);
            match self.overtaking(around, Io::Update(record, read.version)) {
                Ok(stored) => {
                    self.observed = (stored.record, around.now());
                    self.remembered = Some(stored.version);
                    return true;
                }
                Err(StoreError::Conflict) if self.strict() => pause(around, deadline),
                Err(StoreError::Conflict) => {}
                Err(_) => return false,
            }
        }
    }
}
