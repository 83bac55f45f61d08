//! The way back to one execution.

use std::fmt;

use super::{Engine, Kind, Schedule};

/// The way back to one execution, as text that a command line can carry.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Route {
    /// The decisions of an execution of threads, or of a way through states.
    Schedule(Schedule),
    /// The set-up and the seed of a simulated run, or the bytes that made-up calls are read from:
    /// one word.
    Run(Box<str>),
}

impl Route {
    /// Returns the schedule, if it is one.
    pub fn schedule(&self) -> Option<&Schedule> {
        match self {
            Self::Schedule(schedule) => Some(schedule),
            Self::Run(_) => None,
        }
    }

    /// Reads the route of an execution on that engine; `None` if the text is no such route.
    pub fn parse(engine: Engine, text: &str) -> Option<Self> {
        if matches!(engine.runs(), Kind::Program | Kind::States) {
            return text.parse().ok().map(Self::Schedule);
        }
        let is_word = |c: char| c.is_ascii_graphic() && c != ':';
        (!text.is_empty() && text.chars().all(is_word)).then(|| Self::Run(text.into()))
    }
}

impl From<Schedule> for Route {
    fn from(schedule: Schedule) -> Self {
        Self::Schedule(schedule)
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Schedule(schedule) => schedule.fmt(f),
            Self::Run(text) => f.write_str(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_survives_its_text() {
        for (engine, text) in [(Engine::Sample, "a4b2.=1"), (Engine::Cluster, "strict,seed=7")] {
            let route = Route::parse(engine, text).unwrap();
            assert_eq!(route.to_string(), text);
            assert_eq!(route.schedule().is_some(), engine == Engine::Sample);
        }
    }

    #[test]
    fn what_is_no_route_is_refused() {
        for (engine, text) in [
            (Engine::Sample, "strict,seed=7"),
            (Engine::Cluster, ""),
            (Engine::Cluster, "two words"),
            (Engine::Cluster, "a:b"),
        ] {
            assert_eq!(Route::parse(engine, text), None, "{text}");
        }
    }
}
