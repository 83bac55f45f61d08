//! One scenario, one machine, one engine: runs them and returns what was found.

#[cfg(feature = "shuttle")]
use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::judge::Jury;
use super::lines::lines;
#[cfg(feature = "loom")]
use super::looming;
#[cfg(feature = "shuttle")]
use super::{minimise, shuttling};
use crate::author::{Component, Invariant, Log, MachineMaker, OpOf, RetOf, Scenario, World};
use crate::engine::{
    AnyRuntime, End, Engine, Execution, Exploration, Observed as _, Schedule, threads,
};
#[cfg(feature = "shuttle")]
use crate::engine::{Judge, shuttle::ShuttleRuntime};
use crate::interrupt;
use crate::outcome::{Finding, Plan, Replayed, StopAt, Trial, digest, transcript};

/// One scenario and one machine.
pub(crate) struct Case<C: Component> {
    pub(crate) scenario: Arc<Scenario<C>>,
    pub(crate) make: MachineMaker<C>,
    pub(crate) invariants: Arc<[Invariant<C>]>,
}

/// The data that the body of an execution leaves for its judge.
pub(super) struct Remains<C: Component> {
    pub(super) log: Log<OpOf<C>, RetOf<C>>,
    pub(super) thread_name: Box<dyn Fn(u8) -> String + Send>,
}

pub(super) type Slot<C> = Arc<Mutex<Option<Remains<C>>>>;

/// Takes what the last execution has left.
pub(super) fn left_in<C: Component>(slot: &Slot<C>) -> Remains<C> {
    let left = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
    left.expect("an execution leaves its log before all else")
}

/// Runs the scenario once on some runtime, leaving the log in `slot` first: an execution that
/// deadlocks or panics must leave it, too.
fn run_in<C: Component>(
    runtime: AnyRuntime,
    slot: &Slot<C>,
    make: &MachineMaker<C>,
    scenario: &Scenario<C>,
) {
    let log = Log::new();
    let world = World::new(&runtime, log.clone(), Arc::clone(make));
    let left = Remains { log, thread_name: Box::new(move |number| runtime.thread_name(number)) };
    *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(left);
    (scenario.run)(&world);
}

impl<C: Component> Case<C> {
    /// Runs the case.
    pub(crate) fn run(&self, plan: &Plan) -> Trial {
        let began = Instant::now();
        let deadline = plan.time.map(|time| began + time);
        let (mut exploration, court) = self.search(plan, deadline);
        exploration.exhausted |= court.is_only;
        let Court { jury, refused, diverged, .. } = court;
        let Jury { mut findings, together, reached, tally, .. } = jury;
        if plan.minimise
            && !interrupt::asked()
            && matches!(plan.engine, Engine::Sample | Engine::Trace)
        {
            findings = findings.into_iter().map(|finding| self.minimised(finding)).collect();
        }
        Trial {
            traces: tally.distinct(),
            left: tally.left(exploration.exhausted),
            exploration,
            findings,
            together,
            reached,
            refused,
            diverged,
            unfinished: None,
            took: began.elapsed(),
        }
    }

    fn search(&self, plan: &Plan, deadline: Option<Instant>) -> (Exploration, Court<C>) {
        #[cfg(feature = "shuttle")]
        if plan.engine == Engine::Trace {
            return self.search_on_cores(plan, deadline);
        }
        self.search_alone(plan, deadline)
    }

    /// Runs the engine of a plan on this core alone.
    pub(super) fn search_alone(
        &self,
        plan: &Plan,
        deadline: Option<Instant>,
    ) -> (Exploration, Court<C>) {
        let mut court = Court::new(self.jury(plan.stop_at), deadline);
        let judge: &mut JudgeLeft<'_, C> = &mut |execution, left| court.judge(execution, left);
        let explored = self.explore(plan, judge);
        (explored, court)
    }

    /// Runs the case and returns the digest of every history.
    pub(crate) fn histories(&self, plan: &Plan) -> Vec<u32> {
        let mut digests = Vec::new();
        let _explored = self.explore(plan, &mut |execution, left| {
            let history = left.log.close(execution.end.clone());
            let lines = lines::<C>(&history, &*left.thread_name);
            digests.push(digest(&transcript(&lines, &history.end)));
            ControlFlow::Continue(())
        });
        digests
    }

    pub(super) fn jury(&self, stop_at: StopAt) -> Jury<C> {
        Jury::new(Arc::clone(&self.scenario), Arc::clone(&self.invariants), stop_at)
    }

