//! How much an engine may spend. Named budgets are counts, so that reports do not depend on the
//! machine.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// A state costs about a tenth of an execution.
const STATES: u64 = 10;

/// The budget of one scenario on each engine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Budget {
    /// Its name, as it is written.
    pub name: String,
    /// How many preemptions loom explores; `None` means any number.
    pub loom_preemptions: Option<usize>,
    /// After this many executions loom gives up, undecided.
    pub loom_executions: u64,
    /// After this many executions the search of all traces gives up, undecided.
    pub trace_executions: u64,
    /// After this many states the search of all states gives up, undecided.
    pub states: u64,
    /// Schedules sampled.
    pub schedules: u64,
    /// Random runs of a simulation.
    pub simulated_runs: u64,
    /// Sequences of made-up calls.
    pub sequences: u64,
    /// Runs on real threads.
    pub thread_runs: u64,
    /// Whether the engines go without what this crate adds to them, for comparison: no bound of
    /// preemptions, and one sampler that draws the next thread at random.
    pub plain: bool,
    /// Wall-clock limit of the whole run, where one was asked for.
    pub time: Option<Duration>,
}

impl Budget {
    /// Seconds: short enough for a developer to wait.
    pub fn smoke() -> Self {
        Self { sequences: 5_000, ..Self::named("smoke", Some(2), 200_000, 3_000, 300, 20) }
    }

    /// A minute or so: the budget of a submission.
    pub fn ci() -> Self {
        Self { sequences: 50_000, ..Self::named("ci", Some(2), 1_000_000, 20_000, 2_000, 50) }
    }

    /// Hours: one preemption more under loom, and far larger counts of everything.
    pub fn nightly() -> Self {
        let named = Self::named("nightly", Some(3), 50_000_000, 1_000_000, 300_000, 1_000);
        Self { sequences: 1_000_000, ..named }
    }

    /// Returns a glance of about that many executions, so that every scenario gets its turn before
    /// any gets much. A random schedule counts for ten, a simulated run for fifty.
    pub(crate) fn glance(&self, executions: u64) -> Self {
        Self {
            loom_executions: self.loom_executions.min(executions),
            trace_executions: self.trace_executions.min(executions),
            states: self.states.min(executions * 100),
            schedules: self.schedules.min(executions / 10),
            simulated_runs: self.simulated_runs.min(executions / 50),
            sequences: self.sequences.min(executions / 10),
            ..self.clone()
        }
    }

    /// Returns the same for engines without what this crate adds to them.
    pub(crate) fn plain(&self) -> Self {
        Self { loom_preemptions: None, plain: true, ..self.clone() }
    }

    fn named(
        name: &str,
        loom_preemptions: Option<usize>,
        searched: u64,
        schedules: u64,
        simulated_runs: u64,
        thread_runs: u64,
    ) -> Self {
        let name = name.to_owned();
        Self {
            name,
            loom_preemptions,
            loom_executions: searched,
            trace_executions: searched,
            states: searched.saturating_mul(STATES),
            schedules,
            simulated_runs,
            sequences: schedules,
            thread_runs,
            plain: false,
            time: None,
        }
    }

    fn of_time(text: &str, time: Duration) -> Self {
        Self {
            time: Some(time),
            ..Self::named(text, Some(2), u64::MAX, u64::MAX, u64::MAX, u64::MAX)
        }
    }

    /// This number of everything, but a fifth on real threads, which take the time that they sleep.
    fn of_count(text: &str, count: u64) -> Self {
        Self::named(text, Some(2), count, count, count, count.div_ceil(5).min(1_000))
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self::ci()
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl FromStr for Budget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "smoke" => return Ok(Self::smoke()),
            "ci" => return Ok(Self::ci()),
            "nightly" => return Ok(Self::nightly()),
            _ => {}
        }
        let (digits, scale) = match text.strip_suffix('s') {
            Some(seconds) => (seconds, Some(1.0)),
            None => match text.strip_suffix('m') {
                Some(minutes) => (minutes, Some(60.0)),
                None => (text, None),
            },
        };
        let unreadable = || {
            format!(
                "unreadable budget '{text}': use smoke, ci, nightly, a time such as 30s, or a \
                 count such as 1e6"
            )
        };
        let number: f64 = digits.parse().map_err(|_| unreadable())?;
        if !number.is_finite() || !(0.0..=1e15).contains(&number) {
            return Err(unreadable());
        }
        if number == 0.0 {
            return Err(format!(
                "a budget of '{text}' runs nothing: give a larger one, e.g. smoke"
            ));
        }
        match scale {
            Some(scale) => Ok(Self::of_time(text, Duration::from_secs_f64(number * scale))),
            None if number < 1.0 => Err(unreadable()),
            None => Ok(Self::of_count(text, number as u64)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_names_times_or_counts() {
        assert_eq!("ci".parse(), Ok(Budget::ci()));
        assert_eq!("30s".parse::<Budget>().unwrap().time, Some(Duration::from_secs(30)));
        assert_eq!("2m".parse::<Budget>().unwrap().time, Some(Duration::from_secs(120)));
        assert_eq!("1e6".parse::<Budget>().unwrap().schedules, 1_000_000);
    }

    #[test]
    fn a_budget_that_runs_nothing_is_refused() {
        for text in ["0", "0s", "-1", "NaN", "much", "", "1e99", "0.5"] {
            let error = text.parse::<Budget>().unwrap_err();
            assert!(error.contains("budget"), "{text}: {error}");
        }
    }
}
