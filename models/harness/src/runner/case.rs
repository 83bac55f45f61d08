//! One unit of work of a run.

use super::again::shipped;
use super::{Request, rows};
use crate::engine::Engine;
use crate::report::{Report, Row, Summary, thousands};
use crate::trial::{MADE_UP_CALLS, StopAt, Subject};

/// One unit of work of a run.
pub(crate) enum Case {
    /// A scenario on the machine that ships.
    Shipped { subject: &'static dyn Subject, scenario: &'static str, engine: Engine },
    /// Made-up calls on the machine that ships.
    MadeUp { subject: &'static dyn Subject },
    /// An exhibit on all scenarios of its component, until it is convicted.
    Exhibit { subject: &'static dyn Subject, exhibit: &'static str, engine: Engine },
}

impl Case {
    pub(super) fn engine(&self) -> Engine {
        match self {
            Self::Shipped { engine, .. } | Self::Exhibit { engine, .. } => *engine,
            Self::MadeUp { .. } => Engine::Fuzz,
        }
    }

    pub(super) fn component(&self) -> &'static str {
        match self {
            Self::Shipped { subject, .. }
            | Self::MadeUp { subject }
            | Self::Exhibit { subject, .. } => subject.name(),
        }
    }

    pub(super) fn name(&self) -> String {
        match self {
            Self::Shipped { subject, scenario, engine } => {
                format!("{}/{scenario} on {engine}", subject.name())
            }
            Self::MadeUp { subject } => {
                format!("{}/{MADE_UP_CALLS} on {}", subject.name(), self.engine())
            }
            Self::Exhibit { subject, exhibit, engine } => {
                format!("{}+{exhibit} on {engine}", subject.name())
            }
        }
    }

    pub(super) fn run(&self, request: &Request, cases: usize) -> Vec<Row> {
        match *self {
            Self::Shipped { subject, scenario, engine } => {
                if let Some(reason) = subject.cannot_run(scenario, engine) {
                    return vec![rows::not_held(subject, scenario, engine, reason)];
                }
                let plan = request.plan(engine, StopAt::End, cases);
                let traces = subject.traces(scenario).filter(|_| engine == Engine::Trace);
                if let Some(traces) = traces.filter(|&all| all > plan.budget.trace_executions) {
                    let traces = thousands(traces);
                    let reason = format!("it has {traces} traces: give a larger --budget");
                    return vec![rows::not_held(subject, scenario, engine, &reason)];
                }
                shipped(subject, scenario, &plan)
            }
            Self::MadeUp { subject } => {
                let plan = request.plan(self.engine(), StopAt::FirstViolation, cases);
                vec![rows::made_up(subject, &plan)]
            }
            Self::Exhibit { subject, exhibit, engine } => {
                let plan = request.plan(engine, StopAt::FirstViolation, cases);
                vec![rows::exhibit(subject, exhibit, &plan)]
            }
        }
    }
}

impl Case {
    /// Its address: `component/scenario/engine`.
    pub(crate) fn address(&self) -> String {
        let scenario = match self {
            Self::Shipped { scenario, .. } => scenario,
            Self::MadeUp { .. } => MADE_UP_CALLS,
            Self::Exhibit { exhibit, .. } => exhibit,
        };
        format!("{}/{scenario}/{}", self.component(), self.engine())
    }

    /// Runs it alone: its rows, and what they say together.
    pub(crate) fn outcome(&self, request: &Request) -> (Vec<Row>, Summary) {
        let mut report = Report::new(request.seed);
        report.rows = self.run(request, 1);
        report.conclude();
        (report.rows, report.outcome)
    }
}
