//! The promises of a client around the rules of its calls, as checks of a history.

use super::machine::{Said, Told};
use super::server::Seen;
use super::spec::Carries;
use super::{Client, Spec};
use crate::trial::Invariant;
use crate::wire::fixtures::at_every_call;

pub(super) fn all() -> Vec<Invariant<Client>> {
    vec![
        at_every_call::<Client, Spec>(
            "bodies_go_whole",
            "every attempt of a call carries the whole body, or is not made",
            &["election:RINV-2", "election:RQ-28"],
            |_, _, said, right| bodies_go_whole(said, right),
        ),
        at_every_call::<Client, Spec>(
            "bodies_are_made_in_time",
            "a body is made once for each attempt, right before it, when no answer is open",
            &["election:RQ-28", "election:RQ-60"],
            |before, _, said, _| bodies_are_made_in_time(before, said),
        ),
        at_every_call::<Client, Spec>(
            "calls_begin_anew",
            "a call makes as many attempts as if its request had never been sent before",
            &["election:RINV-11", "election:RQ-61"],
            |_, _, said, right| {
                sent(said).len() <= sent(right).len()
                    && (is_cancelled(right) || sent(said).len() == sent(right).len())
            },
        ),
        at_every_call::<Client, Spec>(
            "attempts_come_when_due",
            "an attempt starts once its pause is over and its turn has come, whatever requests \
             were sent before",
            &["election:RINV-6", "election:RINV-8", "election:RQ-62", "election:RQ-72"],
            |_, _, said, right| {
                sent(said).iter().zip(sent(right)).all(|(said, right)| *said == right)
            },
        ),
        at_every_call::<Client, Spec>(
            "ends_at_once",
            "a call whose token ends returns within a second, reports it, and sends nothing more",
            &["election:RINV-5", "election:RQ-52", "election:RQ-71"],
            |_, _, said, right| {
                let is_over = said.told == right.told && said.at == right.at;
                !is_cancelled(right) || is_over && sent(said).len() == sent(right).len()
            },
        ),
        at_every_call::<Client, Spec>(
            "causes_are_kept",
            "a call without an answer returns the cause in a form that its caller can test for",
            &["election:RQ-52", "election:RQ-68", "election:RQ-80"],
            |_, _, said, right| is_cancelled(right) || said.told == right.told,
        ),
        at_every_call::<Client, Spec>(
            "answers_are_closed",
            "an answer is closed before the next attempt, and at the end",
            &["election:RINV-3", "election:RQ-60"],
            |_, _, said, _| answers_are_closed(said),
        ),
    ]
}

fn is_cancelled(said: &Said) -> bool {
    said.told == Some(Told::Cancelled)
}

/// The seconds at which attempts came.
fn sent(said: &Said) -> Vec<u64> {
    let at = |seen: &Seen| match seen {
        Seen::Sent(at, _) => Some(*at),
        _ => None,
    };
    said.seen.iter().filter_map(at).collect()
}

fn bodies_go_whole(said: &Said, right: &Said) -> bool {
    let bodies = |said: &Said| -> Vec<_> {
        let body = |seen: &Seen| match seen {
            Seen::Sent(_, body) => Some(body.clone()),
            _ => None,
        };
        said.seen.iter().filter_map(body).collect()
    };
    let (said_bodies, right_bodies) = (bodies(said), bodies(right));
    let is_extra = right.told.as_ref().is_some_and(|told| matches!(told, Told::NoBody(_)));
    let extra = is_extra && said_bodies.len() > right_bodies.len();
    !extra && said_bodies.iter().zip(&right_bodies).all(|(said, right)| said == right)
}

fn bodies_are_made_in_time(before: &Spec, said: &Said) -> bool {
    let is_made = matches!(before.carries(), Carries::Made | Carries::Reader);
    let (mut made, mut open) = (0, 0);
    for seen in &said.seen {
        match seen {
            Seen::Made if open > 0 => return false,
            Seen::Made => made += 1,
            Seen::Sent(..) if made != u32::from(is_made) => return false,
            Seen::Sent(..) => made = 0,
            Seen::Answered(_) => open += 1,
            Seen::Closed => open -= 1,
        }
    }
    // A body that was made and not sent is right only if making it failed.
    made == 0 || matches!(said.told, Some(Told::NoBody(_) | Told::Words))
}

fn answers_are_closed(said: &Said) -> bool {
    let mut open = 0;
    for seen in &said.seen {
        match seen {
            Seen::Answered(_) => open += 1,
            Seen::Closed => open -= 1,
            Seen::Sent(..) if open > 0 => return false,
            Seen::Sent(..) | Seen::Made => {}
        }
    }
    open == 0
}
