//! The choice of the next thread: any runnable one, in the order that loom explores or a replay
//! prescribes.

use super::{Books, End};

/// The next act of a thread that has come to a pause.
#[derive(Debug)]
pub(in crate::engine::loom) enum Next {
    /// It goes on.
    Go,
    /// It parks until it is unparked.
    Park,
    /// It runs the wakers that are due.
    Serve,
    /// It unwinds, since the execution is being brought down.
    Unwind,
}

impl Books {
    /// Decides what a thread does that came to a pause. `parked` says whether it has been parked
    /// since: if so it has to be its turn, where a schedule is replayed.
    pub(in crate::engine::loom) fn settle(&mut self, me: usize, parked: bool) -> Next {
        self.running = me;
        loop {
            self.note_unwinding(me);
            if self.is_thrown(me) {
                return Next::Unwind;
            }
            if std::mem::take(&mut self.threads[me].called) {
                return Next::Serve;
            }
            if !self.is_blocked(me) && (!parked || self.has_turn(me)) {
                return Next::Go;
            }
            if self.someone_can_move() {
                self.check_turn();
                if self.is_thrown(me) {
                    return Next::Unwind;
                }
                self.unpark_ready();
                self.threads[me].parked = true;
                return Next::Park;
            }
            if !self.advance(me) {
                self.deadlock();
            }
        }
    }

    /// The same as [`settle`](Self::settle), for a thread that has ended; true if it is to run
    /// wakers.
    pub(in crate::engine::loom) fn settle_after_end(&mut self, me: usize) -> bool {
        while !self.all_ended() {
            if std::mem::take(&mut self.threads[me].called) {
                return true;
            }
            if self.someone_can_move() {
                self.check_turn();
                self.unpark_ready();
                return false;
            }
            if !self.advance(me) {
                self.deadlock();
            }
        }
        false
    }

    fn someone_can_move(&self) -> bool {
        (0..self.threads.len()).any(|at| !self.is_blocked(at) || self.is_thrown(at))
    }

    /// Notes that a thread starts its next step.
    pub(in crate::engine::loom) fn resume(&mut self, me: usize) {
        self.running = me;
        if self.abort.is_some() {
            return;
        }
        let before = std::mem::replace(&mut self.last, me);
        let aim_is_free = self.threads[before].aim.is_none_or(|wanted| !self.is_withheld(wanted));
        let preempted = before != me && !self.is_blocked(before) && aim_is_free;
        self.record.step(self.threads[me].number, preempted);
        self.threads[me].aim = None;
        self.reads = 0;
        if self.record.is_too_long() {
            self.cut_short(End::Endless(self.describe()));
        }
    }

    /// Tells whether the replayed schedule, if there is one, names this thread next.
    fn has_turn(&self, at: usize) -> bool {
        self.abort.is_some() || self.record.allows(self.threads[at].number)
    }

    /// Notices that the replayed schedule names a thread that cannot move.
    pub(in crate::engine::loom) fn check_turn(&mut self) {
        let mut movable = (0..self.threads.len()).filter(|&at| !self.is_blocked(at));
        if self.abort.is_none() && !movable.any(|at| self.has_turn(at)) {
            self.diverge();
        }
    }

    /// Notes that the execution does not follow the replayed schedule.
    pub(in crate::engine::loom) fn diverge(&mut self) {
        self.abort(End::Diverged(self.record.misfit()));
    }

    /// Unparks the threads that can go on.
    pub(super) fn unpark_ready(&mut self) {
        for at in 0..self.threads.len() {
            if self.threads[at].parked && !self.is_blocked(at) && self.has_turn(at) {
                self.threads[at].unpark();
            }
        }
    }
}
