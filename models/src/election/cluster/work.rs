//! The protected work of a leader, and its watchdog.

use seatrial_core::elector::{Fence, Holds, Watch, WorkEnded};
use seatrial_core::machine::Step;
use seatrial_core::runtime::Instant;

use super::due::Due;
use super::faults::Faults;
use super::run::What;
use super::world::Simulated;

impl<F: Faults> Simulated<F> {
    pub(super) fn lead(&mut self, process: u16, term: u32, fence: Fence) {
        self.run.processes[usize::from(process)].fences.push((term, fence.clone()));
        let runner = &mut self.runners[usize::from(process)];
        let late = self.faults.lateness(runner.node);
        runner.leads = true;
        runner.starting = Some((term, fence));
        self.agenda.at(self.now.saturating_add(late), Due::Start { process });
    }

    pub(super) fn start_work(&mut self, process: u16) {
        let Some((term, _)) = self.runners[usize::from(process)].starting.take() else { return };
        self.note(process, What::Leads { term });
        self.runners[usize::from(process)].watches = Some(term);
        self.look_at_term(process, term);
        if self.runners[usize::from(process)].watches.is_some() {
            self.look(process, term);
        }
    }

    pub(super) fn watch(&mut self, process: u16, look: u32) {
        let runner = &self.runners[usize::from(process)];
        if runner.look == look
            && let Some(term) = runner.watches
        {
            self.look_at_term(process, term);
        }
    }

    /// Checks whether the term is over, as the watchdog of the process does.
    pub(super) fn look_at_term(&mut self, process: u16, term: u32) {
        match self.ask(process, Watch { term: u64::from(term) }) {
            Step::Done(()) | Step::Held(()) => self.revoked(process, term),
            Step::Wait { until, .. } => {
                let runner = &mut self.runners[usize::from(process)];
                let late = self.faults.lateness(runner.node);
                runner.look += 1;
                let look = runner.look;
                if let Some(until) = until.filter(|until| *until != Instant::NEVER) {
                    let clock = &self.nodes[usize::from(runner.node)].clock;
                    let due = clock.when(until.as_nanos()).max(self.now).saturating_add(late);
                    self.agenda.at(due, Due::Watch { process, look });
                }
            }
        }
    }

    pub(super) fn revoked(&mut self, process: u16, term: u32) {
        self.note(process, What::Revoked { term });
        let ends = self.now.saturating_add(self.faults.winds_down());
        let runner = &mut self.runners[usize::from(process)];
        runner.watches = None;
        let ends = ends.max(runner.acts_until);
        self.agenda.at(ends, Due::WorkEnds { process, term });
    }

    pub(super) fn end_work(&mut self, process: u16, term: u32) {
        self.note(process, What::WorkEnded { term });
        self.ask_now(process, WorkEnded { term: u64::from(term), panicked: false });
    }

    /// The work checks whether it may act, and acts a little later.
    pub(super) fn look(&mut self, process: u16, term: u32) {
        let Some((acts_after, looks_again_after)) = self.faults.works() else { return };
        if self.runners[usize::from(process)].watches != Some(term) {
            return;
        }
        if self.ask_now(process, Holds { term: u64::from(term) }) {
            let acts = self.now.saturating_add(acts_after);
            self.runners[usize::from(process)].acts_until = acts;
            self.agenda.at(acts, Due::Act { process, term });
            let again = acts.saturating_add(looks_again_after);
            self.agenda.at(again, Due::Look { process, term });
        }
    }

    pub(super) fn act(&mut self, process: u16, term: u32) {
        let fences = &self.run.processes[usize::from(process)].fences;
        let fence = fences.iter().rev().find(|(number, _)| *number == term);
        let Some((_, fence)) = fence else { return };
        let accepted = self.gate.admit(fence);
        self.note(process, What::Acts { term, accepted });
    }
}
