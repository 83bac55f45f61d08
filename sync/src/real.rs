//! The real types and functions.

/// `std::sync`.
pub mod sync {
    pub use std::sync::*;
}

/// `std::thread`.
pub mod thread {
    pub use std::thread::*;
}

/// `std::time`.
pub mod time {
    pub use std::time::*;
}

/// `std::hint`.
pub mod hint {
    pub use std::hint::*;
}

/// `parking_lot`.
#[cfg(feature = "parking_lot")]
pub mod parking_lot {
    pub use ::parking_lot::*;
}

/// `crossbeam_channel`.
#[cfg(feature = "crossbeam-channel")]
pub mod crossbeam_channel {
    pub use ::crossbeam_channel::*;
}

/// `tokio`.
#[cfg(feature = "tokio")]
pub mod tokio {
    pub use ::tokio::{spawn, sync, task, time};
}
