//! The mistakes that a mutant of the builder can make.

use crate::trial::mistakes;

mistakes! {
    /// One changed line.
    pub(super) enum Mistake {
        // Mistakes in the setters.
        /// The last mistake is reported, not the first.
        LastMistakeCounts,
        /// A second subresource is reported as a second resource, with the resource's value.
        TellsTheResource,
        /// A part may be set again.
        SecondCounts,
        /// An empty namespace counts as not set.
        EmptyWasNotSet,
        /// A name may be empty.
        EmptyNames,
        /// Of two complaints, only one is reported.
        OneComplaint,
        /// A segment may consist of dots.
        DotsAreSegments,
        /// A segment may contain slashes.
        SlashesPass,
        /// A segment may contain escapes.
        EscapesPass,
        /// Subresources are not checked.
        SubResourcePasses,
        /// Objects of every resource have a namespace.
        AllAreScoped,

        // Mistakes in the path.
        /// A resource keeps its upper case.
        KeepsCase,
        /// The subresource comes before the name.
        NameComesLast,
        /// The suffix comes directly after the prefix.
        SuffixComesFirst,
        /// An absolute path loses its last slash.
        LosesTheSlash,
        /// The last slash of an absolute path moves to the end of the whole path.
        KeepsTheSlash,
        /// An absolute path begins at the root, not at the base.
        ForgetsTheBase,
        /// A prefix replaces the earlier one.
        PrefixIsReplaced,
        /// A suffix replaces the earlier one.
        SuffixIsReplaced,
        /// Dots at the beginning of a suffix are ignored.
        NoClimbing,
        /// Dots stay in the path, and may lead out of the root.
        DotsStay,
        /// Too few characters of the path are escaped.
        PathIsRaw,
        /// Colons are escaped, too.
        ColonsAreEscaped,

        // Mistakes in the parameters.
        /// A URI adds its parameters to the earlier ones.
        UriAdds,
        /// Keys stay in the order in which they came.
        Unsorted,
        /// Values are sorted as well.
        ValuesAreSorted,
        /// Only the last value of a key counts.
        LastValueCounts,
        /// A time-out is added to the values of the parameter.
        TimeoutIsAdded,
        /// The parameter replaces the time-out.
        ParameterCounts,
        /// A negative time-out is ignored.
        NegativeIsNone,
        /// Minutes are written as seconds.
        SecondsAlone,
        /// A space is percent-encoded.
        SpaceIsEscaped,

        // Mistakes in the templates.
        /// The segments of the base are counted, too.
        BaseIsCounted,
        /// A path of one segment becomes a `{prefix}`.
        ShortIsAPrefix,
        /// The base is left out.
        BaseIsLost,
        /// A name within a namespace is not replaced.
        NameStays,
        /// The namespace is not replaced.
        NamespaceStays,
        /// Three segments always mean an object.
        ThreeIsAnObject,
        /// Three segments never mean an object.
        ThreeIsNone,
        /// `status` after a resource is taken for a name.
        StatusIsAName,
        /// The values of parameters are not replaced.
        ValuesStay,
        /// A path of unknown shape keeps its parameters.
        UnknownKeepsItsQuery,
        /// The request keeps the placeholders of the template.
        ChangesTheRequest,

        // Mistakes in the check before sending.
        /// An empty namespace is accepted.
        EmptyPasses,
        /// An empty namespace is refused even without a name.
        EmptyNeverPasses,
        /// An empty namespace is refused for a patch of one object, too.
        PatchIsRefused,
        /// No mistake: the correct sequential object.
        Nothing,
    }
}
