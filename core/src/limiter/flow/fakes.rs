//! Flow control for tests and for programs without limits: everybody may go on, or nobody.

use std::fmt;
use std::future::ready;

use crate::cancel::CancelToken;
use crate::machine::{Channel, Cx, Hosted, Operation, Step};
use crate::monitor::Monitor;
use crate::runtime::Runtime;

use super::{FlowLimiter, WaitError, Waits};

/// Lets everybody go on at once (`workqueue:FC-10`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AlwaysAccept;

impl<R: Runtime> FlowLimiter<R> for AlwaysAccept {
    fn try_accept(&self) -> bool {
        true
    }

    fn accept(&self) {}

    fn wait(&self, _: &CancelToken<R>) -> Result<(), WaitError> {
        Ok(())
    }

    fn wait_async<'a>(&'a self, _: &'a CancelToken<R>) -> Waits<'a> {
        Box::pin(ready(Ok(())))
    }

    fn qps(&self) -> f32 {
        1.0
    }
}

/// Lets nobody go on; `accept` sleeps until the limiter is stopped (`workqueue:FC-11`).
pub struct NeverAccept<R: Runtime> {
    gate: Monitor<Gate, R>,
}

impl<R: Runtime> NeverAccept<R> {
    /// Makes a limiter that is not stopped.
    pub fn new(runtime: &R) -> Self {
        Self::with_host(runtime, Gate::default())
    }

    /// Makes a limiter around a given state.
    #[cfg_attr(not(feature = "harness"), doc(hidden))]
    pub fn with_host(runtime: &R, host: impl Into<Hosted<Gate>>) -> Self {
        Self { gate: Monitor::new(runtime, host) }
    }
}

impl<R: Runtime> FlowLimiter<R> for NeverAccept<R> {
    fn try_accept(&self) -> bool {
        false
    }

    fn accept(&self) {
        self.gate.call(Pass);
    }

    fn wait(&self, _: &CancelToken<R>) -> Result<(), WaitError> {
        Err(WaitError::Closed)
    }

    fn wait_async<'a>(&'a self, _: &'a CancelToken<R>) -> Waits<'a> {
        Box::pin(ready(Err(WaitError::Closed)))
    }

    fn qps(&self) -> f32 {
        1.0
    }

    fn stop(&self) {
        self.gate.call(Stop);
    }
}

impl<R: Runtime> fmt::Debug for NeverAccept<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NeverAccept")
    }
}

const WAITERS: Channel = 0;

/// A gate that is opened once and stays open (`workqueue:FC-12`).
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Gate {
    open: bool,
}

/// Opens the gate.
#[derive(Clone, Debug)]
pub struct Stop;

/// Passes the gate, waiting until it is open.
#[derive(Clone, Debug)]
pub struct Pass;

crate::operations! {
    [] Gate: GateOp, GateRet {
        Stop(Stop) -> (),
        Pass(Pass) -> (),
    }
}

impl Operation<Gate> for Stop {
    fn step(&mut self, gate: &mut Gate, cx: &mut Cx<'_>) -> Step<()> {
        gate.open = true;
        cx.wakes.all(WAITERS);
        Step::Done(())
    }
}

impl Operation<Gate> for Pass {
    fn step(&mut self, gate: &mut Gate, _: &mut Cx<'_>) -> Step<()> {
        if gate.open { Step::Done(()) } else { Step::Wait { on: WAITERS, until: None } }
    }
}
