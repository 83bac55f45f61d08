//! The schedules, one function each. Node 0 is A, the first leader; B and C are candidates.

use std::time::Duration;

use seatrial_core::elector::{Bounds, Config, ConfigError, Timing};

use super::script::{Calls, Script};
use super::{Outcome, Schedule};
use crate::cluster::Fate;
use crate::cluster::faults::{Action, After};
use crate::cluster::world::{NodeSetup, Setup};
use crate::election::plain::by_reference;

const SECOND: u64 = 1_000_000_000;
const A: u8 = 0;
const B: u8 = 1;
/// A time after the end of every run that is simulated here.
const NEVER: u64 = u64::MAX;

/// Seconds as nanoseconds.
const fn s(seconds: f64) -> u64 {
    (seconds * SECOND as f64) as u64
}

const TWO_LEADERS: Outcome = Outcome::Breaks(&["one_leader", "one_leader_per_lease_window"]);

/// Every schedule.
pub const SCHEDULES: &[Schedule] = &[
    Schedule {
        name: "slow_reply",
        rule: "election:CX-1",
        says: "the answer to a renewal is late, then the leader is cut off",
        classic: TWO_LEADERS,
        strict: Outcome::Holds,
        make: slow_reply,
    },
    Schedule {
        name: "release_before_stop",
        rule: "election:CX-2",
        says: "a leader that could not renew frees the lease before its work has stopped",
        classic: TWO_LEADERS,
        strict: Outcome::Holds,
        make: release_before_stop,
    },
    Schedule {
        name: "release_of_a_foreign_lease",
        rule: "election:CX-3",
        says: "a late release frees the lease of the successor",
        classic: Outcome::Breaks(&["releases_are_of_the_own_lease", "one_leader"]),
        strict: Outcome::Holds,
        make: release_of_a_foreign_lease,
    },
    Schedule {
        name: "observed_loss_ignored",
        rule: "election:CX-4",
        says: "an administrator gives the lease away, and the leader sees it and goes on",
        classic: TWO_LEADERS,
        strict: Outcome::FencedOverlap { at_most: 2 * SECOND },
        make: observed_loss_ignored,
    },
    Schedule {
        name: "pause",
        rule: "election:CX-5",
        says: "a process is paused between looking whether it may act and acting",
        classic: TWO_LEADERS,
        strict: Outcome::FencedOverlap { at_most: 20 * SECOND },
        make: pause,
    },
    Schedule {
        name: "clock_stall",
        rule: "election:CX-6",
        says: "a machine is suspended, and its clock with it",
        classic: TWO_LEADERS,
        strict: Outcome::FencedOverlap { at_most: 60 * SECOND },
        make: clock_stall,
    },
    Schedule {
        name: "fractional_lease",
        rule: "election:CX-7",
        says: "the stored lease is shorter than the configured one",
        classic: TWO_LEADERS,
        strict: Outcome::Refused(ConfigError::LeaseNotWholeSeconds),
        make: fractional_lease,
    },
    Schedule {
        name: "raw_collision",
        rule: "election:CX-8",
        says: "renewals within one second look alike, on a healthy network",
        classic: TWO_LEADERS,
        strict: Outcome::Holds,
        make: raw_collision,
    },
    Schedule {
        name: "frozen_wall_clock",
        rule: "election:CX-9",
        says: "the leader's wall clock stands still, so that its renewals look alike",
        classic: TWO_LEADERS,
        strict: Outcome::Holds,
        make: frozen_wall_clock,
    },
    Schedule {
        name: "abandoned_acquisition",
        rule: "election:CX-10",
        says: "a run is cancelled while it creates the lease, which is created nevertheless",
        classic: Outcome::Leads { node: B, from: s(16.0), to: s(20.0) },
        strict: Outcome::Leads { node: B, from: s(1.0), to: s(2.0) },
        make: abandoned_acquisition,
    },
    Schedule {
        name: "zero_duration",
        rule: "election:CX-11",
        says: "another program removes the duration from the lease of a leader",
        classic: TWO_LEADERS,
        strict: Outcome::Holds,
        make: zero_duration,
    },
    Schedule {
        name: "flip_flopping_reads",
        rule: "election:CX-12",
        says: "a dead leader's record is read from a fresh and a lagging replica in turn",
        classic: Outcome::Leads { node: B, from: s(200.0), to: NEVER },
        strict: Outcome::Leads { node: B, from: s(30.0), to: s(20.5 + 23.8) },
        make: flip_flopping_reads,
    },
    Schedule {
        name: "late_first_renewal",
        rule: "election:CX-13",
        says: "the first renewal looks like the acquisition, and its answer is late",
        classic: TWO_LEADERS,
        strict: Outcome::Holds,
        make: late_first_renewal,
    },
    Schedule {
        name: "late_acquisition_reply",
        rule: "election:CX-14",
        says: "the answer to the creation comes after the lease has run out",
        classic: TWO_LEADERS,
        strict: Outcome::Holds,
        make: late_acquisition_reply,
    },
    Schedule {
        name: "fast_path_over_a_foreign_lease",
        rule: "election:CX-15",
        says: "a run that begins again renews with the version of the successor's record",
        classic: Outcome::Breaks(&["transitions_count_terms", "one_leader"]),
        strict: Outcome::Holds,
        make: fast_path_over_a_foreign_lease,
    },
    Schedule {
        name: "no_slack",
        rule: "election:SF-9",
        says: "15/14/5: retry and renew take longer than the lease, and the leader is cut off",
        classic: TWO_LEADERS,
        strict: Outcome::Holds,
        make: no_slack,
    },
    Schedule {
        name: "cut_off_with_slack",
        rule: "election:SF-9",
        says: "15/10/2: the leader is cut off, and stops before the lease may be taken",
        classic: Outcome::Holds,
        strict: Outcome::Holds,
        make: cut_off_with_slack,
    },
];

