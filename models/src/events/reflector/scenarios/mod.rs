//! Small programs with a reflector, while changes and trouble happen at its server. Each is named
//! by the case that it must reach.

use std::sync::Arc;
use std::time::Duration;

use seatrial_core::informer::SourceKind;
use seatrial_core::informer::reflector::Config;
use seatrial_core::monitor::Monitor;
use seatrial_core::runtime::{Ambient as _, Runtime};

use super::follower::{Answer, Begin, Follower, Happen, Setting, Stop, Turn};
use super::server::Trouble::{self, *};
use super::turn::{Asked, Given, Reply, Told, Turned};
use super::{History, Reflector};
use crate::engine::AnyRuntime;
use crate::trial::{Join, Scenario, World, sleeps};
use Happen::{Compact, Meet, Remove, Write};

pub(super) fn all() -> Vec<Scenario<Reflector>> {
    vec![
        follows_changes(),
        version_expires(),
        stream_ends(),
        server_is_busy(),
        server_is_behind(),
        bookmarks(),
        first_by_a_stream(),
        odd::changes_before_the_end(),
        first_stream_breaks(),
        cannot_stream(),
        pages(),
        list_is_refused(),
        resyncs(),
        stopped_anywhere(),
        odd::odd_versions(),
        odd::short_streams(),
    ]
}

/// A reflector on a thread of its own, and its server.
struct Stage {
    world: World<Reflector>,
    both: Arc<Monitor<Follower, AnyRuntime>>,
    turns: Join<()>,
}

impl Stage {
    /// Begins after the changes in `before`.
    fn new(world: &World<Reflector>, setting: Setting, before: &[Happen]) -> Self {
        let both = Arc::new(Monitor::new(world.runtime(), world.machine()));
        both.call(Begin(setting));
        for happen in before {
            both.call(*happen);
        }
        let own = Arc::clone(&both);
        let turns = world.spawn("reflector", move || while own.call(Turn).is_some() {});
        Self { world: world.clone(), both, turns }
    }

    fn happen(&self, all: &[Happen]) {
        for happen in all {
            self.both.call(*happen);
        }
    }

    /// Lets time pass, so that the reflector comes to rest.
    fn sleep(&self, seconds: u64) {
        let runtime = self.world.runtime();
        runtime.sleep_until(runtime.now() + Duration::from_secs(seconds));
    }

    fn stop(self) {
        self.both.call(Stop);
        self.world.join(self.turns);
    }

    /// Stops when no thread can move any more.
    fn stop_at_rest(self) {
        self.world.quiesce();
        self.stop();
    }
}

fn turns(history: &History) -> impl Iterator<Item = &Turned> {
    history.events.iter().filter_map(|event| match event.returned() {
        Some((_, Answer::Turn(Some(turn)))) => Some(&**turn),
        _ => None,
    })
}

fn some(history: &History, wanted: impl Fn(&Turned) -> bool) -> bool {
    turns(history).any(wanted)
}

fn failed(turn: &Turned, with: SourceKind) -> bool {
    matches!(turn.reply, Reply::Failed(kind, _) if kind == with)
}

fn is_stream(turn: &Turned) -> bool {
    matches!(turn.asked, Asked::Next { .. })
}

fn setting(config: Config) -> Setting {
    Setting { config, ..Setting::default() }
}

fn streaming() -> Setting {
    Setting { says_it_streams: true, streams: true, ..Setting::default() }
}

mod odd;

fn follows_changes() -> Scenario<Reflector> {
    Scenario::new(
        "follows_changes",
        "objects are stored, changed and deleted while a reflector lists and watches",
        |world| {
            let stage = Stage::new(world, Setting::default(), &[]);
            stage.happen(&[Write(1), Write(1), Remove(0), Write(0)]);
            stage.stop_at_rest();
        },
        |history| some(history, |turn| matches!(turn.reply, Reply::Told(Told::Gone(..)))),
    )
}

fn version_expires() -> Scenario<Reflector> {
    Scenario::<Reflector>::new(
        "version_expires",
        "the server forgets versions while a reflector is between two requests",
        |world| {
            let stage = Stage::new(world, Setting::default(), &[]);
            stage.happen(&[Write(1), Compact, Meet(Breaks(SourceKind::Expired))]);
            stage.sleep(60);
            stage.happen(&[Meet(Ends), Meet(Fails(SourceKind::Refused, 0)), Remove(0), Compact]);
            stage.happen(&[Meet(Lags)]); // never met: no list may have any version now
            stage.sleep(60);
            stage.happen(&[Meet(Breaks(SourceKind::Expired)), Meet(Fails(SourceKind::Expired, 0))]);
            stage.sleep(60);
            stage.happen(&[Meet(Breaks(SourceKind::Eof))]);
            stage.sleep(60);
            stage.happen(&[Meet(Breaks(SourceKind::Eof)), Meet(Fails(SourceKind::Expired, 0))]);
            stage.happen(&[Meet(Fails(SourceKind::Expired, 0))]);
            stage.stop_at_rest();
        },
        |history| {
            let newest = |turn: &Turned| match &turn.asked {
                Asked::List { version, .. } => version.is_empty(),
                _ => false,
            };
            some(history, newest)
                && some(history, |turn| is_stream(turn) && turn.reply == Reply::Ended)
        },
    )
    .not_on(sleeps)
}

