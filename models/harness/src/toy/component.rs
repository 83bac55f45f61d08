//! The programs as components, so that the command line runs them. It is known beforehand in which
//! of them an engine should find a bug.

use super::Program;
use crate::engine::Engine;
use crate::trial::{
    Component, HistoryOf, Invariant, MachineOf, NoMachine, Scenario, Violation, World,
};

/// Programs without a bug, whose numbers of traces are known.
#[derive(Clone, Copy, Debug)]
pub struct Toy;

/// Programs with a known bug, which every engine that can hold them must find.
#[derive(Clone, Copy, Debug)]
pub struct ToyBugs;

impl Component for Toy {
    type Machine = NoMachine;

    const NAME: &'static str = "toy";
    const SAYS: &'static str = "small programs with a known number of traces";

    fn machine() -> MachineOf<Self> {
        Box::new(NoMachine)
    }

    fn scenarios() -> Vec<Scenario<Self>> {
        COUNTED.iter().map(Counted::scenario).collect()
    }

    /// A program panics if it is broken, which is judged for every component.
    fn invariants() -> Vec<Invariant<Self>> {
        Vec::new()
    }
}

impl Component for ToyBugs {
    type Machine = NoMachine;

    const NAME: &'static str = "toy_bugs";
    const SAYS: &'static str = "small programs with a known bug that every engine must find";

    fn machine() -> MachineOf<Self> {
        Box::new(NoMachine)
    }

    fn scenarios() -> Vec<Scenario<Self>> {
        BUGGY.iter().map(Buggy::scenario).collect()
    }

    fn invariants() -> Vec<Invariant<Self>> {
        let never = Invariant::always(
            "never_shows_its_bug",
            "no thread sees the known bug of the program",
            &[],
            never_shows_its_bug,
        );
        vec![never.expected_to_break()]
    }
}

/// The note that a buggy program makes when its bug shows.
const BUG: &str = "bug";

fn never_shows_its_bug(history: &HistoryOf<ToyBugs>) -> Result<(), Violation> {
    let shown = history.events.iter().position(|event| event.noted(BUG).is_some());
    shown.map_or(Ok(()), |at| Err(Violation::at(at, "the known bug shows")))
}

/// A program without a bug.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counted {
    pub(super) name: &'static str,
    says: &'static str,
    pub(super) program: Program,
    /// Whether condition variables wake only the thread that has waited longest.
    in_order: bool,
    /// How many traces it has.
    pub(super) traces: u64,
    /// Why loom cannot hold it.
    beyond_loom: Option<&'static str>,
}

impl Counted {
    fn scenario(&'static self) -> Scenario<Toy> {
        let run = |world: &_| attempt(self.program, world);
        let scenario = Scenario::new(self.name, self.says, run, |history| history.finished())
            .traces(self.traces)
            .not_on(|engine| self.beyond_loom.filter(|_| engine == Engine::Loom));
        if self.in_order { scenario.wakes_in_order() } else { scenario }
    }
}

/// Runs a program, and notes its bug if it shows.
fn attempt<C: Component>(program: Program, world: &World<C>) {
    if program.attempt(world.runtime()).is_err() {
        world.note(BUG, 1);
    }
}

const MANY_THREADS: &str = "loom runs at most five threads";
const LONG: &str = "loom would run millions of executions";

const fn workers(producers: u8, adds: u8, workers: u8) -> Program {
    Program::Workers { producers, adds, workers }
}

const fn handoff(nested: bool, producers: u8) -> Program {
    Program::Handoff { nested, producers }
}

/// Makes the value of a program.
const fn counted(
    name: &'static str,
    program: Program,
    traces: u64,
    beyond_loom: Option<&'static str>,
    says: &'static str,
) -> Counted {
    Counted { name, says, program, in_order: false, traces, beyond_loom }
}