/// The set-up of every schedule, unless it says otherwise: 15/10/2, perfect clocks.
pub(super) fn config(strict: bool) -> Config {
    let config = Config::new("").bounds(Bounds::PERFECT);
    if strict { config } else { by_reference(config) }
}

/// A cluster in which A starts at once and the others start at the given seconds.
fn cluster(config: Config, starts: &[f64]) -> Setup {
    let node = |starts: f64| NodeSetup { starts_at: s(starts), ..NodeSetup::default() };
    let mut nodes = vec![NodeSetup::default()];
    nodes.extend(starts.iter().map(|starts| node(*starts)));
    Setup {
        config,
        nodes,
        client_timeout: Some(Duration::from_secs(5)),
        actions: Vec::new(),
        horizon: s(200.0),
        probe: true,
    }
}

/// B reads at 20.04 s, right after A's renewal at 20 s, and at 35.07 s, right after that lease.
fn polls_at_the_worst_time(script: Script) -> Script {
    script.polls_every(B, s(2.505), s(2.0))
}

fn slow_reply(config: Config) -> (Setup, Script) {
    let script = Script::default()
        .rule(A, s(20.0), s(20.0) + 1, Calls::Writes, Fate::reply_after(s(4.5)))
        .rule(A, s(20.0) + 1, NEVER, Calls::All, Fate::LOST);
    (cluster(config, &[0.0]), polls_at_the_worst_time(script))
}

fn release_before_stop(config: Config) -> (Setup, Script) {
    let config = config.release_on_cancel(true);
    let script = Script::default().rule(A, s(21.0), s(32.0), Calls::Writes, Fate::REFUSED).rule(
        A,
        s(32.0),
        NEVER,
        Calls::Writes,
        Fate::reply_after(s(3.0)),
    );
    (cluster(config, &[0.5]), script)
}

fn release_of_a_foreign_lease(config: Config) -> (Setup, Script) {
    let config = config.release_on_cancel(true);
    let late = Fate { request: Some(s(3.5)), reply: Some(s(0.5)), ..Fate::INSTANT };
    let script = Script::default().rule(A, s(20.0) + 1, s(32.0), Calls::All, Fate::LOST).rule(
        A,
        s(32.0),
        s(33.0),
        Calls::Reads,
        late,
    );
    (cluster(config, &[0.0, 0.5]), polls_at_the_worst_time(script))
}

fn observed_loss_ignored(config: Config) -> (Setup, Script) {
    let mut setup = cluster(config, &[0.6]);
    setup.actions.push((s(20.5), Action::ClearHolder));
    let script = Script { acts_after: s(0.1), ..Script::default() };
    (setup, script)
}

fn pause(config: Config) -> (Setup, Script) {
    let mut setup = cluster(config, &[0.0]);
    setup.actions.push((s(20.5), Action::Pause { node: A, nanos: s(20.0) }));
    let script = Script { acts_after: s(1.0), ..Script::default() };
    (setup, polls_at_the_worst_time(script))
}

fn clock_stall(config: Config) -> (Setup, Script) {
    let mut setup = cluster(config, &[0.0]);
    setup.actions.push((s(20.5), Action::Stall { node: A, nanos: s(60.0) }));
    let script = Script { acts_after: s(1.0), ..Script::default() };
    (setup, polls_at_the_worst_time(script))
}