    /// Runs the engine of a plan, handing every execution on with what its body left.
    fn explore(&self, plan: &Plan, judge: &mut JudgeLeft<'_, C>) -> Exploration {
        let slot: Slot<C> = Arc::default();
        let mut judge = |execution: &Execution<'_>| judge(execution, left_in(&slot));
        match plan.engine {
            Engine::Threads => {
                let body = self.body(&slot);
                let config = threads::Config {
                    executions: plan.budget.thread_runs,
                    // Only time tells a hang from a slow machine: so it is much.
                    patience: Duration::from_secs(20),
                };
                threads::explore(config, &body, &mut judge)
            }
            #[cfg(feature = "shuttle")]
            Engine::Sample => {
                let body = self.body(&slot);
                shuttling::explore(plan, &self.config(), &body, &mut judge)
            }
            #[cfg(feature = "shuttle")]
            Engine::Trace => {
                let body = self.body(&slot);
                shuttling::explore_alone(plan, &self.config(), &body, &mut judge)
            }
            #[cfg(not(feature = "shuttle"))]
            Engine::Sample | Engine::Trace => unavailable(plan.engine),
            #[cfg(feature = "loom")]
            Engine::Loom => {
                let body = self.body(&slot);
                looming::explore(plan, self.scenario.free_deadlines, body, &mut judge)
            }
            #[cfg(not(feature = "loom"))]
            Engine::Loom => unavailable(plan.engine),
            // They hold no program of threads.
            Engine::Cluster | Engine::State | Engine::Fuzz => Exploration::default(),
        }
    }

    /// Returns what the scenario may meet on the runtime over shuttle.
    #[cfg(feature = "shuttle")]
    pub(super) fn config(&self) -> crate::engine::shuttle::Config {
        shuttling::config(&self.scenario)
    }

    /// Returns the body of one execution, for the engine whose runtime is `R`.
    pub(super) fn body<R: Clone + Into<AnyRuntime>>(
        &self,
        slot: &Slot<C>,
    ) -> Arc<dyn Fn(&R) + Send + Sync> {
        let (slot, make) = (Arc::clone(slot), Arc::clone(&self.make));
        let scenario = Arc::clone(&self.scenario);
        Arc::new(move |runtime| run_in(runtime.clone().into(), &slot, &make, &scenario))
    }

    #[cfg(not(feature = "shuttle"))]
    fn minimised(&self, finding: Finding) -> Finding {
        finding
    }

    /// Makes a finding small, and proves that it is if that is cheap.
    #[cfg(feature = "shuttle")]
    fn minimised(&self, finding: Finding) -> Finding {
        let name = finding.invariant;
        let steps = Cell::new(minimise::STEPS);
        let small = minimise::minimise(finding, &mut |schedule| {
            if steps.get() == 0 || interrupt::asked() {
                return None;
            }
            self.first_of(name, &steps, |body, judge| {
                shuttling::follow(schedule, &self.config(), body, judge);
            })
            .0
        });
        self.proved(small, &steps)
    }

    /// Tries every schedule with fewer preemptions, if they are few enough.
    #[cfg(feature = "shuttle")]
    fn proved(&self, small: Finding, steps: &Cell<u64>) -> Finding {
        let Some(fewer) = small.preemptions.map(|count| count.checked_sub(1)) else {
            return small;
        };
        let Some(fewer) = fewer else {
            return Finding { proved_minimum: Some(true), ..small };
        };
        let (better, exhausted) = self.first_of(small.invariant, steps, |body, judge| {
            shuttling::explore_bounded(fewer, minimise::PROOF, &self.config(), body, judge)
                .exhausted
        });
        match better {
            Some(better) => {
                let execution = small.execution;
                self.proved(Finding { execution, ..better }, steps)
            }
            None => Finding { proved_minimum: exhausted.then_some(true), ..small },
        }
    }

