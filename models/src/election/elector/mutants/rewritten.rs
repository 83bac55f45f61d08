//! Electors whose mistake is inside the second implementation of the rules.

use seatrial_core::machine::Boxed;

use super::{Mutant, MutantKind};
use crate::election::plain::Plain;
use crate::elector::part::Part;

macro_rules! mutants {
    ($($kind:ident $name:ident [$($breaks:literal),*] $origin:literal;)+) => {
        pub(super) const REWRITTEN: &[Mutant] = &[$(Mutant {
            name: stringify!($name),
            origin: $origin,
            breaks: &[$($breaks),*],
            kind: MutantKind::$kind,
            make: |config| Boxed(Plain::unchecked(&[stringify!($name)], config)),
            part: || Part::of(|config| Plain::rules(&[stringify!($name)], config)),
        }),+];
    };
}

mutants! {
    Exhibit work_outlives_the_lease ["work_ends_before_release", "one_leader_per_lease_window"]
        "museum CX-2, LE-50: the work is cancelled after the lease was given away";
    Exhibit release_retries_at_once ["release_retries_pause"]
        "museum H13: a release that met a conflict tries again at once";
    Exhibit abandons_an_acquisition ["abandoned_acquisition_is_freed", "successor_leads_in_time"]
        "election:CX-10: a cancelled acquisition is left as it is, whether it was applied or not";
    Exhibit no_duration_is_over ["lease_without_duration_is_waited_for"]
        "election:CX-11: a lease without a duration counts as over when it is read a second time";
    Exhibit leader_without_time ["leads_within_its_time", "over_is_over"]
        "election:LE-12, original: the question whether the elector leads ignores the time";
    Seeded time_written_later ["observed_is_a_pair", "observations_have_a_reason"]
        "museum E12: the time of an observation is written after the record, in a section of its \
         own";
    Seeded breaks_and_forgets ["over_is_over", "stopping_follows_leading"]
        "museum E14: a run that panics leaves its state behind";
    Seeded release_without_deadline ["calls_of_a_leader_have_deadlines"]
        "museum E16, E18: a release waits for its calls without limit";
    Seeded fast_path_in_another_run ["tokens_rise"]
        "museum E22 (a): the last holder updates the lease without reading it, even in another run";
    Seeded leads_before_the_reply ["leader_is_in_the_record", "stopping_follows_leading"]
        "museum E22 (d): a record counts as observed when it is sent, before the store has \
         answered";
    Seeded leads_twice_a_run ["stops_once", "stopping_follows_leading", "rounds_are_bounded"]
        "museum E30: after a failed round the run acquires again, and leads again";
    Seeded no_validation ["unsafe_set_ups_are_refused"] "museum E8: no set-up is refused";
    Exhibit fractional_leases ["unsafe_set_ups_are_refused"]
        "museum H5: leases of less than a second, and with fractions, are accepted";
    Seeded needs_times ["never_panics"]
        "museum K2: an elector that reads a lease without times panics";
    Seeded counts_from_the_old_sighting ["one_leader"]
        "own: a state that is seen again after newer ones counts from its own first sighting";
    Seeded refusals_are_no_news ["one_leader"]
        "own: a state that is read again after a refused write is taken for the one before it";
    Seeded own_is_own_for_ever ["one_leader"]
        "own: a record of its own is renewed however old it is";
    Seeded creates_at_once ["one_leader"]
        "own: a lock object that is gone is created at once, although another held the lease";
    Seeded no_wait ["takeover_waits", "one_leader_per_lease_window"]
        "own: the elector does not check whether the lease is still valid";
    Seeded cancel_waits_for_the_attempt ["no_attempt_after_cancellation"]
        "own: a run checks its token only between attempts";
    Seeded round_without_deadline ["calls_of_a_leader_have_deadlines"]
        "own: the calls of a round get no deadline";
    Seeded polls_twice_as_often ["rounds_are_bounded"]
        "own: a round tries again after half the period";
    Seeded token_of_the_read ["token_names_its_write"]
        "own: the fencing token is the version that was read before the write";
    Seeded releases_beside_the_work ["one_leader_per_lease_window"]
        "own: a release does not wait for the work";
    Seeded waits_for_the_work_for_ever ["sleepers_wake_in_time"]
        "own: a release waits for the work without limit";
    Seeded leads_though_cancelled ["over_is_over"]
        "own: a run does not check its token after an answer";
    Seeded holds_any_term ["over_is_over"]
        "own: the question whether a term lasts ignores the number of the term";
    Seeded names_the_first_version ["updates_name_what_was_received"]
        "museum K1, K3: the remembered version is never replaced";
    Seeded release_does_not_observe ["health_check_tells"]
        "election:CX-15: a release does not observe the record that it reads";
    Seeded leads_too_late ["leads_within_its_time"]
        "election:CX-14, the time is not checked before the term begins";
    Seeded takes_back_what_it_lost ["loss_ends_leadership"]
        "own: a loss ends the term, but not the attempt";
    Seeded loss_ends_the_attempt_alone ["loss_ends_leadership"]
        "own: a loss ends the attempt, but not the term";
    Seeded waits_where_nobody_calls ["sleepers_wake_in_time"]
        "own: the wait for the work listens on the wrong one of two channels";
    Seeded reports_with_the_attempt ["reports_in_order"]
        "own: a single attempt reports as a run does, where no caller reads it";
    Seeded abandons_between_attempts ["abandoned_acquisition_is_freed"]
        "own: a cancellation between two attempts skips the check of the lease";
    Seeded single_release_without_deadline ["calls_of_a_leader_have_deadlines"]
        "own: only the release of a run has a deadline";
    Exhibit release_gives_up ["releases_outlast_conflicts"]
        "the reference before it tried again: election:LE-44 (v)";
    Seeded frees_a_namesakes ["releases_free_what_was_written"]
        "own: a release compares the holder's name, but not the count";
    Seeded late_renewal_prolongs ["over_is_over"]
        "own: a renewal does not check whether its term has run out";
    Exhibit leads_idly ["nobody_leads_idly", "over_is_over"]
        "the first version of this elector: work that has ended leaves a leader that does nothing";
    Seeded panic_is_a_return ["nobody_leads_idly", "over_is_over"]
        "own: work that panics counts as work that returns";
    Seeded any_work_ends_the_term ["terms_end_for_a_reason"]
        "own: the end of any work ends the current term";
}
