//! Records of the code that asks for chance and time.

use std::backtrace::Backtrace;
use std::cell::{Cell, RefCell};
use std::fmt;

/// The inputs that code asks for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Source {
    /// Random numbers of the system: the keys of the standard library's hash maps, and others.
    Random,
    /// The time.
    Clock,
    /// The keys of ahash's maps.
    Ahash,
    /// The name of the machine.
    Hostname,
}

/// One request for an input.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Ask {
    /// The input.
    pub source: Source,
    /// The crate and line that asks, as in `kube-runtime-5.0.0/src/scheduler.rs:50`, and the line
    /// of a crate that is not a dependency, if one has called it. Empty if the program does not
    /// know.
    pub from: String,
}

impl fmt::Display for Ask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.source {
            Source::Random => "random numbers, such as the keys of a hash map",
            Source::Clock => "the time",
            Source::Ahash => "the keys of a map of ahash",
            Source::Hostname => "the name of the machine",
        };
        let from = if self.from.is_empty() { "someone" } else { &self.from };
        write!(f, "{from} asks for {what}")
    }
}

/// More are not written down: a program that asks without end would fill the memory.
const MOST: usize = 4_000;

thread_local! {
    static ASKS: RefCell<Option<Vec<(Source, Backtrace)>>> = const { RefCell::new(None) };
    /// A backtrace may itself ask.
    static LOOKING: Cell<bool> = const { Cell::new(false) };
}

pub(crate) fn begin() {
    let old = ASKS.replace(Some(Vec::new()));
    drop(old);
}

pub(crate) fn end() -> Vec<Ask> {
    let asks = ASKS.take().unwrap_or_default();
    let ask =
        |(source, stack): (Source, Backtrace)| Ask { source, from: asker(&stack.to_string()) };
    asks.into_iter().map(ask).collect()
}

/// Takes note of someone who asks, if that is wanted on this thread.
pub(crate) fn took(source: Source) {
    let is_wanted = ASKS.try_with(|it| {
        it.try_borrow().is_ok_and(|it| it.as_ref().is_some_and(|it| it.len() < MOST))
    });
    if !is_wanted.unwrap_or(false) || LOOKING.try_with(|it| it.replace(true)).unwrap_or(true) {
        return;
    }
    let stack = Backtrace::force_capture();
    let kept = ASKS.try_with(|it| {
        if let Ok(mut it) = it.try_borrow_mut()
            && let Some(asks) = it.as_mut()
        {
            asks.push((source, stack));
        }
    });
    kept.unwrap_or_default();
    LOOKING.set(false);
}

/// Crates that only hand on what others ask for.
const BETWEEN: [&str; 8] =
    ["ahash-", "fastrand-", "getrandom-", "hashbrown-", "rand-", "rand_core-", "tokio-", "uuid-"];

/// The one who asks, by the files of a stack.
fn asker(stack: &str) -> String {
    let files = stack.lines().filter_map(|line| line.trim_start().strip_prefix("at "));
    let mut first = None;
    for file in files {
        let file = file.rsplit_once(':').map_or(file, |(file, _column)| file);
        let dependency = file.split_once("/registry/src/").and_then(|(_, it)| it.split_once('/'));
        match dependency {
            _ if file.starts_with("/rustc/") || file.contains("/rustlib/") => {}
            _ if is_ours(file) => {}
            Some((_, file)) => {
                if first.is_none() && !BETWEEN.iter().any(|it| file.starts_with(it)) {
                    first = Some(file.to_owned());
                }
            }
            // A crate of the user's own: it is why the dependency asks.
            None => {
                let file = file.trim_start_matches("./");
                return first.map_or_else(|| file.to_owned(), |it| format!("{it}, for {file}"));
            }
        }
    }
    first.unwrap_or_default()
}

/// The simulation's own files: those of this package and of the one around it.
fn is_ours(file: &str) -> bool {
    let here = env!("CARGO_MANIFEST_DIR");
    let around = here.strip_suffix("/libc").unwrap_or(here);
    let whole = match file.strip_prefix("./") {
        Some(file) => std::env::current_dir().unwrap_or_default().join(file),
        None => file.into(),
    };
    let own = [here, around].iter().any(|it| whole.starts_with(format!("{it}/src")));
    own || file.contains("/seatrial-sim-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_who_only_hands_on_is_not_the_one_who_asks() {
        let here = env!("CARGO_MANIFEST_DIR");
        let stack = "
   0: getrandom
             at HERE/src/symbols.rs:29:5
   1: std::sys::random::fill
             at /rustc/59807616/library/std/src/sys/random.rs:9:5
   2: getrandom
             at /cargo/registry/src/index-1/getrandom-0.3.4/src/lib.rs:2:1
   3: new
             at /cargo/registry/src/index-1/kube-runtime-5.0.0/src/scheduler.rs:67:13
   4: run
             at ./lib/controller.rs:12:9"
            .replace("HERE", here);
        let user = "kube-runtime-5.0.0/src/scheduler.rs:67, for lib/controller.rs:12";
        assert_eq!(asker(&stack), user);
        let alone = stack.lines().take(9).collect::<Vec<_>>().join("\n");
        assert_eq!(asker(&alone), "kube-runtime-5.0.0/src/scheduler.rs:67");
        assert_eq!(asker(""), "");
    }

    #[test]
    fn who_asks_is_written_down_while_it_is_wanted_and_no_longer() {
        let guard = crate::Guard::new(1, crate::Remedies::default());
        took(Source::Random);
        guard.note_asks();
        took(Source::Clock);
        let asks = guard.asks();
        assert_eq!(asks.len(), 1, "{asks:?}");
        assert_eq!(asks[0].source, Source::Clock);
        took(Source::Random);
        assert!(guard.asks().is_empty());
    }
}