    /// Runs something on the runtime over shuttle until an execution breaks one invariant, or so
    /// many steps are spent.
    #[cfg(feature = "shuttle")]
    pub(super) fn first_of<T>(
        &self,
        invariant: &'static str,
        steps: &Cell<u64>,
        run: impl FnOnce(&Arc<dyn Fn(&ShuttleRuntime) + Send + Sync>, &mut Judge<'_>) -> T,
    ) -> (Option<Finding>, T) {
        let slot: Slot<C> = Arc::default();
        let body = self.body(&slot);
        let mut found = None;
        let ran = run(&body, &mut |execution| {
            let left = left_in(&slot);
            let history = left.log.close(execution.end.clone());
            let mut jury = self.jury(StopAt::End).only(invariant);
            let _goes_on = jury.judge(execution, &history, &*left.thread_name);
            found = jury.findings.pop();
            steps.set(steps.get().saturating_sub(execution.steps));
            let ends = found.is_some() || steps.get() == 0 || interrupt::asked();
            if ends { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        (found, ran)
    }

    /// Runs the one execution that bytes decide; returns what it violates.
    #[cfg(feature = "shuttle")]
    pub(crate) fn decided_by(&self, bytes: &[u8]) -> Vec<Finding> {
        let mut jury = self.jury(StopAt::End);
        let slot: Slot<C> = Arc::default();
        let body = self.body(&slot);
        shuttling::decided_by(bytes, &self.config(), &body, &mut |execution| {
            let left = left_in(&slot);
            let history = left.log.close(execution.end.clone());
            jury.judge(execution, &history, &*left.thread_name)
        });
        jury.findings
    }

    /// Runs the one execution of a schedule; `None` if the code does not follow it.
    pub(crate) fn replay(&self, engine: Engine, schedule: &Schedule) -> Option<Replayed> {
        let mut jury = self.jury(StopAt::End);
        let mut replayed = None;
        self.follow(engine, schedule, &mut |execution, left| {
            if matches!(execution.end, End::Diverged(_)) {
                return ControlFlow::Break(());
            }
            let history = left.log.close(execution.end.clone());
            let all = lines::<C>(&history, &*left.thread_name);
            replayed = Some((transcript(&all, &history.end), all));
            jury.judge(execution, &history, &*left.thread_name)
        });
        let (transcript, lines) = replayed?;
        Some(Replayed { findings: jury.findings, transcript, lines, picture: None })
    }

    /// Makes the violation that a schedule leads to as small as it goes, where the engine can.
    pub(crate) fn shrink(&self, engine: Engine, schedule: &Schedule) -> Option<Finding> {
        let found = self.replay(engine, schedule)?.findings.into_iter().next()?;
        Some(match engine {
            Engine::Sample | Engine::Trace => self.minimised(found),
            _ => found,
        })
    }

    /// Runs the one execution of a schedule.
    fn follow(&self, engine: Engine, schedule: &Schedule, judge: &mut JudgeLeft<'_, C>) {
        let slot: Slot<C> = Arc::default();
        let mut judge = |execution: &Execution<'_>| judge(execution, left_in(&slot));
        match engine {
            #[cfg(feature = "shuttle")]
            Engine::Sample | Engine::Trace => {
                let body = self.body(&slot);
                shuttling::replay(schedule, &self.config(), &body, &mut judge);
            }
            #[cfg(feature = "loom")]
            Engine::Loom => {
                let body = self.body(&slot);
                looming::replay(schedule, self.scenario.free_deadlines, body, &mut judge);
            }
            // Real threads follow no schedule.
            _ => {
                let _ = (schedule, &mut judge);
            }
        }
    }
}

/// What the executions of a trial are brought to.
pub(super) struct Court<C: Component> {
    pub(super) jury: Jury<C>,
    /// Only one that is a part of a larger one asks.
    #[cfg_attr(not(feature = "shuttle"), expect(dead_code))]
    pub(super) slot: Slot<C>,
    refused: Option<String>,
    pub(super) diverged: Option<String>,
    pub(super) is_only: bool,
    deadline: Option<Instant>,
}

impl<C: Component> Court<C> {
    pub(super) fn new(jury: Jury<C>, deadline: Option<Instant>) -> Self {
        let slot = Slot::<C>::default();
        Self { jury, slot, refused: None, diverged: None, is_only: false, deadline }
    }

    pub(super) fn judge(&mut self, execution: &Execution<'_>, left: Remains<C>) -> ControlFlow<()> {
        let history = left.log.close(execution.end.clone());
        self.jury.judge(execution, &history, &*left.thread_name)?;
        match &execution.end {
            End::Refused(why) => {
                // The part before the refusal was real: a violation in it stands.
                self.refused = self.jury.findings.is_empty().then(|| why.clone());
                return ControlFlow::Break(());
            }
            End::Diverged(why) => {
                self.diverged = Some(why.clone());
                return ControlFlow::Break(());
            }
            End::Finished | End::Deadlock(_) | End::Endless(_) | End::Panicked(_) => {}
        }
        self.is_only = execution.is_only;
        match self.deadline {
            _ if self.is_only => ControlFlow::Break(()), // a larger sample would say no more
            Some(deadline) if Instant::now() >= deadline => ControlFlow::Break(()),
            _ if interrupt::asked() => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }
}

type JudgeLeft<'a, C> = dyn FnMut(&Execution<'_>, Remains<C>) -> ControlFlow<()> + 'a;

#[cfg(not(all(feature = "loom", feature = "shuttle")))]
fn unavailable(engine: Engine) -> ! {
    panic!("{engine} is not in this build: `Engine::missing` tells before it is asked for")
}
