//! The progress of a run: a live line per component on a terminal, and short lines elsewhere.

use std::io::{IsTerminal as _, Write as _, stderr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use crate::report::counted;
use crate::runner::{Progress, Request};

/// How long nothing is said elsewhere while cases end.
const QUIET: Duration = Duration::from_secs(10);

/// Tells which components are being checked, and how each came out.
pub(super) struct Told {
    what: String,
    /// The live lines, on a terminal.
    bars: Option<MultiProgress>,
    state: Mutex<State>,
}

struct State {
    components: Vec<Component>,
    spoke: Instant,
}

/// One component that is being checked.
struct Component {
    name: String,
    cases: usize,
    ended: usize,
    wrong: usize,
    began: Option<Instant>,
    bar: Option<ProgressBar>,
}

impl Told {
    /// `what` says how: it ends the first line.
    pub(super) fn new(what: String) -> Self {
        let bars = stderr().is_terminal().then(MultiProgress::new);
        let state = State { components: Vec::new(), spoke: Instant::now() };
        Self { what, bars, state: Mutex::new(state) }
    }

    /// Tells of a request of `run` or `mutants`.
    pub(super) fn of(request: &Request) -> Self {
        let engines: Vec<_> = request.engines.iter().map(|engine| engine.name()).collect();
        Self::new(format!(
            " on {} (budget {}, {} at a time)",
            engines.join(", "),
            request.budget,
            request.jobs
        ))
    }

    /// Takes the live lines off the terminal.
    pub(super) fn finish(&self) {
        if let Some(bars) = &self.bars {
            // If the terminal is gone, the lines on it do not matter.
            drop(bars.clear());
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Prints a line. A failure to print must not end a run.
    fn say(&self, line: &str) {
        drop(match &self.bars {
            Some(bars) => bars.println(line),
            None => writeln!(stderr(), "{line}"),
        });
    }
}

impl Component {
    /// Says how a component came out.
    fn line(&self) -> String {
        let wrong = match self.wrong {
            0 => "as expected".to_owned(),
            wrong => format!("{wrong} not as expected"),
        };
        let seconds = self.began.map_or(0.0, |began| began.elapsed().as_secs_f64());
        format!("{}: {}, {wrong} ({seconds:.1} s)", self.name, counted(self.cases as u64, "case"))
    }
}

impl Progress for Told {
    fn begin(&self, components: &[(&str, usize)]) {
        let made = components.iter().map(|&(name, cases)| Component {
            name: name.to_owned(),
            cases,
            ended: 0,
            wrong: 0,
            began: None,
            bar: None,
        });
        self.state().components = made.collect();
        let cases: usize = components.iter().map(|(_, cases)| cases).sum();
        self.say(&format!(
            "checking {} of {}{}",
            counted(cases as u64, "case"),
            counted(components.len() as u64, "component"),
            self.what
        ));
    }

    fn start(&self, component: &str, what: &str) {
        let mut state = self.state();
        let its = state.components.iter_mut().find(|one| one.name == component);
        let Some(its) = its else { return };
        its.began.get_or_insert_with(Instant::now);
        let Some(bars) = &self.bars else { return };
        let bar = its.bar.get_or_insert_with(|| {
            let style = ProgressStyle::with_template(
                "{prefix:24} {bar:24} {pos}/{len} {elapsed} {wide_msg}",
            );
            let bar = ProgressBar::new(its.cases as u64).with_prefix(its.name.clone());
            let bar = bars.add(bar.with_style(style.expect("the template is ours")));
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        bar.set_message(what.to_owned());
    }

    fn end(&self, component: &str, as_expected: bool) {
        let mut state = self.state();
        let long = state.spoke.elapsed() > QUIET;
        let its = state.components.iter_mut().find(|one| one.name == component);
        let Some(its) = its else { return };
        its.ended += 1;
        its.wrong += usize::from(!as_expected);
        if let Some(bar) = &its.bar {
            bar.inc(1);
        }
        let line = if its.ended == its.cases {
            if let Some(bar) = its.bar.take() {
                bar.finish_and_clear();
            }
            its.line()
        } else if long && self.bars.is_none() {
            format!("{}: {} of {} so far", its.name, its.ended, counted(its.cases as u64, "case"))
        } else {
            return;
        };
        state.spoke = Instant::now();
        self.say(&line);
    }
}
