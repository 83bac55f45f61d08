//! `std`'s atomic types: one number of the engine, or a real one.

pub use std::sync::atomic::{Ordering, compiler_fence};

use std::fmt;
use std::sync::atomic::AtomicU64 as Real;

use seatrial::program::{Atomic as Engine, Seam};

/// [`std::sync::atomic::fence`]. In a run only loom needs it: to the other engines every access is sequentially
/// consistent.
///
/// # Panics
/// If the order is [`Ordering::Relaxed`].
pub fn fence(order: Ordering) {
    match Seam::current() {
        Some(seam) => seam.fence(order),
        None => std::sync::atomic::fence(order),
    }
}

/// The bits of a number.
enum Bits {
    Engine(Engine),
    Real(Real),
}

use Bits::{Engine as E, Real as R};

impl Bits {
    fn new(bits: u64) -> Self {
        Seam::current().map_or_else(|| R(Real::new(bits)), |seam| E(seam.atomic(bits)))
    }

    fn load(&self, order: Ordering) -> u64 {
        match self {
            E(number) => number.load(order),
            R(number) => number.load(order),
        }
    }

    fn store(&self, bits: u64, order: Ordering) {
        match self {
            E(number) => number.store(bits, order),
            R(number) => number.store(bits, order),
        }
    }

    fn swap(&self, bits: u64, order: Ordering) -> u64 {
        match self {
            E(number) => number.swap(bits, order),
            R(number) => number.swap(bits, order),
        }
    }

    fn fetch_add(&self, more: u64, order: Ordering) -> u64 {
        match self {
            E(number) => number.fetch_add(more, order),
            R(number) => number.fetch_add(more, order),
        }
    }

