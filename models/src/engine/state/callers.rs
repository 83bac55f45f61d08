//! One machine and its callers, as a model.

use std::hash::Hash;
use std::marker::PhantomData;

use seatrial_core::machine::{CHANNELS, Channel, Cx, Machine, Step, Wakes};
use seatrial_core::runtime::{Ambient, Instant, WallTime};

use super::Model;

/// A machine, the programs of its callers, and what must hold.
pub trait World: Clone {
    /// The machine.
    type Machine: Machine<Op: Clone> + Clone;
    /// Where a caller stands: what it still has to do, and what it holds.
    type Caller: Clone;
    /// The form in which machines are compared.
    type View: Eq + Hash;
    /// The form in which callers are compared.
    type CallerView: Eq + Hash + Ord;

    /// Makes the machine.
    fn machine(&self) -> Self::Machine;

    /// Returns the callers at the beginning.
    fn callers(&self) -> Vec<Self::Caller>;

    /// Returns the next call, `None` if there is none.
    fn next(&self, caller: &Self::Caller) -> Option<<Self::Machine as Machine>::Op>;

    /// Tells a caller what its call returned.
    fn returned(&self, caller: &mut Self::Caller, ret: <Self::Machine as Machine>::Ret);

    /// Returns the machine in the form in which it is compared.
    fn view(&self, machine: &Self::Machine) -> Self::View;

    /// Returns a caller, and its call if one is under way, in the form in which they are compared.
    fn view_caller(
        &self,
        machine: &Self::Machine,
        caller: &Self::Caller,
        under_way: Option<&<Self::Machine as Machine>::Op>,
    ) -> Self::CallerView;

    /// Says what is wrong, if something is.
    fn wrong<'a>(
        &self,
        machine: &Self::Machine,
        callers: impl Iterator<Item = &'a Self::Caller> + Clone,
    ) -> Option<String>
    where
        Self: 'a;

    /// Says what is wrong after all calls have returned, if something is.
    fn wrong_at_end(&self, machine: &Self::Machine) -> Option<String>;

    /// Changes whom a step wakes: for mutants.
    fn edit(&self, wakes: &mut Wakes) {
        let _ = wakes;
    }
}

/// When the clock may jump to the earliest deadline.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Jumps {
    /// When nobody can move.
    #[default]
    AtStandstill,
    /// Whenever somebody waits for a deadline.
    AtAnyTime,
}

/// What happens in a step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Act {
    /// A caller runs one critical section; it wakes those.
    Step {
        /// The caller.
        caller: usize,
        /// Whom it wakes.
        wakes: Vec<usize>,
    },
    /// The clock jumps to the earliest deadline.
    Jump,
}

/// Where a caller is in its call.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Status {
    /// It can run a critical section: its next call, or the one that it was woken in.
    Awake,
    /// Its deadline has passed. It can go on; a wake-up may still be spent on it.
    Late(Channel),
    Asleep(Channel, Option<Instant>),
    Gone,
}

#[derive(Clone)]
struct Seat<W: World> {
    caller: W::Caller,
    status: Status,
    under_way: Option<<W::Machine as Machine>::Op>,
}

/// The state of a machine and its callers.
#[derive(Clone)]
pub struct State<W: World> {
    machine: W::Machine,
    seats: Vec<Seat<W>>,
    /// Who holds the lock between two operations.
    holder: Option<usize>,
    now: Instant,
}

impl<W: World> State<W> {
    /// Returns the callers.
    pub fn callers(&self) -> impl Iterator<Item = &W::Caller> + Clone {
        self.seats.iter().map(|seat| &seat.caller)
    }

    /// Returns the machine.
    pub fn machine(&self) -> &W::Machine {
        &self.machine
    }
}

impl<W: World> std::fmt::Debug for State<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").field("now", &self.now).finish_non_exhaustive()
    }
}

/// The model of a [`World`].
#[derive(Clone, Debug)]
pub struct Callers<W> {
    /// The machine and the programs.
    pub world: W,
    /// Whether states that differ by who is who are one state.
    pub symmetric: bool,
    /// When deadlines pass.
    pub jumps: Jumps,
}

/// The clock of one step.
struct At(Instant);

impl Ambient for At {
    fn now(&self) -> Instant {
        self.0
    }

    fn wall(&self) -> WallTime {
        WallTime::default()
    }

    fn entropy(&self) -> u64 {
        0
    }
}

impl<W: World> Callers<W> {
    fn seat(&self, caller: W::Caller) -> Seat<W> {
        let is_gone = self.world.next(&caller).is_none();
        let status = if is_gone { Status::Gone } else { Status::Awake };
        Seat { caller, status, under_way: None }
    }

    fn can_step(state: &State<W>, caller: usize) -> bool {
        matches!(state.seats[caller].status, Status::Awake | Status::Late(_))
            && state.holder.is_none_or(|holder| holder == caller)
    }

    /// Lets a caller run one critical section, and returns whom that wakes.
    fn step(&self, state: &mut State<W>, at: usize) -> Wakes {
        let seat = &mut state.seats[at];
        let next = seat.under_way.take().or_else(|| self.world.next(&seat.caller));
        let mut op = next.expect("whoever is awake has a call to make");
        let clock = At(state.now);
        let mut cx = Cx::new(&clock);
        let step = state.machine.step(&mut op, &mut cx);
        state.holder = matches!(step, Step::Held(_)).then_some(at);
        match step {
            Step::Done(ret) | Step::Held(ret) => {
                let mut caller = seat.caller.clone();
                self.world.returned(&mut caller, ret);
                *seat = self.seat(caller);
            }
            Step::Wait { on, until } => {
                let is_past = until.is_some_and(|until| until <= state.now);
                seat.status = if is_past { Status::Late(on) } else { Status::Asleep(on, until) };
                seat.under_way = Some(op);
            }
        }
        let mut wakes = cx.wakes;
        self.world.edit(&mut wakes);
        wakes
    }