fn stream_ends() -> Scenario<Reflector> {
    Scenario::<Reflector>::new(
        "stream_ends",
        "streams end at once, later, after a slow answer, and with errors",
        |world| {
            let config = Config::default().retry_internal(Duration::from_secs(30));
            let stage = Stage::new(world, setting(config), &[Meet(Ends)]);
            stage.sleep(20);
            stage.happen(&[Write(1), Meet(Ends)]);
            stage.sleep(5);
            stage.happen(&[Meet(IsSlow), Meet(Ends), Meet(Ends), Write(2)]);
            stage.sleep(20);
            stage.happen(&[Meet(Breaks(SourceKind::Internal)), Meet(Breaks(SourceKind::Internal))]);
            stage.sleep(20);
            stage.happen(&[Meet(Breaks(SourceKind::Internal)), Remove(0), Write(0)]);
            stage.sleep(20);
            stage.happen(&[Meet(Breaks(SourceKind::Internal)), Remove(1)]);
            stage.stop_at_rest();
        },
        |history| {
            let slow = |turn: &Turned| is_stream(turn) && turn.reply == Reply::Ended;
            turns(history).filter(|turn| slow(turn)).count() >= 3
        },
    )
    .not_on(sleeps)
}

fn server_is_busy() -> Scenario<Reflector> {
    Scenario::<Reflector>::new(
        "server_is_busy",
        "the server is too busy or unreachable for lists and streams",
        |world| {
            const BUSY: SourceKind = SourceKind::TooManyRequests;
            let busy = Meet(Fails(BUSY, 0));
            let setting = Setting { random: 0x9E37_79B9_7F4A_7C15, ..Setting::default() };
            let stage = Stage::new(world, setting, &[busy, busy]);
            stage.sleep(20);
            stage.happen(&[Meet(Ends), Meet(Fails(SourceKind::Refused, 0)), busy, Write(1)]);
            stage.sleep(100);
            stage.happen(&[Meet(Fails(BUSY, 7)), Write(0)]);
            stage.sleep(300);
            stage.happen(&[Meet(Breaks(SourceKind::Other)), Meet(Fails(BUSY, 60))]);
            stage.sleep(300);
            stage.happen(&[Meet(Ends), Meet(Fails(SourceKind::Other, 0))]);
            stage.stop_at_rest();
        },
        |history| {
            let waits = |turn: &Turned| matches!(turn.reply, Reply::Failed(_, after) if after > 0);
            turns(history).filter(|turn| waits(turn)).count() == 2
        },
    )
    .not_on(sleeps)
}

fn server_is_behind() -> Scenario<Reflector> {
    Scenario::<Reflector>::new(
        "server_is_behind",
        "a server that is behind answers that a version is too large",
        |world| {
            let too_large = Meet(Fails(SourceKind::TooLarge, 0));
            let stage = Stage::new(world, Setting::default(), &[Write(1), Write(1), Meet(Lags)]);
            stage.happen(&[Write(0), too_large, too_large]);
            stage.sleep(60);
            stage.happen(&[Meet(Breaks(SourceKind::Eof)), too_large, Remove(1)]);
            stage.stop_at_rest();
        },
        |history| {
            let list = |turn: &Turned| matches!(turn.asked, Asked::List { .. });
            some(history, |turn| list(turn) && failed(turn, SourceKind::TooLarge))
        },
    )
    .not_on(sleeps)
}

fn bookmarks() -> Scenario<Reflector> {
    Scenario::<Reflector>::new(
        "bookmarks",
        "bookmarks arrive, some late, and so do events that are not about the objects",
        |world| {
            let stage = Stage::new(world, Setting::default(), &[]);
            stage.happen(&[Write(1), Meet(Unnamed), Meet(Foreign), Meet(Bookmark(0))]);
            stage.sleep(5);
            stage.happen(&[Remove(1), Meet(Bookmark(1)), Meet(Ends)]);
            stage.stop_at_rest();
        },
        |history| some(history, |turn| matches!(turn.given, Some(Given::Bookmark(_)))),
    )
    .not_on(sleeps)
}

fn first_by_a_stream() -> Scenario<Reflector> {
    Scenario::new(
        "first_by_a_stream",
        "the first objects arrive by a stream and change meanwhile",
        |world| {
            let setting = Setting { objects: 2, ..streaming() };
            let stage = Stage::new(world, setting, &[Meet(FalseEnd)]);
            stage.happen(&[Write(2), Remove(0)]);
            stage.stop_at_rest();
        },
        |history| some(history, |turn| matches!(turn.reply, Reply::Told(Told::Bookmark(_, true)))),
    )
}

