//! The network: what becomes of a call.

/// The fate of one call. All times are nanoseconds of the simulation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Fate {
    /// How long the request takes to the server; `None` if it is lost.
    pub request: Option<u64>,
    /// How long the answer takes back; `None` if it is lost.
    pub reply: Option<u64>,
    /// How many versions a read lags behind.
    pub lag: u64,
    /// Whether the server refuses the call instead of serving it.
    pub refused: bool,
}

impl Fate {
    /// Served and answered at once.
    pub const INSTANT: Self = Self { request: Some(0), reply: Some(0), lag: 0, refused: false };
    /// Lost on the way to the server.
    pub const LOST: Self = Self { request: None, reply: None, lag: 0, refused: false };
    /// Answered with an error, not applied.
    pub const REFUSED: Self = Self { request: Some(0), reply: Some(0), lag: 0, refused: true };

    /// Served at once; the answer takes this long.
    #[must_use]
    pub const fn reply_after(nanos: u64) -> Self {
        Self { request: Some(0), reply: Some(nanos), lag: 0, refused: false }
    }
}