    /// Appends every way in which wake-ups can be spent on those who slept before the step.
    fn spend(
        state: &State<W>,
        stepped: usize,
        wakes: Wakes,
        into: &mut Vec<(usize, Act, State<W>)>,
    ) {
        let mut ways: Vec<Vec<usize>> = vec![Vec::new()];
        for on in 0..CHANNELS as Channel {
            let sleepers: Vec<usize> = (0..state.seats.len())
                .filter(|&at| at != stepped && sleeps(state.seats[at].status, on))
                .collect();
            let choices = chosen(&sleepers, usize::from(wakes.get(on)).min(sleepers.len()));
            let longer = |way: &Vec<usize>| {
                let way = way.clone();
                choices.iter().map(move |choice| [way.as_slice(), choice].concat())
            };
            ways = ways.iter().flat_map(longer).collect();
        }
        for wakes in ways {
            let mut next = state.clone();
            wakes.iter().for_each(|&woken| next.seats[woken].status = Status::Awake);
            into.push((stepped, Act::Step { caller: stepped, wakes }, next));
        }
    }

    fn jump(state: &State<W>) -> Option<State<W>> {
        let armed = state.seats.iter().filter_map(|seat| match seat.status {
            Status::Asleep(_, until) => until.filter(|until| *until != Instant::NEVER),
            _ => None,
        });
        let mut next = State { now: armed.min()?, ..state.clone() };
        for seat in &mut next.seats {
            if let Status::Asleep(on, Some(until)) = seat.status
                && until <= next.now
            {
                seat.status = Status::Late(on);
            }
        }
        Some(next)
    }
}

fn sleeps(status: Status, on: Channel) -> bool {
    matches!(status, Status::Asleep(place, _) | Status::Late(place) if place == on)
}

/// Returns every choice of so many of some sleepers.
fn chosen(sleepers: &[usize], count: usize) -> Vec<Vec<usize>> {
    let Some((first, rest)) = sleepers.split_first().filter(|_| count > 0) else {
        return vec![Vec::new()];
    };
    let with = chosen(rest, count - 1).into_iter().map(|mut others| {
        others.insert(0, *first);
        others
    });
    let without = if rest.len() >= count { chosen(rest, count) } else { Vec::new() };
    with.chain(without).collect()
}

/// The form in which states are compared: the machine, the callers, who holds the lock, the time.
type Compared<W> =
    (<W as World>::View, Vec<(<W as World>::CallerView, Status, bool)>, Instant, PhantomData<W>);

/// The form in which states of [`Callers`] are compared.
pub struct Key<W: World>(Compared<W>);

impl<W: World> PartialEq for Key<W> {
    fn eq(&self, other: &Self) -> bool {
        let ((view, callers, now, _), (view2, callers2, now2, _)) = (&self.0, &other.0);
        view == view2 && callers == callers2 && now == now2
    }
}

impl<W: World> Eq for Key<W> {}

impl<W: World> std::fmt::Debug for Key<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Key").field("now", &self.0.2).finish_non_exhaustive()
    }
}

impl<W: World> Hash for Key<W> {
    fn hash<H: std::hash::Hasher>(&self, hasher: &mut H) {
        self.0.0.hash(hasher);
        self.0.1.hash(hasher);
        self.0.2.hash(hasher);
    }
}

impl<W: World> Model for Callers<W> {
    type State = State<W>;
    type Key = Key<W>;
    type Action = Act;

    fn initial(&self) -> State<W> {
        let seats = self.world.callers().into_iter().map(|caller| self.seat(caller)).collect();
        State { machine: self.world.machine(), seats, holder: None, now: Instant::ZERO }
    }

    fn steps(&self, state: &State<W>, into: &mut Vec<(usize, Act, State<W>)>) {
        for caller in (0..state.seats.len()).filter(|&caller| Self::can_step(state, caller)) {
            let mut next = state.clone();
            let wakes = self.step(&mut next, caller);
            Self::spend(&next, caller, wakes, into);
        }
        let may_jump = into.is_empty() || self.jumps == Jumps::AtAnyTime && state.holder.is_none();
        if let Some(next) = Self::jump(state).filter(|_| may_jump) {
            into.push((state.seats.len(), Act::Jump, next));
        }
    }

    fn key(&self, state: &State<W>) -> Key<W> {
        let view = |(at, seat): (usize, &Seat<W>)| {
            let under_way = seat.under_way.as_ref();
            let caller = self.world.view_caller(&state.machine, &seat.caller, under_way);
            (caller, seat.status, state.holder == Some(at))
        };
        let mut callers: Vec<_> = state.seats.iter().enumerate().map(view).collect();
        if self.symmetric {
            callers.sort();
        }
        Key((self.world.view(&state.machine), callers, state.now, PhantomData))
    }

    fn wrong(&self, state: &State<W>) -> Option<String> {
        self.world.wrong(&state.machine, state.callers())
    }

    fn wrong_at_end(&self, state: &State<W>) -> Option<String> {
        let left: Vec<usize> =
            (0..state.seats.len()).filter(|&at| state.seats[at].status != Status::Gone).collect();
        if left.is_empty() {
            return self.world.wrong_at_end(&state.machine);
        }
        Some(format!("callers {left:?} sleep for ever"))
    }
}
