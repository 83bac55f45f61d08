//! One execution, with everything that could be seen at each decision.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use super::kernel::{Kernel, ObjectName};
use super::strategy::{Chooser, Decision, Options, Replay, footprint};
use super::{Body, Config, explore_by};
use crate::engine::{Choice, End, Held, Judge, Look, Next, Schedule, Watched};

/// Counts the events that were recorded so far.
pub(crate) type Mark = Box<dyn Fn() -> usize>;

/// Runs the execution that begins with these decisions; after them threads run as long as they can.
pub(crate) fn watch(
    beginning: &Schedule,
    config: &Config,
    body: &Body,
    mark: Mark,
    judge: &mut Judge<'_>,
) -> Watched {
    let watched = Rc::new(RefCell::new(Watched::default()));
    let watch = Watch {
        replay: Replay::beginning(beginning.clone()),
        watched: Rc::clone(&watched),
        mark,
        shown: Vec::new(),
        changed: HashMap::new(),
    };
    explore_by(config, Box::new(watch), &Arc::clone(body), judge);
    watched.take()
}

struct Watch {
    replay: Replay,
    watched: Rc<RefCell<Watched>>,
    mark: Mark,
    /// What each thread was last seen to do next.
    shown: Vec<String>,
    /// The last step that changed each object.
    changed: HashMap<ObjectName, usize>,
}

impl Watch {
    /// Looks at everything, and remembers of the threads what is new.
    fn look(&mut self, kernel: &Kernel, options: Vec<Choice>) -> Look {
        let mut threads = Vec::new();
        self.shown.resize(kernel.thread_count(), "not yet".to_owned());
        for (thread, shown) in self.shown.iter_mut().enumerate() {
            let next = kernel.next_of(thread);
            if *shown != next {
                shown.clone_from(&next);
                threads.push(Next { thread: thread as u8, does: next });
            }
        }
        let held = kernel.held_locks().map(|(lock, by, shared)| Held { lock, by, shared });
        Look {
            options: options.into_iter().map(text).collect(),
            answers: 0,
            taken: String::new(),
            by: None,
            does: String::new(),
            follows: None,
            threads,
            locks: held.collect(),
            at_nanos: kernel.now().as_nanos(),
            events: (self.mark)(),
        }
    }

    fn push(&self, look: Look) {
        let mut watched = self.watched.borrow_mut();
        watched.rest = None;
        watched.steps.push(look);
    }

    fn steps(&self) -> usize {
        self.watched.borrow().steps.len()
    }
}

fn text(choice: Choice) -> String {
    Schedule { choices: vec![choice] }.to_string()
}

impl Chooser for Watch {
    fn begin(&mut self) -> bool {
        self.replay.begin()
    }

    fn thread(&mut self, kernel: &Kernel, options: Options) -> Decision<Choice> {
        let chosen = self.replay.thread(kernel, options)?;
        let mut look = self.look(kernel, options.all().collect());
        let touched = footprint(kernel, chosen);
        look.does = match chosen {
            Choice::Thread(thread) => self.shown[usize::from(thread)].clone(),
            _ => "the clock jumps to the next deadline".to_owned(),
        };
        if let Choice::Thread(thread) = chosen {
            look.by = Some(thread);
        }
        if let Some(object) = touched.object {
            look.follows = self.changed.get(&object).copied();
            if touched.writes {
                self.changed.insert(object, self.steps());
            }
        }
        look.taken = text(chosen);
        self.push(look);
        Ok(chosen)
    }

    fn data(&mut self, kernel: &Kernel, options: u32) -> Decision<u32> {
        let chosen = self.replay.data(kernel, options)?;
        let mut look = self.look(kernel, Vec::new());
        look.answers = options;
        look.taken = text(Choice::Data(chosen));
        look.by = Some(kernel.running() as u8);
        look.does = format!("gets answer {chosen} of {options}");
        self.push(look);
        Ok(chosen)
    }

    fn nobody_moves(&mut self, kernel: &Kernel) {
        let shown = self.shown.clone();
        let rest = self.look(kernel, Vec::new());
        self.watched.borrow_mut().rest = Some(rest);
        self.shown = shown; // if the clock jumps, that step tells it
    }

    fn finish(&mut self, kernel: &Kernel, _: &End) {
        let names = 0..kernel.thread_count();
        self.watched.borrow_mut().threads =
            names.map(|thread| kernel.thread_label(thread).to_owned()).collect();
    }

    fn unmet(&self) -> Option<End> {
        self.replay.unmet()
    }
}
