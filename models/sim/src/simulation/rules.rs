//! The rules of a test, in addition to those for every controller.

use std::fmt;

use super::state::State;

/// A rule of the user: what is wrong with a state, if something is.
pub(crate) type Rule = dyn Fn(&State) -> Result<(), String> + Send + Sync;

/// The rules of a simulation.
pub(crate) struct Rules {
    /// Resources whose objects come and go in a healthy cluster.
    pub(crate) ignored: Vec<String>,
    pub(crate) always: Vec<Box<Rule>>,
    pub(crate) at_end: Vec<Box<Rule>>,
    /// More requests in a minute of rest are a hot loop.
    pub(crate) requests_per_minute: u32,
}

impl Default for Rules {
    fn default() -> Self {
        let ignored = ["events", "events.events.k8s.io", "leases.coordination.k8s.io"];
        let ignored = ignored.iter().map(|&it| it.to_owned()).collect();
        Self { ignored, always: Vec::new(), at_end: Vec::new(), requests_per_minute: 60 }
    }
}

impl fmt::Debug for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rules").field("ignored", &self.ignored).finish_non_exhaustive()
    }
}

impl Rules {
    /// The first rule for every state that this one breaks.
    pub(crate) fn always(&self, state: &State) -> Option<String> {
        self.always.iter().find_map(|rule| rule(state).err())
    }

    /// The first rule for the end that this state breaks.
    pub(crate) fn at_end(&self, state: &State) -> Option<String> {
        self.at_end.iter().find_map(|rule| rule(state).err())
    }
}