fn fractional_lease(config: Config) -> (Setup, Script) {
    let millis = Duration::from_millis;
    let timing = Timing { lease: millis(1_900), renew: millis(1_400), retry: millis(400) };
    let script = Script::default().rule(A, s(4.0) + 1, NEVER, Calls::All, Fate::LOST);
    (cluster(config.timing(timing), &[0.01]), script)
}

fn raw_collision(config: Config) -> (Setup, Script) {
    let millis = Duration::from_millis;
    let timing = Timing { lease: millis(1_000), renew: millis(900), retry: millis(300) };
    let script = Script::default().polls_every(B, s(0.36), s(0.3));
    (cluster(config.timing(timing), &[0.01]), script)
}

fn frozen_wall_clock(config: Config) -> (Setup, Script) {
    let mut setup = cluster(config, &[0.5]);
    setup.actions.push((s(5.0), Action::FreezeWall { node: A }));
    (setup, Script::default())
}

fn abandoned_acquisition(config: Config) -> (Setup, Script) {
    let mut setup = cluster(config.release_on_cancel(true), &[1.5]);
    setup.actions.push((s(1.0), Action::Cancel { node: A }));
    let script = Script::default().rule(A, 0, s(0.5), Calls::Writes, Fate::reply_after(s(3.0)));
    (setup, script)
}

fn zero_duration(config: Config) -> (Setup, Script) {
    let mut setup = cluster(config, &[0.6]);
    setup.actions.push((s(20.5), Action::ClearDuration));
    let script = Script::default().rule(A, s(20.0) + 1, NEVER, Calls::All, Fate::LOST);
    (setup, script)
}

fn flip_flopping_reads(config: Config) -> (Setup, Script) {
    let mut setup = cluster(config, &[0.5]);
    let back_after = s(1_000.0);
    let crash = Action::Crash { node: A, back_after, same_identity: false };
    setup.actions.push((s(20.5), crash));
    let lagging = Fate { lag: 1, ..Fate::INSTANT };
    let mut script = Script::default().rule(B, s(20.5), NEVER, Calls::Reads, lagging);
    script.rules[0].every_second = true;
    (setup, script)
}

fn late_first_renewal(config: Config) -> (Setup, Script) {
    let late = Fate { request: Some(s(0.9)), reply: Some(s(2.5)), ..Fate::INSTANT };
    // The creation is the first write, the renewal the second, both at the very beginning.
    let mut script = Script::default()
        .rule(A, 0, 1, Calls::Writes, Fate::INSTANT)
        .rule(A, 0, 1, Calls::Writes, late)
        .rule(A, 1, NEVER, Calls::All, Fate::LOST);
    script.rules[0].every_second = true;
    (cluster(config, &[0.02]), polls_at_the_worst_time(script))
}

fn late_acquisition_reply(config: Config) -> (Setup, Script) {
    let mut setup = cluster(config, &[0.02]);
    setup.client_timeout = None;
    let script = Script::default().rule(A, 0, 1, Calls::Writes, Fate::reply_after(s(18.0))).rule(
        A,
        1,
        NEVER,
        Calls::All,
        Fate::LOST,
    );
    (setup, polls_at_the_worst_time(script))
}

fn fast_path_over_a_foreign_lease(config: Config) -> (Setup, Script) {
    let config = config.release_on_cancel(true);
    let mut script = Script::default()
        .rule(A, s(20.0), s(20.0) + 1, Calls::Writes, Fate::reply_after(s(4.5)))
        .rule(A, s(20.0) + 1, s(34.9), Calls::All, Fate::LOST)
        .rule(A, s(34.9), s(36.55), Calls::Writes, Fate::REFUSED);
    script.after.push((A, After::RunsAgain(s(0.1))));
    (cluster(config, &[0.0]), polls_at_the_worst_time(script))
}

fn no_slack(config: Config) -> (Setup, Script) {
    let config = config.timing(Timing::seconds(15, 14, 5));
    let script = Script::default().rule(A, s(20.0) + 1, NEVER, Calls::All, Fate::LOST);
    (cluster(config, &[0.1]), script)
}

fn cut_off_with_slack(config: Config) -> (Setup, Script) {
    let script = Script::default().rule(A, s(20.0) + 1, NEVER, Calls::All, Fate::LOST);
    (cluster(config, &[0.0, 0.7]), polls_at_the_worst_time(script))
}
