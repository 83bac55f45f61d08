//! What a simulation in one process needs, whatever is simulated: an agenda of what happens next,
//! clocks that drift and stall, and the fate of a call on a network that loses and delays.
//!
//! The election of `seatrial-models` is simulated with them.

mod agenda;
mod clock;
mod fate;

pub use agenda::Agenda;
pub use clock::NodeClock;
pub use fate::Fate;
