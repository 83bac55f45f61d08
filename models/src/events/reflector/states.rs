//! A reflector and its server as states: the reflector takes its turns, callers let things happen,
//! and one caller stops it at rest. The promise: on every path it comes to rest, with the server's
//! objects.

use seatrial_core::informer::SourceKind;
use seatrial_core::informer::reflector::Config;
use seatrial_core::machine::{Cx, Operation as _, Step};

use super::Reflector;
use super::follower::{Answer, Begin, Call, Follower, Happen, Setting, StopAtRest, Turn};
use super::server::Trouble::{Breaks, Ends, Fails, FalseEnd, PageExpires};
use super::tried::Bend;
use crate::engine::state::{
    Bytes, Explored, Jumps, Moment, Place, Programs, Rules as May, WakeUps, Wrong,
};
use crate::single_step::{HandClock, hash};
use crate::trial::{Component as _, Simulation, States};
use Happen::{Compact, Meet, Remove, Write};

/// One instruction of a caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Do {
    /// Takes turns until the reflector has stopped.
    Turns,
    /// Lets something happen.
    Lets(Happen),
    /// Stops the reflector once this many things have happened and it is at rest.
    Stops(u32),
}

/// A reflector, and the callers that let things happen.
#[derive(Clone, Debug)]
pub(super) struct AtServer {
    programs: Programs<Do>,
    setting: Setting,
    bend: Bend,
}

/// The programs of three groups of callers: those in `others`, one that stops everything once all
/// has happened and is at rest, and those that let things happen.
pub(crate) fn programs<D: Copy + PartialEq>(
    others: &[&[D]],
    happen: &[&[Happen]],
    lets: fn(Happen) -> D,
    stops: fn(u32) -> D,
) -> Programs<D> {
    let count: usize = happen.iter().map(|it| it.len()).sum();
    let stops = [stops(u32::try_from(count).expect("little happens"))];
    let happen: Vec<Vec<D>> =
        happen.iter().map(|it| it.iter().map(|it| lets(*it)).collect()).collect();
    let happen = happen.iter().map(Vec::as_slice);
    let all: Vec<&[D]> = others.iter().copied().chain([&stops[..]]).chain(happen).collect();
    Programs::new(&all)
}

impl AtServer {
    pub(super) fn new(setting: Setting, happen: &[&[Happen]]) -> Self {
        let programs = programs(&[&[Do::Turns]], happen, Do::Lets, Do::Stops);
        Self { programs, setting, bend: Bend::NONE }
    }

    /// The same with a mistake.
    pub(super) fn bent(self, bend: Bend) -> Self {
        Self { bend, ..self }
    }
}

pub(super) fn changes() -> AtServer {
    let expires = [Compact, Meet(Breaks(SourceKind::Expired))];
    AtServer::new(Setting::default(), &[&[Write(1), Remove(0), Write(0)], &expires])
}

fn trouble() -> AtServer {
    let busy = Meet(Fails(SourceKind::TooManyRequests, 0));
    let behind = [busy, Meet(Fails(SourceKind::TooLarge, 0)), Meet(Ends)];
    AtServer::new(Setting::default(), &[&[Write(0), Remove(0)], &behind])
}

pub(super) fn streamed() -> AtServer {
    let setting = Setting { says_it_streams: true, streams: true, ..Setting::default() };
    let breaks = [Meet(FalseEnd), Meet(Ends), Meet(Fails(SourceKind::Expired, 0))];
    AtServer::new(setting, &[&[Write(1), Remove(0)], &breaks])
}

fn paged() -> AtServer {
    let config = Config::default().page_size(1);
    let setting = Setting { objects: 2, config, ..Setting::default() };
    AtServer::new(setting, &[&[Remove(1), Write(2)], &[Meet(PageExpires), Meet(Ends)]])
}

/// A model: its name, what happens, and how it is made.
type Named = (&'static str, &'static str, fn() -> AtServer);

/// Lists the models.
pub(super) fn all() -> Vec<Box<dyn Simulation<Reflector>>> {
    const RULES: May =
        May { symmetric: false, jumps: Jumps::AtAnyTime, wake_ups: WakeUps::Any, spurious: 0 };
    let models: [Named; 4] = [
        ("states_of_changes", "objects change, versions expire, and a stream breaks", changes),
        (
            "states_of_trouble",
            "objects change, and a server is busy, is behind, and ends streams",
            trouble,
        ),
        (
            "states_of_streamed_lists",
            "objects change while a stream delivers all of them",
            streamed,
        ),
        ("states_of_pages", "objects change between pages, and pages expire", paged),
    ];
    let model = |(name, says, subject)| {
        let judges = &["comes_to_the_state"];
        Box::new(States { name, says, judges, subject, rules: RULES }) as Box<dyn Simulation<_>>
    };
    models.into_iter().map(model).collect()
}

impl Explored for AtServer {
    type Machine = Follower;
    type Caller = Place;

    fn machine(&self) -> Follower {
        let mut follower = Follower::bent(self.bend);
        let clock = HandClock::default();
        let begun = Begin(self.setting.clone()).step(&mut follower, &mut Cx::new(&clock));
        assert!(matches!(begun, Step::Done(())), "the stage is set at once");
        follower
    }

    fn callers(&self) -> Vec<Place> {
        self.programs.places()
    }

    fn next(&self, at: &Place) -> Option<Call> {
        Some(match self.programs.call(*at)? {
            Do::Turns => Call::Turn(Turn),
            Do::Lets(happen) => Call::Happen(happen),
            Do::Stops(count) => Call::StopAtRest(StopAtRest(count)),
        })
    }

    fn returned(&self, at: &mut Place, ret: Answer) {
        if !matches!(ret, Answer::Turn(Some(_))) {
            at.advance();
        }
    }

    fn view(&self, machine: &Follower, into: &mut Bytes) {
        into.number(hash(&machine.form()));
    }

    fn view_caller(&self, _: &Follower, caller: &Place, _: Option<&Call>, into: &mut Bytes) {
        self.programs.view(*caller, into);
    }

    fn wrong<'a>(
        &self,
        at: Moment<'_, Follower>,
        _: impl Iterator<Item = &'a Place> + Clone,
    ) -> Option<Wrong> {
        let follower = at.machine;
        let newest = follower.server.at(u64::MAX);
        let differs = follower.is_at_rest() && follower.view != newest;
        differs.then(|| {
            let text = format!("it rests with {:?}, the server has {newest:?}", follower.view);
            Wrong::new("comes_to_the_state", text)
        })
    }

    /// The reflector is at rest after all changes.
    fn reaches<'a>(&self, machine: &Follower, _: impl Iterator<Item = &'a Place> + Clone) -> bool {
        machine.is_at_rest()
    }

    fn describe(&self, call: &Call, outcome: &Step<Answer>) -> String {
        Reflector::describe(call, outcome)
    }
}
