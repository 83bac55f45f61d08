//! Bugs of the rules: the reference's algorithm with mistakes.

use crate::delta_fifo::DeltaFifo;
use crate::delta_fifo::reference::MapAndKeys;
use crate::delta_fifo::reference::Mistake::{self, *};
use crate::delta_fifo::tried::{Config, State, Store, Tried};
use crate::events::fixtures::{Object, Shown};
use crate::trial::{MachineOf, Mutant, mutants};

impl Shown<DeltaFifo> for MapAndKeys<u8, Object, Store> {
    fn shown(&self, config: &Config) -> State {
        config.state(self.pending())
    }
}

/// The reference's algorithm with mistakes.
fn mistaken(mistakes: &'static [Mistake]) -> MachineOf<DeltaFifo> {
    Tried::by(move |config| {
        let known = config.known.clone();
        Box::new(MapAndKeys::with(mistakes, known, config.emit_replaced))
    })
}

pub(super) fn exhibits() -> Vec<Mutant<DeltaFifo>> {
    mutants! { mistaken:
        Exhibit "latch_set_when_taken" from "cache:KD-1, museum A18":
            (&[LatchWhenTaken]) breaks ["never_synced_early"];
    }
}

/// Bugs that were reported of the reference, or that the article names.
pub(super) fn reported() -> Vec<Mutant<DeltaFifo>> {
    mutants! { mistaken:
        Seeded "sync_lost_behind_deletion" from "museum A2, article cache:AR-3":
            (&[DropSyncBehindDeletion]) breaks ["every_listed_object_is_shown", "nothing_is_lost"];
        Seeded "listed_object_lost_behind_deletion" from "museum A2, article cache:AR-3":
            (&[DropReplacedBehindDeletion])
            breaks ["every_listed_object_is_shown", "nothing_is_lost"];
        Seeded "tombstone_in_a_tombstone" from "museum A4":
            (&[TombstoneInTombstone])
            breaks ["the_better_deletion_survives", "tombstones_carry_the_newest_state"];
        Seeded "batch_counts_objects" from "museum A6, article cache:AR-19":
            (&[CountListedObjects]) breaks ["synced_once_processed", "sync_wakes_everybody"];
        Seeded "list_looks_like_resync" from "museum A10":
            (&[ShowListsAsSync]) breaks ["lists_are_told_from_resyncs"];
        Seeded "requeued_without_being_asked" from "museum A12, article cache:AR-8":
            (&[RequeueAlways]) breaks ["handed_out_whole_and_once"];
        Seeded "requeue_overwrites_newer" from "museum A12, article cache:AR-9":
            (&[RequeueOverwrites]) breaks ["changes_stay_until_popped", "nothing_is_lost"];
        Seeded "resync_over_pending" from "museum B2":
            (&[ResyncOverPending]) breaks ["resync_never_goes_back", "nothing_is_lost"];
        Seeded "batch_without_deletions" from "museum B4, article cache:AR-19":
            (&[CountNoDeletions]) breaks ["initial_until_synced", "never_synced_early"];
        Seeded "closed_flag_has_its_own_lock" from "museum B6, article cache:AR-17":
            (&[CloseUnderItsOwnLock]) breaks ["close_wakes_everybody"];
        Seeded "listed_and_unknown_is_deleted" from "article cache:AR-1":
            (&[DeleteTheListed]) breaks ["only_the_unlisted_are_deleted", "nothing_is_lost"];
        Seeded "pending_is_not_compared" from "article cache:AR-2":
            (&[CompareKnownOnly]) breaks ["nothing_is_lost", "tombstones_carry_the_newest_state"];
        Seeded "delete_asks_the_queue_only" from "article cache:AR-21":
            (&[DeleteAsksQueueOnly]) breaks ["nothing_is_lost"];
    }
}

pub(super) fn of_changes() -> Vec<Mutant<DeltaFifo>> {
    mutants! { mistaken:
        Seeded "no_deduplication" from "cache:DF-6, the last change of the entry is not looked at":
            (&[NoDeduplication]) breaks ["deletions_are_deduplicated"];
        Seeded "newer_deletion_wins" from "cache:DF-6, article cache:AR-22":
            (&[KeepNewerDeletion]) breaks ["the_better_deletion_survives"];
        Seeded "older_tombstone_wins" from "cache:DF-6, article cache:AR-22":
            (&[KeepOlderDeletion]) breaks ["the_better_deletion_survives"];
        Seeded "deduplicates_across_changes"
            from "cache:DF-7, the whole entry is searched for a deletion":
            (&[DeduplicateAcross]) breaks ["changes_stay_until_popped"];
        Seeded "updates_are_merged" from "cache:DF-7":
            (&[MergeUpdates]) breaks ["changes_stay_until_popped"];
        Seeded "deletion_cancels_addition"
            from "cache:DF-7, no consumer has seen the object, so the deletion seems needless":
            (&[DeletionCancelsAddition]) breaks ["one_entry_per_object", "changes_stay_until_popped"];
        Seeded "deletion_forgets_history" from "cache:DF-7":
            (&[DeletionForgetsHistory]) breaks ["changes_stay_until_popped"];
        Seeded "delete_takes_the_entry" from "cache:DF-11, as the FIFO does":
            (&[DeleteTakesEntry]) breaks ["changes_stay_until_popped", "nothing_is_lost"];
        Seeded "verb_is_corrected" from "cache:DF-8":
            (&[CorrectTheVerb]) breaks ["agrees_with_the_sequential_object"];
        Seeded "queued_for_every_change"
            from "cache:DF-1, the test for an existing entry is left out":
            (&[QueueEveryChange]) breaks ["one_entry_per_object"];
        Seeded "change_moves_to_the_tail" from "cache:DF-26":
            (&[ChangeMoves]) breaks ["order_of_arrival"];
        Seeded "delete_asks_the_store_only" from "cache:DF-9":
            (&[DeleteAsksStoreOnly]) breaks ["nothing_is_lost"];
        Seeded "delete_asks_nobody" from "cache:DF-9":
            (&[DeleteAsksNobody]) breaks ["needless_deletions_are_ignored"];
        Seeded "failed_lookup_is_absence" from "cache:DF-9":
            (&[FailedLookupIsAbsence]) breaks ["nothing_is_lost"];
        Seeded "ignored_deletion_is_no_write" from "cache:DF-10":
            (&[IgnoredDeletionIsNoWrite]) breaks ["synced_once_processed"];
        Seeded "put_is_no_write" from "cache:QU-14":
            (&[PutIsNoWrite]) breaks ["synced_once_processed", "initial_until_synced"];
        Seeded "put_back_is_no_write" from "cache:QU-10, QU-14":
            (&[PutBackIsNoWrite]) breaks ["synced_once_processed", "initial_until_synced"];
        Seeded "refused_put_is_no_write" from "cache:QU-19":
            (&[RefusedPutIsNoWrite]) breaks ["synced_once_processed"];
    }
}

