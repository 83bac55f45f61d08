//! The runtime of any engine of this build that runs programs of threads.

use seatrial_core::runtime::System;

#[cfg(any(feature = "loom", feature = "shuttle"))]
use super::either::Either;
#[cfg(feature = "loom")]
use super::loom::LoomRuntime;
#[cfg(feature = "shuttle")]
use super::shuttle::ShuttleRuntime;

#[cfg(not(feature = "loom"))]
type Rest = System;
#[cfg(feature = "loom")]
type Rest = Either<LoomRuntime, System>;

/// The runtime that every scenario is compiled for.
#[cfg(not(feature = "shuttle"))]
pub type AnyRuntime = Rest;
/// The runtime that every scenario is compiled for.
#[cfg(feature = "shuttle")]
pub type AnyRuntime = Either<ShuttleRuntime, Rest>;

#[cfg(feature = "shuttle")]
impl From<ShuttleRuntime> for AnyRuntime {
    fn from(shuttle: ShuttleRuntime) -> Self {
        Either::One(shuttle)
    }
}

#[cfg(feature = "loom")]
impl From<LoomRuntime> for AnyRuntime {
    fn from(loom: LoomRuntime) -> Self {
        among_all(Either::One(loom))
    }
}

#[cfg(feature = "loom")]
impl From<System> for AnyRuntime {
    fn from(system: System) -> Self {
        among_all(Either::Other(system))
    }
}

#[cfg(all(feature = "shuttle", not(feature = "loom")))]
impl From<System> for AnyRuntime {
    fn from(system: System) -> Self {
        among_all(system)
    }
}

#[cfg(all(feature = "loom", not(feature = "shuttle")))]
fn among_all(rest: Rest) -> AnyRuntime {
    rest
}

#[cfg(feature = "shuttle")]
fn among_all(rest: Rest) -> AnyRuntime {
    Either::Other(rest)
}
