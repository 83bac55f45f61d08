//! Interventions in the cluster from outside.

use seatrial_core::elector::{Cancel, Name, Runs};

use super::due::Due;
use super::faults::{Action, Faults};
use super::run::What;
use super::world::Simulated;

impl<F: Faults> Simulated<F> {
    pub(super) fn intervene(&mut self, index: u32) {
        let (_, action) = self.setup.actions[index as usize];
        match action {
            Action::Pause { node, nanos } | Action::Stall { node, nanos } => {
                let until = self.now.saturating_add(nanos);
                let place = &mut self.nodes[usize::from(node)];
                place.blocked_until = place.blocked_until.max(until);
                if matches!(action, Action::Stall { .. }) {
                    place.clock.stall(self.now);
                    place.stalled_until = place.stalled_until.max(until);
                    self.agenda.at(until, Due::Resumes { node });
                }
                let process = self.nodes[usize::from(node)].process;
                self.note(process, What::Frozen);
            }
            Action::Crash { node, back_after, same_identity } => {
                self.crash(node, back_after, same_identity);
            }
            Action::Cancel { node } => self.cancel(node, index),
            Action::FreezeWall { node } => {
                self.nodes[usize::from(node)].frozen_wall = Some(self.now as i64);
            }
            Action::Delete => {
                if self.server.delete(self.now) {
                    self.edited();
                }
            }
            Action::GoBack { writes } => {
                if self.server.go_back(writes, self.now) {
                    self.edited();
                }
            }
            Action::ClearHolder => {
                if self.server.edit(self.now, |record| record.holder = Name::EMPTY) {
                    self.edited();
                }
            }
            Action::ClearDuration => {
                if self.server.edit(self.now, |record| record.duration_seconds = 0) {
                    self.edited();
                }
            }
        }
    }

    pub(super) fn edited(&mut self) {
        self.note(0, What::Outside { version: self.server.newest() });
    }

    pub(super) fn crash(&mut self, node: u8, back_after: u64, same_identity: bool) {
        let process = self.nodes[usize::from(node)].process;
        let runner = &mut self.runners[usize::from(process)];
        if !std::mem::replace(&mut runner.alive, false) {
            return;
        }
        self.note(process, What::Crashed);
        let identity = self.run.processes[usize::from(process)].identity().clone();
        let process = self.add_process(node, same_identity.then_some(identity));
        self.agenda.at(self.now.saturating_add(back_after), Due::Begins { process });
    }

    pub(super) fn cancel(&mut self, node: u8, index: u32) {
        let blocked_until = self.nodes[usize::from(node)].blocked_until;
        if blocked_until > self.now {
            self.agenda.at(blocked_until, Due::Intervenes { index });
            return;
        }
        let process = self.nodes[usize::from(node)].process;
        let runner = &mut self.runners[usize::from(process)];
        if !runner.running || !runner.alive || runner.cancelled {
            return;
        }
        runner.cancelled = true;
        let call = runner.call;
        self.note(process, What::Cancelled);
        let run = self.ask_now(process, Runs);
        self.ask_now(process, Cancel { run });
        if let Some(call) = call {
            let late = self.faults.lateness(node);
            self.agenda.at(self.now.saturating_add(late), Due::GivesUp { call });
        }
    }
}
