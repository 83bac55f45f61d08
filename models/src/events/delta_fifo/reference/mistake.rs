//! The mistakes that a mutant of the queue can make.

use crate::trial::mistakes;

mistakes! {
    /// One changed line.
    pub enum Mistake {
        // The reference still does this.
        /// A waiter for the first list is released when the list's last entry is taken, not when
        /// that entry is processed. The reference's latch has no lock; here the lock is released
        /// early.
        LatchWhenTaken,

        // The reference did these once, or the article names them.
        /// A sync behind a deletion is dropped.
        DropSyncBehindDeletion,
        /// A listed object behind a deletion is dropped.
        DropReplacedBehindDeletion,
        /// A tombstone around a tombstone: the object in it is not found.
        TombstoneInTombstone,
        /// The first list counts its objects, not its keys.
        CountListedObjects,
        /// The first list does not count what it deletes.
        CountNoDeletions,
        /// A list shows its objects as a resync does.
        ShowListsAsSync,
        /// An entry goes back unless it was asked back.
        RequeueAlways,
        /// A resync shows objects that have changes pending.
        ResyncOverPending,
        /// A list deletes an object that it lists and that is not known.
        DeleteTheListed,
        /// A list is compared with the known objects only.
        CompareKnownOnly,
        /// Whether the queue is closed is looked up under another lock, before going to sleep.
        CloseUnderItsOwnLock,

        // Mistakes in the changes of one object.
        /// Deletions are not compressed.
        NoDeduplication,
        /// The newer of two deletions is kept.
        KeepNewerDeletion,
        /// The older of two deletions is kept, even if it is a tombstone.
        KeepOlderDeletion,
        /// Deletions are compressed even with other changes between them.
        DeduplicateAcross,
        /// An update replaces the change before it.
        MergeUpdates,
        /// An addition that is still pending and the deletion behind it cancel each other.
        DeletionCancelsAddition,
        /// A deletion drops what was pending.
        DeletionForgetsHistory,
        /// An object known to the consumer is never added.
        CorrectTheVerb,
        /// An object is queued anew for every change.
        QueueEveryChange,
        /// A change moves its object to the tail.
        ChangeMoves,

        // Mistakes in deletions.
        /// Only the queue is asked whether an object exists.
        DeleteAsksQueueOnly,
        /// Only the store is asked.
        DeleteAsksStoreOnly,
        /// Neither is asked.
        DeleteAsksNobody,
        /// A failed lookup is taken for the absence of the object.
        FailedLookupIsAbsence,
        /// A deletion that is ignored is no write.
        IgnoredDeletionIsNoWrite,
        /// A deletion takes the pending entry away.
        DeleteTakesEntry,

        // Mistakes in lists and resyncs.
        /// Objects that are known and not pending are not compared.
        ForgetKnown,
        /// A tombstone carries the known object rather than the pending one.
        TombstoneFromStore,
        /// No tombstone without a lookup that succeeds.
        TombstoneNeedsLookup,
        /// Every list counts anew.
        CountEveryList,
        /// A list with a refused object counts as the first.
        RefusedListCounts,
        /// A list with a refused object deletes all objects that do not come before the refused
        /// one.
        RefusedListDeletes,
        /// A list drops what was pending.
        ListClearsPending,
        /// A resync shows nothing.
        ResyncShowsNothing,
        /// A resync takes a failed lookup for the absence of the object, and shows a deletion.
        ResyncDeletesTheUnreadable,
        /// A resync counts as a write.
        ResyncIsAWrite,

        // Mistakes in the first list.
        /// Adding and updating do not count as writes.
        PutIsNoWrite,
        /// Putting changes back does not count as a write.
        PutBackIsNoWrite,
        /// A refused object is no write.
        RefusedPutIsNoWrite,
        /// The flag of an entry is looked up after the entry was counted.
        FlagAfterCount,
        /// `close` releases waiters for the first list even if entries remain.
        CloseEndsTheWait,
        /// Processed entries are not counted.
        NeverCount,

        // Mistakes in popping and closing.
        /// The lock is not held while an entry is processed.
        UnlockWhileProcessing,
        /// The newest entry comes first.
        LastInFirstOut,
        /// Only the newest change is handed out.
        HandOutNewestOnly,
        /// A closed queue hands out nothing.
        CloseDiscards,
        /// An empty queue is taken for a closed one.
        EmptyIsClosed,
        /// A closed queue takes in nothing.
        CloseGatesWriters,
        /// Changes that are put back replace newer ones.
        RequeueOverwrites,
        /// Changes that are put back come first.
        RequeueInFront,

        // Mistakes in reading.
        /// A read returns the newest change only.
        GetNewestOnly,
        /// A listing is sorted by key.
        ListByKey,
        /// The length counts changes.
        LenCountsChanges,
    }
}
