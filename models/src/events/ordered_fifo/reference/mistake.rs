//! The mistakes that one may make.

use crate::trial::mistakes;

mistakes! {
    /// One changed line.
    pub enum Mistake {
        // What the reference does to this day.
        /// Whether an event belongs to the first list is decided when its processing ends.
        ChargeWhenProcessed,
        // What it did once.
        /// An event counts as processed when it is taken.
        CountWhenTaken,
        /// A list or a resync gets into a batch.
        BatchWhateverComes,
        // What anybody may do.
        /// A batch crosses the end of the first list.
        BatchAcrossFirstList,
        /// A batch holds two changes of one object.
        BatchRepeatsKeys,
        /// A batch is as long as the queue.
        BatchWithoutLimit,
        /// The lock is released in plain mode.
        UnlockPlain,
        /// The lock is released however long the queue is.
        UnlockLongQueue,
        /// A second consumer is let in while the first processes.
        SecondConsumer,
        /// The objects of a list come before the tombstones.
        ListBeforeTombstones,
        /// A queued deletion gets a tombstone behind it.
        TombstoneAfterDeletion,
        /// A list does not look at what is only queued.
        ListForgetsQueued,
        /// A list does not look at what is only known.
        ListForgetsKnown,
        /// A resync shows what is queued, too.
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
        /// A change takes the place of the queued one of its object.
        MergeChanges,
        /// The lock is never released.
        KeepLocked,
        /// What is handed out stays in the queue.
        TakenStays,
        /// What is left counts what was taken.
        LeftCountsTaken,
        /// A deletion is queued only for what the consumer has.
        DeleteAsksStore,
        /// A closed queue takes in nothing.
        CloseGatesWriters,
        /// An empty queue is taken for a closed one.
        EmptyIsClosed,
        /// A tombstone carries what is known rather than what is queued.
        TombstoneFromStore,
        /// A resync does not tell that an object has no key.
        ResyncHidesRefused,
        /// A resync shows nothing.
        ResyncShowsNothing,
        /// A list is one event for each of its objects in atomic mode, too.
        ListInPieces,
        /// A bookmark is an event everywhere.
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
        /// The length counts what is in process.
        LenCountsInProcess,
        /// A listing has the newest event first.
        ListNewestFirst,
        /// A closed queue says that it is open.
        ClosedIsDenied,
        /// A resync shows nothing in atomic mode.
        AtomicResyncShowsNothing,
        /// A bookmark is an event nowhere.
        BookmarkNowhere,
        /// A batch of an empty queue is taken for the end.
        EmptyBatchIsClosed,
        /// Waiting for the first list ends with the queue's closing.
        CloseEndsTheWait,
        /// The lock is released while a list, a resync or a bookmark is processed.
        UnlockWholeLists,
        /// Who has processed with the lock held wakes nobody for what is left.
        LockedWakesNobody,
    }
}