    fn compare_exchange(
        &self,
        current: u64,
        new: u64,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u64, u64> {
        match self {
            E(number) => number.compare_exchange(current, new, success, failure),
            R(number) => number.compare_exchange(current, new, success, failure),
        }
    }

    /// Changes it in one step that others cannot come into, if `change` says so; returns what it was.
    fn update(
        &self,
        success: Ordering,
        failure: Ordering,
        mut change: impl FnMut(u64) -> Option<u64>,
    ) -> Result<u64, u64> {
        let mut was = self.load(failure);
        loop {
            let Some(new) = change(was) else { return Err(was) };
            match self.compare_exchange(was, new, success, failure) {
                Ok(was) => return Ok(was),
                Err(now) => was = now,
            }
        }
    }
}

/// The strongest order that a load can have beside `order` of an access that also writes.
fn of_load(order: Ordering) -> Ordering {
    match order {
        Ordering::Release | Ordering::Relaxed => Ordering::Relaxed,
        Ordering::SeqCst => Ordering::SeqCst,
        _ => Ordering::Acquire,
    }
}

/// What all atomic types have.
macro_rules! atomic {
    ($name:ident, $of:ty, $to:expr, $from:expr, $($more:tt)*) => {
        #[doc = concat!("[`std::sync::atomic::", stringify!($name), "`].")]
        pub struct $name(Bits);

        impl $name {
            /// Makes one with this value.
            #[must_use]
            pub fn new(value: $of) -> Self {
                Self(Bits::new($to(value)))
            }

            /// Reads the value.
            pub fn load(&self, order: Ordering) -> $of {
                $from(self.0.load(order))
            }

            /// Writes the value.
            pub fn store(&self, value: $of, order: Ordering) {
                self.0.store($to(value), order);
            }

            /// Writes the value and returns the old one.
            pub fn swap(&self, value: $of, order: Ordering) -> $of {
                $from(self.0.swap($to(value), order))
            }

            /// Writes `new` if the value is `current`; returns the old one.
            ///
            /// # Errors
            /// The value is a different one, which is returned.
            pub fn compare_exchange(
                &self,
                current: $of,
                new: $of,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$of, $of> {
                let result = self.0.compare_exchange($to(current), $to(new), success, failure);
                result.map($from).map_err($from)
            }

            /// The same; it never fails for no reason in a run.
            ///
            /// # Errors
            /// The value is a different one, which is returned.
            pub fn compare_exchange_weak(
                &self,
                current: $of,
                new: $of,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$of, $of> {
                self.compare_exchange(current, new, success, failure)
            }

            /// Replaces the value by what `change` returns, as long as another thread comes in between.
            ///
            /// # Errors
            /// `change` returned nothing: the value is returned.
            pub fn fetch_update<F: FnMut($of) -> Option<$of>>(
                &self,
                success: Ordering,
                failure: Ordering,
                mut change: F,
            ) -> Result<$of, $of> {
                let result =
                    self.0.update(success, failure, |was| change($from(was)).map($to));
                result.map($from).map_err($from)
            }

            fn always(&self, order: Ordering, mut change: impl FnMut($of) -> $of) -> $of {
                let changed = self.fetch_update(order, of_load(order), |was| Some(change(was)));
                changed.unwrap_or_else(|was| was)
            }

            /// Changes the value to both and returns the old one.
            pub fn fetch_and(&self, value: $of, order: Ordering) -> $of {
                self.always(order, |was| was & value)
            }

            /// Changes the value to either and returns the old one.
            pub fn fetch_or(&self, value: $of, order: Ordering) -> $of {
                self.always(order, |was| was | value)
            }

            /// Changes the value to what differs and returns the old one.
            pub fn fetch_xor(&self, value: $of, order: Ordering) -> $of {
                self.always(order, |was| was ^ value)
            }

            /// Changes the value to not both and returns the old one.
            pub fn fetch_nand(&self, value: $of, order: Ordering) -> $of {
                self.always(order, |was| !(was & value))
            }

            $($more)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new(<$of>::default())
            }
        }

        impl From<$of> for $name {
            fn from(value: $of) -> Self {
                Self::new(value)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.load(Ordering::Relaxed).fmt(f)
            }
        }
    };
}

/// What atomic numbers have. `$add` adds to the bits.
macro_rules! integer {
    ($name:ident, $of:ty, $is_whole:expr) => {
        atomic! {
            $name, $of, |value: $of| value as u64, |bits: u64| bits as $of,
            /// Adds, wrapping around, and returns the old value.
            pub fn fetch_add(&self, value: $of, order: Ordering) -> $of {
                if $is_whole {
                    return self.0.fetch_add(value as u64, order) as $of;
                }
                self.always(order, |was| was.wrapping_add(value))
            }

            /// Subtracts, wrapping around, and returns the old value.
            pub fn fetch_sub(&self, value: $of, order: Ordering) -> $of {
                self.fetch_add((0 as $of).wrapping_sub(value), order)
            }

            /// Changes the value to the larger one and returns the old one.
            pub fn fetch_max(&self, value: $of, order: Ordering) -> $of {
                self.always(order, |was| was.max(value))
            }

            /// Changes the value to the smaller one and returns the old one.
            pub fn fetch_min(&self, value: $of, order: Ordering) -> $of {
                self.always(order, |was| was.min(value))
            }
        }
    };
}

integer!(AtomicU8, u8, false);
integer!(AtomicU16, u16, false);
integer!(AtomicU32, u32, false);
integer!(AtomicU64, u64, true);
integer!(AtomicUsize, usize, usize::BITS == u64::BITS);
integer!(AtomicI8, i8, false);
integer!(AtomicI16, i16, false);
integer!(AtomicI32, i32, false);
integer!(AtomicI64, i64, true);
integer!(AtomicIsize, isize, usize::BITS == u64::BITS);

atomic! {
    AtomicBool, bool, u64::from, |bits: u64| bits != 0,
    /// Turns the value over and returns the old one.
    pub fn fetch_not(&self, order: Ordering) -> bool {
        self.fetch_xor(true, order)
    }
}
