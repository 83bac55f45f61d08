//! The mistakes that one may make around the rules of a call.

use crate::trial::mistakes;

mistakes! {
    /// One changed line.
    pub(super) enum Mistake {
        // Bodies.
        /// Only the first attempt has the body.
        BodyGoesOnce,
        /// A reader that is used up is a body without bytes.
        UsedUpIsEmpty,
        /// A stream is asked for without a body.
        StreamHasNoBody,
        /// A watch is.
        WatchHasNoBody,
        /// The body of the next attempt is made before the last answer is closed.
        MadeWhileItIsRead,
        /// The body is made once for all attempts.
        MadeOnce,
        /// It is made before the first attempt has its turn.
        MadeBeforeItsTurn,

        // What calls share.
        /// Attempts are counted for a request, not for a call.
        AttemptsPileUp,
        /// What is known of a host is of one request.
        MemoryIsOfARequest,
        /// A failure without an answer leaves what is known of a host.
        FailuresAreRemembered,
        /// So does an answer that is none of too much to do.
        BacksOffForEver,
        /// An attempt without an answer counts as a host that has too much to do.
        FailuresCount,
        /// Who is cancelled before its turn keeps that.
        KeepsATurn,

        // The end.
        /// A pause that the server wants does not end with the token.
        PauseCannotBeEnded,
        /// A pause of the back-off does not.
        BackOffCannotBeEnded,
        /// A wait for a turn does not.
        TurnCannotBeEnded,
        /// A wait for an answer does not.
        SilenceCannotBeEnded,
        /// A server that says nothing is waited for.
        WaitsForEver,
        /// After a pause that the token has ended it goes on.
        GoesOnAfterTheEnd,

        // What is told.
        /// Why an answer broke off becomes words.
        HalfIsWords,
        /// Why the limiter refuses becomes words.
        TurnIsWords,
        /// Why there is no body becomes words.
        NoBodyIsWords,
        /// Half an answer is one.
        HalfIsAnAnswer,
        /// The end of a token is a refusal of the limiter.
        EndIsARefusal,

        // Answers.
        /// They are closed at the end of the call alone.
        AnswersStayOpen,
        /// The last is not closed when it breaks off.
        HalfStaysOpen,
        /// Nothing is wrong: the object that the mistakes are made in.
        Nothing,
    }
}
