//! A bar on a terminal, and nothing elsewhere.

use std::io::IsTerminal as _;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::runner::Progress;

/// Shows which case is running and how many are left.
pub(super) struct Bar(ProgressBar);

impl Bar {
    pub(super) fn new() -> Self {
        if !std::io::stderr().is_terminal() {
            return Self(ProgressBar::hidden());
        }
        let bar = ProgressBar::new(0);
        let style = ProgressStyle::with_template("{bar:24} {pos}/{len} {elapsed} {wide_msg}");
        bar.set_style(style.expect("the template is ours"));
        bar.enable_steady_tick(Duration::from_millis(200));
        Self(bar)
    }

    /// Takes the bar off the terminal.
    pub(super) fn finish(&self) {
        self.0.finish_and_clear();
    }
}

impl Progress for Bar {
    fn begin(&self, cases: usize) {
        self.0.set_length(cases as u64);
    }

    fn start(&self, what: &str) {
        self.0.set_message(what.to_owned());
    }

    fn end(&self) {
        self.0.inc(1);
    }
}
