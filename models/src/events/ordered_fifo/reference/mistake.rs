//! The mistakes that a mutant of the queue can make.

use crate::trial::mistakes;

mistakes! {
    /// One changed line.
    pub enum Mistake {
        // The reference still does this.
        /// Whether an event belongs to the first list is decided when its processing ends.
        ChargeWhenProcessed,
        // The reference did these once.
        /// An event counts as processed when it is taken.
        CountWhenTaken,
        /// A list or a resync gets into a batch.
        BatchWhateverComes,
        // Other mistakes.
        /// A batch crosses the end of the first list.
        BatchAcrossFirstList,
        /// A batch holds two changes of one object.
        BatchRepeatsKeys,
        /// A batch is as long as the queue.
        BatchWithoutLimit,
        /// The lock is released in plain mode.
        UnlockPlain,
        /// The lock is released even if the queue is long.
        UnlockLongQueue,
        /// A second consumer gets events while the first processes.
        SecondConsumer,
        /// The objects of a list come before the tombstones.
        ListBeforeTombstones,
        /// A queued deletion gets a tombstone behind it.
        TombstoneAfterDeletion,
        /// A list ignores objects that are only queued.
        ListForgetsQueued,
        /// A list ignores objects that are only known.
        ListForgetsKnown,
        /// A resync shows queued objects, too.
        ResyncShowsQueued,
        /// A resync counts as a write.
        ResyncPopulates,
        /// A refused object is no write.
        RefusedIsNoWrite,
        /// Every list counts anew.
        CountEveryList,
        /// A closed queue hands out nothing.
        CloseDiscards,
        /// The newest event comes first.
        LastInFirstOut,
        /// A change replaces the queued one of its object.
        MergeChanges,
        /// The lock is never released.
        KeepLocked,
        /// Events that are handed out stay in the queue.
        TakenStays,
        /// The number of events left includes those that were taken.
        LeftCountsTaken,
        /// A deletion is queued only if the consumer has the object.
        DeleteAsksStore,
        /// A closed queue takes in nothing.
        CloseGatesWriters,
        /// An empty queue is taken for a closed one.
        EmptyIsClosed,
        /// A tombstone carries the known object rather than the queued one.
        TombstoneFromStore,
        /// A resync does not report that an object has no key.
        ResyncHidesRefused,
        /// A resync shows nothing.
        ResyncShowsNothing,
        /// A list is one event for each of its objects in atomic mode, too.
        ListInPieces,
        /// A bookmark is an event in every setup.
        BookmarkEverywhere,
        /// A bookmark counts as a write.
        BookmarkPopulates,
        /// A list drops what was queued.
        ListClearsQueue,
        /// The flag of an event is looked up after the event was counted.
        FlagAfterCount,
        /// Processed events are not counted.
        NeverCount,
        /// Adding and updating do not count as writes.
        PutIsNoWrite,
        /// Deleting does not count as a write.
        DeleteIsNoWrite,
        /// A batch is never longer than one event.
        BatchOfOne,
        /// The length includes events in process.
        LenCountsInProcess,
        /// A listing has the newest event first.
        ListNewestFirst,
        /// A closed queue says that it is open.
        ClosedIsDenied,
        /// A resync shows nothing in atomic mode.
        AtomicResyncShowsNothing,
        /// A bookmark is an event in no setup.
        BookmarkNowhere,
        /// An empty batch is taken for the end.
        EmptyBatchIsClosed,
        /// Waiting for the first list ends with the queue's closing.
        CloseEndsTheWait,
        /// The lock is released while a list, a resync or a bookmark is processed.
        UnlockWholeLists,
        /// A consumer that has processed under the lock wakes no other for the remaining events.
        LockedWakesNobody,
    }
}
