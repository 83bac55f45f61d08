//! When the reference has a leader at all. The other outcomes are judged as simulations of the elector.

use super::{Outcome, SCHEDULES, leads_at};

fn the_reference_has_its_late_leader_when_the_schedule_says_so() {
    for schedule in SCHEDULES {
        if let Outcome::Leads { node, from, to } = schedule.classic {
            let at = leads_at(&schedule.run(false), node);
            assert!((from..=to).contains(&at), "{} ({}): {at}", schedule.name, schedule.rule);
        }
    }
}

pub(crate) const TESTS: seatrial::tests::Tests =
    seatrial::tests![the_reference_has_its_late_leader_when_the_schedule_says_so];
