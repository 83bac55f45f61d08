//! Electors whose mistake is inside the second implementation of the rules.

use seatrial_core::machine::Boxed;

use super::{Mutant, MutantKind};
use crate::election::plain::{Mistake, Plain};
use crate::elector::part::Part;

use MutantKind::{Exhibit, Seeded};

macro_rules! mutants {
    ($($kind:expr, $name:ident: $mistake:ident [$($rule:literal),+] [$($breaks:literal),*]
       $origin:literal;)+) => {
        pub(super) const REWRITTEN: &[Mutant] = &[$(Mutant {
            name: stringify!($name),
            origin: $origin,
            rules: &[$($rule),+],
            breaks: &[$($breaks),*],
            kind: $kind,
            make: |config| Boxed(Plain::unchecked(&[Mistake::$mistake], config)),
            part: || Part::of(|config| Plain::rules(&[Mistake::$mistake], config)),
        }),+];
    };
}

mutants! {
    Exhibit, work_outlives_the_lease: WorkOutlivesTheLease ["election:LE-50", "election:CX-2"]
        ["work_ends_before_release", "one_leader_per_lease_window"]
        "museum CX-2, LE-50";
    Exhibit, release_retries_at_once: ReleaseRetriesAtOnce ["election:LE-42"] ["release_retries_pause"] "museum H13";
    Exhibit, abandons_an_acquisition: AbandonsAnAcquisition ["election:LE-33"]
        ["abandoned_acquisition_is_freed", "successor_leads_in_time"] "election:CX-10";
    Exhibit, no_duration_is_over: NoDurationIsOver ["election:LE-14"]
        ["lease_without_duration_is_waited_for"] "election:CX-11";
    Exhibit, leader_without_time: LeaderWithoutTime ["election:LE-12"]
        ["leads_within_its_time", "over_is_over"] "election:LE-12, original";
    Seeded, time_written_later: TimeWrittenLater ["election:LE-9", "election:INV-16"]
        ["observed_is_a_pair", "observations_have_a_reason"] "museum E12";
    Seeded, breaks_and_forgets: BreaksAndForgets ["election:LE-46", "election:ENV-8"]
        ["over_is_over", "stopping_follows_leading"] "museum E14";
    Seeded, release_without_deadline: ReleaseWithoutDeadline ["election:LE-40", "election:LV-8"] ["calls_of_a_leader_have_deadlines"]
        "museum E16, E18";
    Seeded, fast_path_in_another_run: FastPathInAnotherRun ["election:LE-18", "election:LE-26"] ["tokens_rise"]
        "museum E22 (a)";
    Seeded, leads_before_the_reply: LeadsBeforeTheReply ["election:LE-24", "election:INV-24"] ["leader_is_in_the_record", "stopping_follows_leading"]
        "museum E22 (d)";
    Seeded, leads_twice_a_run: LeadsTwiceARun ["election:LE-49", "election:INV-12"]
        ["stops_once", "stopping_follows_leading", "rounds_are_bounded"] "museum E30";
    Seeded, no_validation: NoValidation ["election:LE-2"]
        ["unsafe_set_ups_are_refused"] "museum E8";
    Exhibit, fractional_leases: FractionalLeases ["election:LE-4"]
        ["unsafe_set_ups_are_refused"] "museum H5";
    Seeded, needs_times: NeedsTimes ["election:LK-11"] ["never_panics"] "museum K2";
    Seeded, counts_from_the_old_sighting: CountsFromTheOldSighting ["election:CX-12", "election:SF-6"]
        ["one_leader"]
        "own: a state that is seen again after newer ones counts from its own first sighting";
    Seeded, refusals_are_no_news: RefusalsAreNoNews ["election:CX-12", "election:SF-6"]
        ["one_leader"]
        "own: a state that is read again after a refused write is taken for the one before it";
    Seeded, own_is_own_for_ever: OwnIsOwnForEver ["election:CX-12", "election:SF-16"]
        ["one_leader"]
        "own: a record of its own is renewed however old it is";
    Seeded, creates_at_once: CreatesAtOnce ["election:LE-20", "election:SF-6"] ["one_leader"]
        "own: a lock object that is gone is created at once, although another held the lease";
    Seeded, no_wait: NoWait ["election:LE-22", "election:SF-6"]
        ["takeover_waits", "one_leader_per_lease_window"]
        "own: the elector does not check whether the lease is still valid";
    Seeded, cancel_waits_for_the_attempt: CancelWaitsForTheAttempt ["election:INV-13"]
        ["no_attempt_after_cancellation"]
        "own: a run checks its token only between attempts";
    Seeded, round_without_deadline: RoundWithoutDeadline ["election:LE-36", "election:INV-22"] ["calls_of_a_leader_have_deadlines"]
        "own: the calls of a round get no deadline";
    Seeded, polls_twice_as_often: PollsTwiceAsOften ["election:INV-22"] ["rounds_are_bounded"]
        "own: a round tries again after half the period";
    Seeded, token_of_the_read: TokenOfTheRead ["election:SF-14"] ["token_names_its_write"]
        "own: the fencing token is the version that was read before the write";
    Seeded, releases_beside_the_work: ReleasesBesideTheWork ["election:LE-42"]
        ["one_leader_per_lease_window"]
        "own: a release does not wait for the work";
    Seeded, waits_for_the_work_for_ever: WaitsForTheWorkForEver ["election:LE-42", "election:LE-48"]
        ["sleepers_wake_in_time"]
        "own: a release waits for the work without limit";
    Seeded, leads_though_cancelled: LeadsThoughCancelled ["election:LE-32", "election:ENV-5"] ["over_is_over"]
        "own: a run does not check its token after an answer";
    Seeded, holds_any_term: HoldsAnyTerm ["election:INV-12"] ["over_is_over"]
        "own: the question whether a term lasts ignores the number of the term";
    Seeded, names_the_first_version: NamesTheFirstVersion ["election:LK-3", "election:INV-23"]
        ["updates_name_what_was_received"]
        "museum K1, K3: the remembered version is never replaced";
    Seeded, release_does_not_observe: ReleaseDoesNotObserve ["election:LE-42"] ["health_check_tells"] "election:CX-15";
    Seeded, leads_too_late: LeadsTooLate ["election:LE-51", "election:SF-11"] ["leads_within_its_time"]
        "election:CX-14, the time is not checked before the term begins";
    Seeded, takes_back_what_it_lost: TakesBackWhatItLost ["election:LE-38"] ["loss_ends_leadership"]
        "own: a loss ends the term, but not the attempt";
    Seeded, loss_ends_the_attempt_alone: LossEndsTheAttemptAlone ["election:LE-38"] ["loss_ends_leadership"]
        "own: a loss ends the attempt, but not the term";
    Seeded, waits_where_nobody_calls: WaitsWhereNobodyCalls ["election:LE-42"] ["sleepers_wake_in_time"]
        "own: the wait for the work listens on the wrong one of two channels";
    Seeded, reports_with_the_attempt: ReportsWithTheAttempt ["election:LE-52"] ["reports_in_order"]
        "own: a single attempt reports as a run does, where no caller reads it";
    Seeded, abandons_between_attempts: AbandonsBetweenAttempts ["election:LE-33"]
        ["abandoned_acquisition_is_freed"]
        "own: a cancellation between two attempts skips the check of the lease";
    Seeded, single_release_without_deadline: SingleReleaseWithoutDeadline ["election:LE-40", "election:LV-8"]
        ["calls_of_a_leader_have_deadlines"] "own: only the release of a run has a deadline";
    Exhibit, release_gives_up: ReleaseGivesUp ["election:LE-41", "election:LE-42"]
        ["releases_outlast_conflicts"]
        "the reference before it tried again: election:LE-44 (v)";
    Seeded, frees_a_namesakes: FreesANamesakes ["election:LE-42"] ["releases_free_what_was_written"]
        "own: a release compares the holder's name, but not the count";
    Seeded, late_renewal_prolongs: LateRenewalProlongs ["election:SF-11", "election:LE-51"]
        ["over_is_over"] "own: a renewal does not check whether its term has run out";
    Exhibit, leads_idly: LeadsIdly ["election:LE-48"] ["nobody_leads_idly", "over_is_over"]
        "the first version of this elector: work that has ended leaves a leader that does nothing";
    Seeded, panic_is_a_return: PanicIsAReturn ["election:LE-48"] ["nobody_leads_idly", "over_is_over"]
        "own: work that panics counts as work that returns";
    Seeded, any_work_ends_the_term: AnyWorkEndsTheTerm ["election:LE-48", "election:LE-49"]
        ["terms_end_for_a_reason"] "own: the end of any work ends the current term";
}
