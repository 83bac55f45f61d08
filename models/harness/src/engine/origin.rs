//! Where the panics of checked code began. A payload carries no place, so the panic hook notes it.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::panic::PanicHookInfo;
use std::sync::{Mutex, PoisonError};

use super::quiet::panic_text;

/// The beginning of one panic.
struct Origin {
    text: String,
    /// The file and the line.
    place: Option<String>,
    /// The thread: the first one that the panic ended.
    thread: Option<String>,
}

/// How many panics are remembered. One that ends an execution is among the last ones.
const MOST: usize = 32;

type Origins = VecDeque<Origin>;

thread_local! {
    /// The panics of checkers whose threads all run on one thread of the operating system.
    static OWN: RefCell<Origins> = const { RefCell::new(Origins::new()) };
}

/// The panics of real threads.
static OF_ALL: Mutex<Origins> = Mutex::new(Origins::new());

fn with_all<T>(look: impl FnOnce(&mut Origins) -> T) -> T {
    look(&mut OF_ALL.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Notes where a panic begins: one of this thread's checker if it is `own`, else one of a real
/// thread.
pub(super) fn note(info: &PanicHookInfo<'_>, own: bool) {
    let place = info.location().map(|place| format!("{}:{}", place.file(), place.line()));
    let text = panic_text(info.payload());
    let add = |thread| {
        move |origins: &mut Origins| {
            origins.truncate(MOST - 1);
            origins.push_front(Origin { text, place, thread });
        }
    };
    if own {
        OWN.with_borrow_mut(add(None));
    } else {
        let name = std::thread::current().name().unwrap_or("unnamed").to_owned();
        with_all(add(Some(name)));
    }
}

/// Notes that a panic with this text has ended a thread of a checker. A thread that joined it and
/// passed the panic on comes later, and changes nothing.
#[cfg(any(feature = "loom", feature = "shuttle"))]
pub(super) fn ended(thread: &str, text: &str) {
    OWN.with_borrow_mut(|origins| {
        let newest = origins.iter_mut().find(|origin| origin.text == text);
        if let Some(origin) = newest.filter(|origin| origin.thread.is_none()) {
            origin.thread = Some(thread.to_owned());
        }
    });
}

/// Tells a panic of checked code in full: its thread, file and line, and what it said. `text` is what
/// is known of it, which may have words of an engine before those of the panic.
#[must_use]
pub fn told_in_full(text: &str) -> String {
    let find = |origins: &mut Origins| {
        origins.iter().find(|origin| text.ends_with(&origin.text)).map(Origin::tell)
    };
    let told = OWN.with_borrow_mut(find).or_else(|| with_all(find));
    told.unwrap_or_else(|| text.to_owned())
}

impl Origin {
    fn tell(&self) -> String {
        let who = self.thread.as_ref().map_or(String::new(), |name| format!("thread `{name}` "));
        let at = self.place.as_ref().map_or(String::new(), |place| format!(" at {place}"));
        format!("{who}panicked{at}: {}", self.text)
    }
}
