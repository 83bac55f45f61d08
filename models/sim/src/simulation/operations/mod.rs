//! Operations: changes of an object that are drawn from its schema, and what a controller makes of them.
//!
//! [`Simulation::operations`] changes the object again and again, as users do: optional fields are set and
//! removed, lists grow, shrink and change their order, quantities come in other units, and some values make no
//! sense. It asks what holds for every controller: the end does not depend on the way there, going back
//! leads back, and what makes no sense is refused or survived. The guide is `docs/operations-from-a-schema.md`.

mod bench;
mod draw;
mod ends;
mod gathered;
mod hard;
mod operation;
mod report;
mod scalar;
mod schema;
mod shrink;
mod survey;

#[cfg(doctest)]
#[doc = include_str!("../../../../../docs/operations-from-a-schema.md")]
struct Guide;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use serde::Serialize;
use serde_json::Value;

pub use operation::{BadOperations, Intent, Operation};
#[cfg(any(feature = "drive", feature = "campaign"))]
pub(crate) use report::PROMISES;
pub use report::{Finding, Misbehaviour, Promise, Survey};
#[cfg(feature = "drive")]
pub(crate) use {
    gathered::Gathered,
    survey::{Surveyor, ready, usual},
};

use super::{Simulation, json};
pub(crate) use operation::Sequence;
#[cfg(feature = "drive")]
pub(crate) use operation::written;

/// The variable that holds the operations to run again.
const REPLAY: &str = "SEATRIAL_OPERATIONS";

/// A controller, and an object that is changed in ways that its schema allows.
pub struct Operations {
    simulation: Simulation,
    object: Value,
    examples: Vec<Value>,
    wish: Wish,
}

/// The settings of a survey.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wish {
    pub(crate) sequences: Option<u64>,
    pub(crate) seed: u64,
    pub(crate) replay: Option<Sequence>,
    pub(crate) needs_effect: bool,
    pub(crate) hard: bool,
    /// No sequence begins after that, or when it is to stop.
    pub(crate) until: Option<Instant>,
    pub(crate) stop: Arc<AtomicBool>,
}

impl fmt::Debug for Operations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("Operations");
        text.field("object", &self.object).field("wish", &self.wish).finish_non_exhaustive()
    }
}

impl Simulation {
    /// Draws changes of this object, which the user creates after the other steps. Its kind is built in, or
    /// its definition is [`given`](Self::given).
    ///
    /// # Panics
    ///
    /// The object cannot be written as JSON.
    #[must_use]
    pub fn operations(self, object: &impl Serialize) -> Operations {
        let object = json(object);
        let examples = vec![object.clone()];
        Operations { simulation: self, object, examples, wish: Wish { seed: 1, ..Wish::default() } }
    }
}

impl Operations {
    /// Another valid object of the kind: values are drawn from it as well. If the examples show two values
    /// of a text, no others are drawn.
    ///
    /// # Panics
    ///
    /// The object cannot be written as JSON.
    #[must_use]
    pub fn example(mut self, object: &impl Serialize) -> Self {
        self.examples.push(json(object));
        self
    }

    /// How many sequences are drawn, and from which seed; without this, twice as many as the schema
    /// has fields, from 20 to 200, from 1.
    #[must_use]
    pub fn sequences(mut self, count: u64, seed: u64) -> Self {
        (self.wish.sequences, self.wish.seed) = (Some(count), seed);
        self
    }

    /// A field of which nothing depends is a finding. Otherwise it is only told.
    #[must_use]
    pub fn needs_effect(mut self) -> Self {
        self.wish.needs_effect = true;
        self
    }

    /// Tries objects as well that are hard to handle: with a long name, many labels, or nothing that is
    /// optional, deleted and created anew unseen, with a namesake elsewhere, in the year 2106.
    #[must_use]
    pub fn hard_objects(mut self) -> Self {
        self.wish.hard = true;
        self
    }

    /// Runs these operations only, as a finding has written them.
    ///
    /// # Panics
    ///
    /// The text is no list of operations.
    #[must_use]
    pub fn replay(mut self, operations: &str) -> Self {
        let sequence = operations.parse::<Sequence>();
        self.wish.replay = Some(sequence.unwrap_or_else(|error| panic!("{error}")));
        self
    }

    /// Tries the operations, or those of `SEATRIAL_OPERATIONS` if it is set. Prints the counts.
    ///
    /// # Panics
    ///
    /// A promise is broken: the message has the fewest operations that break it, and a picture.
    #[track_caller]
    pub fn check(self) -> Survey {
        match self.try_check() {
            Ok(survey) => {
                println!("{survey}");
                survey
            }
            Err(found) => panic!("{found}"),
        }
    }

    /// The same, for tests that look at what is found themselves.
    ///
    /// # Errors
    ///
    /// A promise is broken.
    ///
    /// # Panics
    ///
    /// The server does not know the kind, it refuses an object that is to be there before, or
    /// `SEATRIAL_OPERATIONS` is no list of operations.
    pub fn try_check(mut self) -> Result<Survey, Box<Misbehaviour>> {
        if let (None, Ok(operations)) = (&self.wish.replay, std::env::var(REPLAY)) {
            self = self.replay(&operations);
        }
        survey::conduct(self)
    }
}
