//! What errors say. A text tells what its own level knows and `source` why, so that a caller that prints
//! a whole chain prints nothing twice. An error that only passes another on has the text and the
//! source of that one.

use std::error::Error;
use std::sync::Arc;

use seatrial_core::cancel::Reason;
use seatrial_core::delta_fifo::NoDeltas;
use seatrial_core::elector::{
    self, AlreadyRunning, Config, LockKind, Record, Timing, Wedged, validate_nanos,
};
use seatrial_core::fifo::Closed;
use seatrial_core::limiter::WaitError;
use seatrial_core::polling::Interrupted;
use seatrial_core::store::indexed::{
    AddIndexersError, IndexError, IndexFailed, NotOneValue, StoreError, TransactionError,
};
use seatrial_core::store::lister::NotFound;
use seatrial_core::store::mutation::{NotANumber, ReadError, WriteError};
use seatrial_core::store::{
    Cause, EnqueueError, HeapError, KeyError, LookupFailed, NoMetadata, split_key,
};

/// Returns the texts of an error and of all that it comes from.
fn chain(error: &dyn Error) -> Vec<String> {
    let mut texts = vec![error.to_string()];
    let mut below = error.source();
    while let Some(error) = below {
        texts.push(error.to_string());
        below = error.source();
    }
    texts
}

fn says_nothing_twice(error: &dyn Error) {
    let texts = chain(error);
    for (above, text) in texts.iter().enumerate() {
        assert!(!text.is_empty(), "{error:?}");
        for below in &texts[above + 1..] {
            assert!(!text.contains(below.as_str()), "{error:?} says it twice: {texts:?}");
        }
    }
}

fn cause() -> Cause {
    Arc::new(NoMetadata)
}

fn key() -> KeyError {
    KeyError::new(&"web", cause())
}

fn index() -> IndexFailed {
    IndexFailed { index: "label".into(), cause: cause() }
}

fn transaction(errors: Vec<StoreError>) -> TransactionError {
    TransactionError { successful: vec![0], total: 1 + errors.len(), errors }
}

/// What leads further, with how many levels.
fn with_a_cause() -> Vec<(Box<dyn Error>, usize)> {
    vec![
        (Box::new(key()), 2),
        (Box::new(EnqueueError::Key(key())), 2),
        (Box::new(EnqueueError::Transform(cause())), 2),
        (Box::new(StoreError::Key(key())), 2),
        (Box::new(StoreError::Transform(cause())), 2),
        (Box::new(StoreError::Index(index())), 2),
        (Box::new(index()), 2),
        (Box::new(IndexError::Failed(index())), 2),
        (Box::new(AddIndexersError::Failed(index())), 2),
        (Box::new(HeapError::Key(key())), 2),
        (Box::new(ReadError::Index(IndexError::Failed(index()))), 2),
        (Box::new(WriteError::Key(key())), 2),
        (Box::new(transaction(vec![key().into(), index().into()])), 3),
    ]
}

/// What is the end of a chain.
fn without_a_cause() -> Vec<Box<dyn Error>> {
    let not_a_number = || NotANumber("x7".to_owned());
    let unnamed = Config::new("").validate().expect_err("it has no name");
    let timing = Timing::seconds(1, 1, 1);
    let too_short = Config::new("pod").timing(timing).validate().expect_err("too short");
    vec![
        Box::new(Closed),
        Box::new(NoMetadata),
        Box::new(NoDeltas),
        Box::new(LookupFailed),
        Box::new(NotOneValue(2)),
        Box::new(split_key("a/b/c").expect_err("it has three parts")),
        Box::new(NotFound { resource: "pods".into(), name: "web".to_owned() }),
        Box::new(IndexError::Unknown("label".to_owned())),
        Box::new(AddIndexersError::Conflict),
        Box::new(transaction(vec![])),
        Box::new(HeapError::Closed),
        Box::new(HeapError::NotFound),
        Box::new(not_a_number()),
        Box::new(ReadError::Index(IndexError::Unknown("label".to_owned()))),
        Box::new(ReadError::Version(not_a_number())),
        Box::new(WriteError::Version(not_a_number())),
        Box::new(Reason::Cancelled),
        Box::new(Reason::DeadlineExceeded),
        Box::new(WaitError::ExceedsBurst),
        Box::new(WaitError::WouldExceedDeadline),
        Box::new(WaitError::Ended(Reason::Cancelled)),
        Box::new(WaitError::Closed),
        Box::new(AlreadyRunning),
        Box::new(Wedged::new("controller".into())),
        Box::new(elector::StoreError::Invalid("no holder".into())),
        Box::new(elector::StoreError::Other("broken pipe".into())),
        Box::new(LockKind::current("files").expect_err("there is no such kind")),
        Box::new(Record::from_json("{").expect_err("it is cut short")),
        Box::new(validate_nanos(1, 1, 1).expect_err("nothing is longer")),
        Box::new(unnamed),
        Box::new(too_short),
    ]
}

#[test]
fn no_error_says_anything_twice() {
    for (error, levels) in with_a_cause() {
        says_nothing_twice(&*error);
        let texts = chain(&*error);
        assert_eq!(texts.len(), levels, "{texts:?}");
        assert_eq!(texts.last(), Some(&NoMetadata.to_string()), "the cause is the last to be said");
    }
}

#[test]
fn an_error_without_a_cause_says_all_of_it() {
    let errors = without_a_cause();
    for error in &errors {
        says_nothing_twice(&**error);
        assert!(error.source().is_none(), "{error:?}");
    }
}

#[test]
fn what_passes_an_error_on_adds_nothing() {
    assert_eq!(chain(&StoreError::from(EnqueueError::from(key()))), chain(&key()));
    assert_eq!(chain(&HeapError::from(key())), chain(&key()));
    assert_eq!(chain(&WriteError::from(key())), chain(&key()));
    assert_eq!(chain(&ReadError::from(IndexError::Failed(index()))), chain(&index()));
    assert_eq!(chain(&WaitError::Ended(Reason::Cancelled)), chain(&Reason::Cancelled));
    assert_eq!(chain(&Interrupted::Ended(Reason::Cancelled)), chain(&Reason::Cancelled));
}
