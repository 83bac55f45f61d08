//! Small programs with a watch, each named by the case that it must reach.

use seatrial_core::request::TransportKind;
use seatrial_core::runtime::Runtime;

use super::away::TheCallerIsAway;
use super::machine::{Call, IDLE, LONGEST, Told};
use super::pieces::{
    ADDED, BOOKMARK, DELETED, ERROR, HALVES, LETTER, MODIFIED, NONSENSE, TURNED, UNENDED, line_of,
};
use super::{History, Watch};
use crate::queues::fixtures::{caller, in_turns};
use crate::shared::Shared;
use crate::trial::{DynScenario, Scenario, World};

pub(super) fn all() -> Vec<Box<dyn DynScenario<Watch>>> {
    vec![
        Box::new(EventsInPieces),
        Box::new(ServersSayNonsense),
        Box::new(LinesAtTheLimit),
        Box::new(AServerIsSilent),
        Box::new(TheCallerIsAway),
        Box::new(ConnectionsEnd),
        Box::new(CancelledWhileEventsCome),
    ]
}

impl<R: Runtime> Shared<R, Watch> {
    fn comes(&self, bytes: impl AsRef<[u8]>) {
        self.call(Call::Bytes(bytes.as_ref().to_vec()));
    }

    fn ends(&self, how: Option<TransportKind>) {
        self.call(Call::Ends(how));
    }

    fn begin(&self) {
        self.call(Call::Begin);
    }
}

/// Whether items that meet a condition were told at least this many times.
fn tells(history: &History, wanted: fn(&Told) -> bool, count: usize) -> bool {
    let said = history.events.iter().filter_map(|event| Some(&event.returned()?.1.told));
    said.flatten().filter(|told| wanted(told)).count() >= count
}

/// Events are cut at any point, or come together.
struct EventsInPieces;

impl Scenario<Watch> for EventsInPieces {
    const NAME: &'static str = "events_in_pieces";
    const SAYS: &'static str =
        "events come in pieces that are cut in a word or a letter, or several at once";

    fn run<R: Runtime>(&self, world: &World<R, Watch>) {
        let watch = Shared::new(world);
        watch.comes(ADDED);
        HALVES.iter().for_each(|half| watch.comes(half));
        LETTER.iter().for_each(|half| watch.comes(half));
        watch.comes([ADDED, MODIFIED, "\n", BOOKMARK, " \r\n", DELETED].concat());
        watch.comes("\n");
        watch.comes(TURNED);
        watch.comes([TURNED, UNENDED].concat());
        watch.ends(None);
    }

    fn reaches(history: &History) -> bool {
        tells(history, |told| matches!(told, Told::Event(..)), 10)
    }
}

/// A server sends input without sense, or an error.
struct ServersSayNonsense;

impl Scenario<Watch> for ServersSayNonsense {
    const NAME: &'static str = "servers_say_nonsense";
    const SAYS: &'static str = "a server sends invalid input, or an error, and goes on";

    fn run<R: Runtime>(&self, world: &World<R, Watch>) {
        let watch = Shared::new(world);
        for nonsense in NONSENSE {
            watch.begin();
            watch.comes([ADDED.as_bytes(), nonsense, DELETED.as_bytes()].concat());
            watch.comes(ADDED);
        }
        watch.begin();
        watch.comes(ERROR);
        watch.comes(ADDED);
        watch.begin();
        watch.comes([ERROR, DELETED].concat());
    }

    fn reaches(history: &History) -> bool {
        tells(history, |told| *told == Told::Nonsense, NONSENSE.len())
    }
}

/// Lines of exactly the longest length, and longer ones.
struct LinesAtTheLimit;

impl Scenario<Watch> for LinesAtTheLimit {
    const NAME: &'static str = "lines_at_the_limit";
    const SAYS: &'static str =
        "lines have the longest allowed length, or are longer, complete or not";

    fn run<R: Runtime>(&self, world: &World<R, Watch>) {
        let watch = Shared::new(world);
        watch.comes(line_of(LONGEST));
        watch.comes([ADDED, MODIFIED, DELETED].concat());
        watch.comes(line_of(LONGEST + 1));
        watch.begin();
        watch.comes(vec![b' '; LONGEST]);
        watch.comes("\n");
        watch.comes([ADDED.as_bytes(), &[b' '; LONGEST + 1]].concat());
        watch.comes("\n");
    }

    fn reaches(history: &History) -> bool {
        tells(history, |told| *told == Told::TooLong, 2)
    }
}

/// A server is silent for almost as long as it may be, and then for longer.
struct AServerIsSilent;

impl Scenario<Watch> for AServerIsSilent {
    const NAME: &'static str = "a_server_is_silent";
    const SAYS: &'static str =
        "a server is silent for almost the allowed time, then for longer; the caller waits anew";

    fn run<R: Runtime>(&self, world: &World<R, Watch>) {
        let watch = Shared::new(world);
        let almost = || drop(watch.call(Call::Silence(IDLE - 1)));
        almost();
        watch.comes(ADDED);
        almost();
        watch.comes("\n");
        almost();
        watch.comes(HALVES[0]);
        almost();
        watch.call(Call::Again(Vec::new()));
        watch.call(Call::Silence(1));
        watch.comes(HALVES[1]);
    }

    fn reaches(history: &History) -> bool {
        tells(history, |told| *told == Told::End, 1)
    }
}

/// Connections end in every way, with a line that is not ended.
struct ConnectionsEnd;

impl Scenario<Watch> for ConnectionsEnd {
    const NAME: &'static str = "connections_end";
    const SAYS: &'static str = "bodies end in every way, within a line and after it";

    fn run<R: Runtime>(&self, world: &World<R, Watch>) {
        use TransportKind::{ConnectionLost, Eof, Other, Reset, Timeout};
        let watch = Shared::new(world);
        for rest in [HALVES[0], UNENDED, "]", " "] {
            watch.begin();
            watch.comes([ADDED, rest].concat());
            watch.ends(None);
            watch.comes(ADDED);
        }
        for kind in [Eof, Reset, Timeout, ConnectionLost, Other] {
            watch.begin();
            watch.comes([ADDED, UNENDED].concat());
            watch.ends(Some(kind));
        }
    }

    fn reaches(history: &History) -> bool {
        tells(history, |told| *told == Told::End, 9)
    }
}

/// A watch is cancelled while events come.
struct CancelledWhileEventsCome;

impl Scenario<Watch> for CancelledWhileEventsCome {
    const NAME: &'static str = "cancelled_while_events_come";
    const SAYS: &'static str =
        "the token of a watch ends between two events, or while an event waits";

    fn run<R: Runtime>(&self, world: &World<R, Watch>) {
        let watch = Shared::new(world);
        let other = caller(world, "other", &watch, |watch| {
            watch.call(Call::Cancel(DELETED.into()));
        });
        watch.comes(ADDED);
        watch.comes(HALVES[0]);
        watch.comes(HALVES[1]);
        world.join(other);
        watch.comes(ADDED);
    }

    fn reaches(history: &History) -> bool {
        in_turns(history)
    }
}
