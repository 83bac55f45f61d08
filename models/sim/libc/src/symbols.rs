//! The three functions of the C library that are replaced.
#![allow(unsafe_code, reason = "functions of the C library take and fill raw memory")]

use std::cell::Cell;
use std::ffi::{c_char, c_int, c_long, c_uint, c_void};
use std::time::Duration;

use crate::asks::{Source, took};
use crate::{CLOCK, HOST, REMEDIES, STATE, next};

/// What `gethostname` says under control, on a machine without a name.
const NAME: &str = "simulated";

thread_local! {
    /// The simulation's clock may itself ask for the time.
    static ASKING: Cell<bool> = const { Cell::new(false) };
}

/// Fills memory with random bytes.
///
/// # Safety
///
/// `buffer` points to `length` bytes that may be written, as for the function of the C library.
// SAFETY: the name is that of the C library on purpose, with the same signature and meaning.
#[unsafe(no_mangle)]
unsafe extern "C" fn getrandom(buffer: *mut c_void, length: usize, flags: c_uint) -> isize {
    if !REMEDIES.try_with(|it| it.get().is_some_and(|it| it.random)).unwrap_or(false) {
        took(Source::Random);
        // SAFETY: the arguments go to the kernel as they came.
        return unsafe { libc::syscall(libc::SYS_getrandom, buffer, length, flags) as isize };
    }
    took(Source::Random);
    let bytes = buffer.cast::<u8>();
    for at in 0..length {
        // SAFETY: the caller lets us write `length` bytes from `buffer` on.
        unsafe { bytes.add(at).write(next(&STATE) as u8) };
    }
    length as isize
}

/// Tells the time.
///
/// # Safety
///
/// `time` points to a `timespec` that may be written, as for the function of the C library.
// SAFETY: the name is that of the C library on purpose, with the same signature and meaning.
#[unsafe(no_mangle)]
unsafe extern "C" fn clock_gettime(clock: libc::clockid_t, time: *mut libc::timespec) -> c_int {
    if matches!(clock, libc::CLOCK_REALTIME | libc::CLOCK_MONOTONIC) {
        took(Source::Clock);
    }
    let is_on = REMEDIES.try_with(|it| it.get().is_some_and(|it| it.clock)).unwrap_or(false);
    let simulated = if is_on { simulated(clock) } else { None };
    let Some(now) = simulated else {
        // SAFETY: the arguments go to the kernel as they came.
        return unsafe { libc::syscall(libc::SYS_clock_gettime, clock as c_long, time) as c_int };
    };
    let seconds = now.as_secs() as libc::time_t;
    let nanoseconds = c_long::from(now.subsec_nanos() as i32);
    // SAFETY: the caller lets us write a `timespec`.
    unsafe { time.write(libc::timespec { tv_sec: seconds, tv_nsec: nanoseconds }) };
    0
}

/// The simulation's time on a clock; none for clocks that it has no say over.
fn simulated(clock: libc::clockid_t) -> Option<Duration> {
    let is_wall = matches!(clock, libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE);
    let is_steady = matches!(
        clock,
        libc::CLOCK_MONOTONIC | libc::CLOCK_MONOTONIC_COARSE | libc::CLOCK_BOOTTIME
    );
    if !(is_wall || is_steady) || ASKING.replace(true) {
        return None;
    }
    let set = CLOCK.try_with(|it| it.try_borrow().ok().and_then(|it| it.clone())).ok().flatten();
    let now = set.and_then(|(begins_at, elapsed)| elapsed().map(|it| begins_at + it));
    ASKING.set(false);
    now
}

/// Tells the name of the machine.
///
/// # Safety
///
/// `name` points to `length` bytes that may be written, as for the function of the C library.
// SAFETY: the name is that of the C library on purpose, with the same signature and meaning.
#[unsafe(no_mangle)]
unsafe extern "C" fn gethostname(name: *mut c_char, length: usize) -> c_int {
    took(Source::Hostname);
    let is_on = REMEDIES.try_with(|it| it.get().is_some_and(|it| it.hostname)).unwrap_or(false);
    if is_on {
        let own = HOST.try_with(|it| it.try_borrow().map(|it| it.clone()).unwrap_or_default());
        let own = own.ok().filter(|it| !it.is_empty()).unwrap_or_else(|| NAME.to_owned());
        for (at, byte) in own.bytes().chain([0]).take(length).enumerate() {
            // SAFETY: the caller lets us write `length` bytes from `name` on.
            unsafe { name.add(at).write(byte.cast_signed()) };
        }
        return 0;
    }
    // SAFETY: all zeros is a `utsname`, which the kernel fills.
    let mut system: libc::utsname = unsafe { std::mem::zeroed() };
    // SAFETY: `system` may be written.
    if unsafe { libc::uname(&raw mut system) } != 0 {
        return -1;
    }
    for (at, byte) in system.nodename.iter().take(length).enumerate() {
        // SAFETY: the caller lets us write `length` bytes from `name` on.
        unsafe { name.add(at).write(*byte) };
    }
    0
}

/// The machine's own clock.
pub(crate) fn real_nanoseconds() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` may be written.
    unsafe {
        libc::syscall(libc::SYS_clock_gettime, libc::CLOCK_MONOTONIC as c_long, &raw mut time)
    };
    (time.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec as u64)
}
