//! The calls on an [`Execution`] as data, so that a harness can record or replace them.

use crate::machine::{Cx, Operation, Step};

use super::execution::{Execution, Mode, Want};
use super::transport::TransportError;

/// Begins a call.
#[derive(Clone, Debug)]
pub struct Begin {
    /// How the call is made.
    pub mode: Mode,
    /// Whether its verb is GET.
    pub reads: bool,
    /// How often it may be repeated.
    pub max_retries: u32,
}

/// The limiter let the call go on.
#[derive(Clone, Debug)]
pub struct Throttled;

/// The pause is over.
#[derive(Clone, Debug)]
pub struct Paused;

/// The server answered.
#[derive(Clone, Debug)]
pub struct Answered {
    /// The status code.
    pub status: u16,
    /// The header `Retry-After`.
    pub retry_after: Option<String>,
}

/// There was no answer.
#[derive(Clone, Debug)]
pub struct Failed(pub TransportError);

/// Asks how the last attempt failed, and how an earlier one did.
#[derive(Clone, Debug)]
pub struct Failures;

/// How the last attempt failed, and how an earlier one did if that is something else.
pub type Told = Option<(TransportError, Option<TransportError>)>;

crate::operations! {
    [] Execution: Op, Ret {
        Begin(Begin) -> Want,
        Throttled(Throttled) -> Want,
        Paused(Paused) -> Want,
        Answered(Answered) -> Want,
        Failed(Failed) -> Want,
        Failures(Failures) -> Told,
    }
}

impl Operation<Execution> for Begin {
    fn step(&mut self, execution: &mut Execution, _: &mut Cx<'_>) -> Step<Want> {
        *execution = Execution::new(self.mode, self.reads, self.max_retries);
        Step::Done(execution.begin())
    }
}

impl Operation<Execution> for Throttled {
    fn step(&mut self, execution: &mut Execution, _: &mut Cx<'_>) -> Step<Want> {
        Step::Done(execution.throttled())
    }
}

impl Operation<Execution> for Paused {
    fn step(&mut self, execution: &mut Execution, _: &mut Cx<'_>) -> Step<Want> {
        Step::Done(execution.paused())
    }
}

impl Operation<Execution> for Answered {
    fn step(&mut self, execution: &mut Execution, _: &mut Cx<'_>) -> Step<Want> {
        Step::Done(execution.answered(self.status, self.retry_after.as_deref()))
    }
}

impl Operation<Execution> for Failed {
    fn step(&mut self, execution: &mut Execution, _: &mut Cx<'_>) -> Step<Want> {
        Step::Done(execution.failed(self.0.clone()))
    }
}

impl Operation<Execution> for Failures {
    fn step(&mut self, execution: &mut Execution, _: &mut Cx<'_>) -> Step<Told> {
        Step::Done(execution.failures())
    }
}