pub(super) fn of_lists() -> Vec<Mutant<DeltaFifo>> {
    mutants! { mistaken:
        Seeded "known_is_not_compared" from "cache:DF-12, step 3 is left out":
            (&[ForgetKnown]) breaks ["nothing_is_lost"];
        Seeded "tombstone_from_the_store" from "cache:DF-13":
            (&[TombstoneFromStore]) breaks ["tombstones_carry_the_newest_state"];
        Seeded "no_tombstone_without_lookup" from "cache:DF-15":
            (&[TombstoneNeedsLookup]) breaks ["nothing_is_lost"];
        Seeded "every_list_counts" from "cache:DF-18, the test for the first list is left out":
            (&[CountEveryList]) breaks ["synced_for_good", "initial_until_synced"];
        Seeded "refused_list_counts" from "cache:DF-20":
            (&[RefusedListCounts]) breaks ["never_synced_early", "initial_until_synced"];
        Seeded "refused_list_deletes" from "cache:DF-20":
            (&[RefusedListDeletes]) breaks ["only_the_unlisted_are_deleted"];
        Seeded "list_clears_pending" from "cache:DF-12, as the FIFO does":
            (&[ListClearsPending])
            breaks ["changes_stay_until_popped", "the_better_deletion_survives"];
        Seeded "resync_shows_nothing" from "cache:DF-21, as a plain store does":
            (&[ResyncShowsNothing]) breaks ["resync_shows_the_idle"];
        Seeded "resync_deletes_the_unreadable" from "cache:DF-21":
            (&[ResyncDeletesTheUnreadable]) breaks ["resync_shows_the_idle"];
        Seeded "resync_is_a_write" from "cache:QU-14":
            (&[ResyncIsAWrite]) breaks ["never_synced_early", "initial_until_synced"];
    }
}

pub(super) fn of_delivery() -> Vec<Mutant<DeltaFifo>> {
    mutants! { mistaken:
        Seeded "flag_after_count" from "cache:QU-20":
            (&[FlagAfterCount]) breaks ["initial_until_synced"];
        Seeded "close_ends_the_wait" from "own: a closed queue is taken for a drained one":
            (&[CloseEndsTheWait]) breaks ["synced_once_processed"];
        Seeded "processed_is_not_counted" from "cache:QU-15":
            (&[NeverCount]) breaks ["synced_once_processed", "initial_until_synced"];
        Seeded "unlocked_while_processing" from "cache:DF-29, QU-12":
            (&[UnlockWhileProcessing]) breaks ["one_at_a_time"];
        Seeded "last_in_first_out" from "cache:DF-24, entries are popped at the wrong end":
            (&[LastInFirstOut]) breaks ["order_of_arrival"];
        Seeded "newest_change_only" from "cache:DF-24":
            (&[HandOutNewestOnly]) breaks ["handed_out_whole_and_once"];
        Seeded "close_discards" from "cache:QU-3":
            (&[CloseDiscards]) breaks ["close_discards_nothing"];
        Seeded "empty_is_closed" from "cache:QU-2":
            (&[EmptyIsClosed]) breaks ["close_discards_nothing"];
        Seeded "close_gates_writers" from "cache:QU-4":
            (&[CloseGatesWriters]) breaks ["nothing_is_lost"];
        Seeded "requeue_in_front" from "cache:QU-11":
            (&[RequeueInFront]) breaks ["order_of_arrival"];
        Seeded "get_newest_only" from "cache:DF-28, article cache:AR-14":
            (&[GetNewestOnly]) breaks ["reads_agree"];
        Seeded "list_by_key" from "cache:DF-28, article cache:AR-14":
            (&[ListByKey]) breaks ["reads_agree"];
        Seeded "len_counts_changes" from "cache:DF-28":
            (&[LenCountsChanges]) breaks ["reads_agree"];
    }
}
