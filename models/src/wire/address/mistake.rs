//! The mistakes that one may make with addresses.

use crate::trial::mistakes;

mistakes! {
    /// One changed line.
    pub(super) enum Mistake {
        // Setters.
        /// The last mistake is told.
        LastMistakeCounts,
        /// A second subresource is told as a second resource, with its values.
        TellsTheResource,
        /// A part may be set again.
        SecondCounts,
        /// A namespace that is empty was not set.
        EmptyWasNotSet,
        /// A name may be empty.
        EmptyNames,
        /// Of two complaints one is told.
        OneComplaint,
        /// Dots may be a segment.
        DotsAreSegments,
        /// Slashes may be in a segment.
        SlashesPass,
        /// Escapes may be in a segment.
        EscapesPass,
        /// Subresources are not checked.
        SubResourcePasses,
        /// Objects of any resource have a namespace.
        AllAreScoped,

        // The path.
        /// A resource keeps its upper case.
        KeepsCase,
        /// The subresource comes before the name.
        NameComesLast,
        /// The suffix comes before all else.
        SuffixComesFirst,
        /// An absolute path loses its last slash.
        LosesTheSlash,
        /// An absolute path keeps its last slash in the middle as well.
        KeepsTheSlash,
        /// An absolute path begins at the root.
        ForgetsTheBase,
        /// A prefix takes the place of the one before.
        PrefixIsReplaced,
        /// A suffix takes the place of the one before.
        SuffixIsReplaced,
        /// Dots at the beginning of a suffix climb nowhere.
        NoClimbing,
        /// Dots climb out of the root.
        DotsStay,
        /// Too little is escaped.
        PathIsRaw,
        /// Too much is.
        ColonsAreEscaped,

        // Parameters.
        /// A URI adds to what is there.
        UriAdds,
        /// Keys are in the order in which they came.
        Unsorted,
        /// Values are sorted as well.
        ValuesAreSorted,
        /// A key has one value.
        LastValueCounts,
        /// A time-out is one value more.
        TimeoutIsAdded,
        /// A time-out gives way to the parameter.
        ParameterCounts,
        /// A negative time-out is none.
        NegativeIsNone,
        /// Minutes are told in seconds.
        SecondsAlone,
        /// A space is escaped.
        SpaceIsEscaped,

        // Templates.
        /// The base is counted as segments.
        BaseIsCounted,
        /// A path of one segment is a prefix.
        ShortIsAPrefix,
        /// The base is left out.
        BaseIsLost,
        /// A name within a namespace stays.
        NameStays,
        /// The namespace stays.
        NamespaceStays,
        /// Whatever has three segments is an object.
        ThreeIsAnObject,
        /// Nothing of three segments is.
        ThreeIsNone,
        /// `status` behind a resource is a name.
        StatusIsAName,
        /// Values stay.
        ValuesStay,
        /// A path that nobody knows keeps its parameters.
        UnknownKeepsItsQuery,
        /// The request keeps what the template put into it.
        ChangesTheRequest,

        // Before it is sent.
        /// An empty namespace is fine.
        EmptyPasses,
        /// It is refused without a name as well.
        EmptyNeverPasses,
        /// A change of one object is refused as well.
        PatchIsRefused,
        /// Nothing is wrong: the object that the mistakes are made in.
        Nothing,
    }
}
