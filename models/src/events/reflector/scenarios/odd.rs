//! Odd and wrong answers of a server: versions that are no numbers, pages without end, streams that
//! end at once, changes among the first objects.

use std::time::Duration;

use seatrial_core::informer::SourceKind;
use seatrial_core::informer::reflector::Config;

use super::Happen::{Meet, Remove, Write};
use super::{Stage, failed, is_stream, setting, some, streaming, turns};
use crate::reflector::Reflector;
use crate::reflector::follower::Setting;
use crate::reflector::server::Trouble::{
    Bookmark, Breaks, Ends, Foreign, Garbled, PageRepeats, Versionless,
};
use crate::reflector::turn::{Asked, Reply, Told, Turned};
use crate::trial::{Scenario, sleeps};

pub(super) fn odd_versions() -> Scenario<Reflector> {
    Scenario::<Reflector>::new(
        "odd_versions",
        "changes arrive without a version, and with a version that the server does not understand",
        |world| {
            let stage = Stage::new(world, Setting::default(), &[]);
            stage.happen(&[Meet(Versionless), Write(1), Meet(Foreign)]);
            stage.sleep(20);
            stage.happen(&[Meet(Ends), Remove(1)]);
            stage.sleep(20);
            stage.happen(&[Meet(Garbled), Write(2)]);
            stage.sleep(20);
            stage.happen(&[Meet(Ends), Remove(0)]);
            stage.stop_at_rest();
        },
        |history| {
            let list = |turn: &Turned| matches!(turn.asked, Asked::List { .. });
            some(history, |turn| list(turn) && failed(turn, SourceKind::Invalid))
        },
    )
    .not_on(sleeps)
}

pub(super) fn short_streams() -> Scenario<Reflector> {
    let says = "streams end soon after they begin, again and again, and a page names itself as the next one";
    Scenario::<Reflector>::new(
        "short_streams",
        says,
        |world| {
            let config = Config::default().page_size(1).retry_internal(Duration::from_secs(30));
            let short = [Meet(Ends), Meet(Bookmark(0)), Meet(Ends)];
            let breaks = [Meet(Breaks(SourceKind::Internal)); 3];
            let repeats = [Meet(Breaks(SourceKind::Expired)), Meet(PageRepeats)];
            let all = [&short[..], &short, &breaks, &repeats].concat();
            let stage = Stage::new(world, Setting { objects: 2, ..setting(config) }, &all);
            stage.sleep(120);
            stage.happen(&[Remove(0)]);
            stage.stop_at_rest();
        },
        |history| {
            let ended = turns(history).filter(|turn| is_stream(turn) && turn.reply == Reply::Ended);
            ended.count() >= 3 && some(history, |turn| turn.reply == Reply::Stuck)
        },
    )
    .not_on(sleeps)
}

pub(super) fn changes_before_the_end() -> Scenario<Reflector> {
    Scenario::new(
        "changes_before_the_end",
        "changes and deletions are told by a stream before it tells the end of the first objects",
        |world| {
            let setting = Setting { objects: 2, ends_late: true, ..streaming() };
            let stage = Stage::new(world, setting, &[]);
            stage.happen(&[Write(1), Remove(0)]);
            stage.stop_at_rest();
        },
        |history| {
            let is_gone = |turn: &Turned| matches!(turn.reply, Reply::Told(Told::Gone(..)));
            some(history, |turn| is_gone(turn) && turn.given.is_none())
        },
    )
}
