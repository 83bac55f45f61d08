//! The promises of the mutation cache and the detector, as checks of a history.

use super::book::Call;
use super::reference::Model;
use super::{History, MutationCache};
use crate::stores::fixtures::{self, ended};
use crate::trial::{Invariant, Violation};

type Checked = Result<(), Violation>;

pub(super) fn all() -> Vec<Invariant<MutationCache>> {
    vec![
        Invariant::always(
            "handing_out_never_waits",
            "a caller that hands out an object never waits for a comparison",
            &["cache:MD-2"],
            handing_out_never_waits,
        ),
        Invariant::always(
            "one_moment",
            "every call takes effect at one moment between its beginning and its end",
            &[
                "cache:MC-1",
                "cache:MC-3",
                "cache:MC-4",
                "cache:MC-5",
                "cache:MC-6",
                "cache:MC-7",
                "cache:MC-8",
                "cache:MC-10",
            ],
            one_moment,
        ),
    ]
}

fn handing_out_never_waits(history: &History) -> Checked {
    for ended in ended(history).iter().filter(|it| it.call == Call::Watch) {
        let took = ended.at.since(ended.began);
        if !took.is_zero() {
            return Err(Violation::at(ended.to, format!("it took {took:?} to hand out an object")));
        }
    }
    Ok(())
}

fn one_moment(history: &History) -> Checked {
    fixtures::one_moment(history, &Model::new(true, ""))
}
