//! The models that are searched for every report, and the large one for measurements of speed.

use seatrial_core::queue::Queue as Rules;

use super::super::Queue;
use super::AtQueue;
use super::Call::{self, Add, Drain, ShutDown, Work};
use crate::engine::state::{Jumps, Rules as May, WakeUps};
use crate::trial::{Simulation, States};

const SAFE: &[&str] = &["never_concurrent", "nothing_lost"];

const ANY: May =
    May { symmetric: true, jumps: Jumps::AtStandstill, wake_ups: WakeUps::Any, spurious: 0 };

/// Lists the models.
pub(in crate::queues::queue) fn all() -> Vec<Box<dyn Simulation<Queue>>> {
    let models = [
        States {
            name: "states_of_three_workers",
            says: "three producers add four items and shut the queue down, beside three workers",
            judges: SAFE,
            subject: || made_for(&[ONE, TWO, LAST, &[Work], &[Work], &[Work]], all_work),
            rules: ANY,
        },
        States {
            name: "states_of_drains",
            says: "a drain, a strict drain and a shutdown beside two workers",
            judges: SAFE,
            subject: || {
                let drains: [&[Call]; 2] = [&[Drain { strict: true }], &[Drain { strict: false }]];
                made_for(&[TWO, drains[0], drains[1], LAST, &[Work], &[Work]], works)
            },
            rules: ANY,
        },
        States {
            name: "states_of_wakes_in_order",
            says: "three workers are woken in the order in which they went to sleep",
            judges: SAFE,
            subject: || made_for(&[TWO, LAST, &[Work], &[Work], &[Work]], works),
            rules: May { wake_ups: WakeUps::InOrder, ..ANY },
        },
        States {
            name: "states_of_spurious_wakes",
            says: "two workers wake once each without a reason",
            judges: SAFE,
            subject: || made_for(&[TWO, LAST, &[Work], &[Work]], works),
            rules: May { spurious: 1, ..ANY },
        },
    ];
    models.into_iter().map(|model| Box::new(model) as Box<dyn Simulation<Queue>>).collect()
}

const ONE: &[Call] = &[Add(0), Add(0)];
const TWO: &[Call] = &[Add(0), Add(1), Add(0)];
const LAST: &[Call] = &[Add(2), ShutDown];

fn made_for(programs: &[&[Call]], reaches: fn(&Rules<u8>) -> bool) -> AtQueue {
    AtQueue { reaches, ..AtQueue::new(programs) }
}

fn works(queue: &Rules<u8>) -> bool {
    queue.in_flight() == 2 && queue.is_shutting_down()
}

fn all_work(queue: &Rules<u8>) -> bool {
    queue.in_flight() == 3 && queue.is_shutting_down()
}

/// Producers that add `adds` items each, cycling through a number of keys, a caller that adds one
/// more item and shuts down, and workers: a model of any size.
#[must_use]
pub fn sized(producers: u8, adds: u8, items: u8, workers: u8) -> AtQueue {
    let adding = |producer| (0..adds).map(move |nth| Add((producer + nth) % items)).collect();
    let mut programs: Vec<Vec<Call>> = (0..producers).map(adding).collect();
    programs.push(LAST.to_vec());
    programs.extend((0..workers).map(|_| vec![Work]));
    let programs: Vec<&[Call]> = programs.iter().map(Vec::as_slice).collect();
    made_for(&programs, works)
}

/// A model of millions of states.
#[must_use]
pub fn large() -> AtQueue {
    sized(2, 21, 5, 2)
}
