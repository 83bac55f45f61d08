//! The mistakes that a mutant of the client can make around the rules of a call.

use crate::trial::mistakes;

mistakes! {
    /// One changed line.
    pub(super) enum Mistake {
        // Mistakes in the bodies.
        /// Only the first attempt has the body.
        BodyGoesOnce,
        /// A used-up reader gives an empty body.
        UsedUpIsEmpty,
        /// A request for a stream is sent without its body.
        StreamHasNoBody,
        /// A request for a watch is sent without its body.
        WatchHasNoBody,
        /// The body of the next attempt is made before the last answer is closed.
        MadeWhileItIsRead,
        /// The body is made once for all attempts.
        MadeOnce,
        /// The body is made before the first attempt has its turn.
        MadeBeforeItsTurn,

        // Mistakes in the state that calls share.
        /// Attempts are counted per request, not per call.
        AttemptsPileUp,
        /// The state of a host is kept per request.
        MemoryIsOfARequest,
        /// A failure without an answer does not reset the back-off of a host.
        FailuresAreRemembered,
        /// No attempt resets the back-off of a host.
        BacksOffForEver,
        /// An attempt without an answer counts as an answer of a busy host.
        FailuresCount,
        /// A call that is cancelled before its turn keeps the turn.
        KeepsATurn,

        // Mistakes in the end of a call.
        /// A pause that the server asks for does not end with the token.
        PauseCannotBeEnded,
        /// A pause of the back-off does not end with the token.
        BackOffCannotBeEnded,
        /// A wait for a turn does not end with the token.
        TurnCannotBeEnded,
        /// A wait for an answer does not end with the token.
        SilenceCannotBeEnded,
        /// A call waits for ever for a silent server.
        WaitsForEver,
        /// An answer that comes when the client's patience is just over is thrown away.
        LastMomentIsTooLate,
        /// The call goes on after a pause that the token has ended.
        GoesOnAfterTheEnd,

        // Mistakes in the result.
        /// The cause of a broken answer becomes a mere text.
        HalfIsWords,
        /// The limiter's cause for a refusal becomes a mere text.
        TurnIsWords,
        /// The cause of a missing body becomes a mere text.
        NoBodyIsWords,
        /// Half an answer counts as a whole one.
        HalfIsAnAnswer,
        /// Each piece of an answer is measured alone, so any number of them is accepted.
        PiecesAreMeasuredAlone,
        /// The end of a token is reported as a refusal of the limiter.
        EndIsARefusal,

        // Mistakes in closing answers.
        /// Answers are closed only at the end of the call.
        AnswersStayOpen,
        /// The last answer is not closed when it breaks off.
        HalfStaysOpen,
        /// No mistake: the correct sequential object.
        Nothing,
    }
}
