//! The faults of a plan as they strike.

use std::time::Duration;

use super::network::{Silence, journey};
use super::plan::Fault;
use super::trace::What;
use super::world::Outside;
use crate::apiserver::Written;

/// What befalls a write. It is kept with the request: one that waits for a webhook arrives several times.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Blow {
    /// Its process dies when it is carried out.
    pub(crate) dies: bool,
    /// Nobody hears of its answer.
    pub(crate) is_lost: bool,
    /// It is refused with this status.
    pub(crate) refused: Option<u16>,
}

impl Outside {
    /// On a slow network the watches of each process learn of a change some time later.
    pub(crate) fn delay_watches(&mut self, written: &Written) {
        let (now, resource) = (self.now(), written.resource.to_string());
        let Some(chance) = &mut self.chance else { return };
        for process in 0..self.names.len() {
            let silence = Silence { until: now + journey(chance), opposite: None };
            self.silences.entry((process, resource.clone())).or_insert(silence);
        }
    }

    /// A change that undoes an earlier one ends the silence that has begun with that one.
    pub(crate) fn end_silences(&mut self, written: &Written) {
        for process in 0..self.names.len() {
            let of = (process, written.resource.to_string());
            if self.silences.get(&of).is_some_and(|it| it.ends_with(written)) {
                self.relist(&of);
            }
        }
    }

    /// The watches of a resource end, and are too old to go on.
    fn relist(&mut self, of: &(usize, String)) {
        self.silences.remove(of);
        self.cut(of);
        self.server.compact(self.server.revision());
        let (process, resource) = (&self.names[of.0], &of.1);
        let of_whom = if process.is_empty() { "" } else { " of " };
        let text =
            format!("the watches of {resource}{of_whom}{process} are too old: they list anew");
        self.note(What::Struck { text });
    }

    fn cut(&mut self, of: &(usize, String)) {
        for (id, _) in self.watches.iter().filter(|(_, it)| *it == of) {
            self.server.close(*id);
        }
    }

    /// Lets the faults strike that wait for a change.
    pub(crate) fn strike_change(&mut self, number: u32, written: &Written) {
        let due = self.take_faults(|_, _, fault| match fault {
            Fault::Unobserved { resource, change }
            | Fault::Cut { resource, change }
            | Fault::Silent { resource, change, .. } => {
                *change == number && **resource == *written.resource
            }
            _ => false,
        });
        for (process, fault) in due {
            match fault {
                Fault::Cut { resource, .. } => self.cut(&(process, resource)),
                Fault::Silent { resource, seconds, .. } => {
                    let until = self.now() + Duration::from_secs(seconds.into());
                    let silence = Silence { until, opposite: None };
                    self.silences.insert((process, resource), silence);
                }
                Fault::Unobserved { resource, .. } => {
                    let silence = Silence::until_opposite(self.now() + self.pace.patience, written);
                    self.silences.insert((process, resource), silence);
                }
                _ => {}
            }
        }
    }

    /// What befalls a write of the process that runs now.
    pub(crate) fn strike_write(&mut self, number: u32) -> Blow {
        let due = self.take_faults(|world, process, fault| match fault {
            Fault::Crash { write } | Fault::Lost { write } | Fault::Refused { write, .. } => {
                *write == number && process == world.current
            }
            _ => false,
        });
        let mut blow = Blow::default();
        for (_, fault) in due {
            match fault {
                Fault::Lost { .. } => blow.is_lost = true,
                Fault::Refused { status, .. } => blow.refused = Some(status),
                _ => blow.dies = true,
            }
        }
        blow
    }
}