pub(super) const COUNTED: &[Counted] = &[
    counted(
        "2p1a1w",
        workers(2, 1, 1),
        76,
        None,
        "two producers add once each, and one worker takes the items",
    ),
    counted(
        "2p2a1w",
        workers(2, 2, 1),
        5_124,
        Some(LONG),
        "two producers add twice each, and one worker takes the items",
    ),
    counted(
        "2p1a2w",
        workers(2, 1, 2),
        9_104,
        Some(LONG),
        "two producers add once each, and two workers take the items",
    ),
    Counted {
        in_order: true,
        ..counted(
            "2p1a2w_in_order",
            workers(2, 1, 2),
            8_144,
            Some(LONG),
            "two producers add once each, and two workers wake in the order of their waits",
        )
    },
    counted(
        "pair",
        Program::Pair,
        5_776,
        Some(MANY_THREADS),
        "two queues, each with two producers and a worker",
    ),
    counted("handoff_1p", handoff(false, 1), 24, None, "an item moves from one list to another"),
    counted(
        "handoff_2p",
        handoff(false, 2),
        720,
        Some(MANY_THREADS),
        "two items move from one list to another",
    ),
    counted(
        "handoff_nested_1p",
        handoff(true, 1),
        24,
        None,
        "an item moves from one list to another under both locks",
    ),
    counted(
        "handoff_nested_2p",
        handoff(true, 2),
        720,
        Some(MANY_THREADS),
        "two items move from one list to another under both locks",
    ),
    counted(
        "3p1a2w",
        workers(3, 1, 2),
        734_256,
        Some(MANY_THREADS),
        "three producers add once each, and two workers take the items",
    ),
    counted(
        "2p2a2w",
        workers(2, 2, 2),
        13_992_840,
        Some(LONG),
        "two producers add twice each, and two workers take the items",
    ),
];

/// A program with a known bug.
#[derive(Clone, Copy, Debug)]
struct Buggy {
    name: &'static str,
    says: &'static str,
    program: Program,
    /// Whether it is small enough for the engines that explore everything.
    small: bool,
}

impl Buggy {
    fn scenario(&'static self) -> Scenario<ToyBugs> {
        let run = |world: &_| attempt(self.program, world);
        Scenario::new(self.name, self.says, run, |history| history.finished())
            .free_deadlines(u32::from(self.program == Program::Impatient))
            .not_on(|engine| self.refuses(engine))
    }

    fn refuses(&self, engine: Engine) -> Option<&'static str> {
        match engine {
            Engine::Threads => {
                Some("the window is nanoseconds wide: real threads rarely meet in it")
            }
            Engine::Loom if matches!(self.program, Program::Reorder { .. }) => Some(MANY_THREADS),
            Engine::Loom | Engine::Trace if !self.small => {
                Some("too many threads to try all orders")
            }
            _ => None,
        }
    }
}

const fn buggy(name: &'static str, program: Program, small: bool, says: &'static str) -> Buggy {
    Buggy { name, says, program, small }
}

const fn reorder(threads: u8) -> Program {
    Program::Reorder { threads, started: false }
}

const BUGGY: &[Buggy] = &[
    buggy(
        "reorder_5",
        reorder(5),
        true,
        "four threads set two values, one reads between the writes",
    ),
    buggy(
        "reorder_10",
        reorder(10),
        false,
        "nine threads set two values, one reads between the writes",
    ),
    buggy(
        "reorder_100",
        reorder(100),
        false,
        "99 threads set two values, one reads between the writes",
    ),
    buggy(
        "twostage_20",
        Program::TwoStage(20),
        false,
        "19 threads derive a value from another, one reads between the writes",
    ),
    buggy(
        "twostage_100",
        Program::TwoStage(100),
        false,
        "99 threads derive a value from another, one reads between the writes",
    ),
    buggy("stack", Program::Stack, true, "one thread pushes, and another pops from an empty stack"),
    buggy("bluetooth", Program::Bluetooth, true, "a driver is stopped before it counts a request"),
    buggy(
        "impatient",
        Program::Impatient,
        true,
        "a deadline passes while another thread is still on its way",
    ),
    buggy("stringbuffer", Program::StringBuffer, true, "a text shrinks while it is copied"),
];