fn first_stream_breaks() -> Scenario<Reflector> {
    Scenario::<Reflector>::new(
        "first_stream_breaks",
        "streams with all objects break before they are complete, or are refused for now",
        |world| {
            let first: Vec<Happen> = [
                Fails(SourceKind::Refused, 0),
                Fails(SourceKind::Expired, 0),
                Foreign,
                Ends,
                FalseEnd,
                Ends,
                Breaks(SourceKind::TooManyRequests),
            ]
            .map(Meet)
            .to_vec();
            let stage = Stage::new(world, Setting { objects: 2, ..streaming() }, &first);
            stage.sleep(120);
            stage.happen(&[Write(2), Meet(Breaks(SourceKind::Eof)), Meet(FalseEnd), Meet(Ends)]);
            stage.sleep(30);
            stage.happen(&[Remove(0), Meet(Breaks(SourceKind::Eof)), Meet(FalseEnd), Meet(Ends)]);
            stage.happen(&[Meet(FalseEnd), Meet(Ends), Meet(FalseEnd), Meet(Ends)]);
            stage.sleep(300);
            stage
                .happen(&[Meet(Breaks(SourceKind::Expired)), Meet(Fails(SourceKind::TooLarge, 0))]);
            stage.stop_at_rest();
        },
        |history| {
            let newest = |turn: &Turned| {
                let Asked::Watch { version, initial: true, .. } = &turn.asked else { return false };
                version.is_empty()
            };
            some(history, |turn| matches!(turn.asked, Asked::List { .. })) && some(history, newest)
        },
    )
    .not_on(sleeps)
}

fn cannot_stream() -> Scenario<Reflector> {
    Scenario::<Reflector>::new(
        "cannot_stream",
        "a source says that it can stream all objects, and the server refuses that",
        |world| {
            let setting = Setting { says_it_streams: true, ..Setting::default() };
            let stage = Stage::new(world, setting, &[]);
            stage.happen(&[Write(1), Meet(Trouble::ListIsRefused)]);
            stage.stop_at_rest();
        },
        |history| {
            let refused = |turn: &Turned| {
                let all = matches!(turn.asked, Asked::Watch { initial: true, .. });
                all && failed(turn, SourceKind::Other)
            };
            some(history, refused)
        },
    )
    .not_on(sleeps)
}

fn pages() -> Scenario<Reflector> {
    Scenario::<Reflector>::new(
        "pages",
        "lists arrive in pages, and pages expire",
        |world| {
            let config = Config::default().page_size(1);
            let setting = Setting { objects: 3, ..setting(config) };
            let stage = Stage::new(world, setting, &[]);
            stage.happen(&[Meet(PageExpires), Remove(1)]);
            stage.sleep(10);
            stage.happen(&[Meet(Breaks(SourceKind::Eof)), Meet(PageExpires), Write(3)]);
            stage.sleep(60);
            stage.happen(&[Meet(Breaks(SourceKind::Eof)), Meet(PageExpires)]);
            stage.happen(&[Meet(Fails(SourceKind::Refused, 0))]);
            stage.stop_at_rest();
        },
        |history| {
            let later = |turn: &Turned| matches!(turn.asked, Asked::List { goes_on: true, .. });
            some(history, |turn| later(turn) && failed(turn, SourceKind::Expired))
        },
    )
    .not_on(sleeps)
}

fn list_is_refused() -> Scenario<Reflector> {
    Scenario::<Reflector>::new(
        "list_is_refused",
        "the consumer refuses lists that arrive by a list request and by a stream",
        |world| {
            let stage = Stage::new(world, streaming(), &[Meet(Trouble::ListIsRefused)]);
            stage.happen(&[Write(1)]);
            stage.sleep(10);
            let refused = Meet(Trouble::ListIsRefused);
            stage.happen(&[Remove(0), Meet(Breaks(SourceKind::Eof)), refused, refused, Write(2)]);
            stage.stop_at_rest();
        },
        |history| turns(history).filter(|turn| turn.refused).count() >= 2,
    )
    .not_on(sleeps)
}

fn resyncs() -> Scenario<Reflector> {
    Scenario::<Reflector>::new(
        "resyncs",
        "all objects are shown again every seven seconds, while streams end and lists arrive",
        |world| {
            let config = Config::default().resync(Duration::from_secs(7));
            let stage = Stage::new(world, setting(config), &[]);
            stage.sleep(5);
            stage.happen(&[Write(1), Meet(Ends)]);
            stage.sleep(4);
            stage.happen(&[Meet(Breaks(SourceKind::Eof))]);
            stage.sleep(10);
            stage.stop();
        },
        |history| turns(history).filter(|turn| turn.given == Some(Given::Resync)).count() >= 2,
    )
    .not_on(sleeps)
}

fn stopped_anywhere() -> Scenario<Reflector> {
    Scenario::new(
        "stopped_anywhere",
        "a reflector is stopped at any point of its work, also during a pause",
        |world| {
            let busy = Meet(Fails(SourceKind::TooManyRequests, 0));
            let stage = Stage::new(world, Setting::default(), &[busy]);
            stage.stop();
        },
        |history| turns(history).count() >= 1,
    )
}
