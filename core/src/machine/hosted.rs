//! The content of a monitor.

#[cfg(any(test, feature = "hosts"))]
use std::any::Any;

#[cfg(any(test, feature = "hosts"))]
use super::Boxed;
use super::{Cx, Host, Machine, Operation, Passed, Step};

/// The rules behind a lock. In a harness another machine may take their place, and the types of the
/// part do not show it. Without a harness there is only one variant, so nothing is chosen when a
/// program runs.
#[derive(Debug)]
pub enum Hosted<M> {
    /// The rules that ship.
    Shipped(M),
    /// A machine in their place.
    #[cfg(any(test, feature = "hosts"))]
    Other(Other),
}

/// A machine in the place of the rules.
///
/// Its type is erased. The compiler would have to prove that it has the traits of a machine
/// wherever a future that borrows a part moves between threads, and cannot for keys such as
/// `&'static str`, whose lifetime it has forgotten there.
#[cfg(any(test, feature = "hosts"))]
#[derive(Debug)]
pub struct Other(Box<dyn Any + Send>);

#[cfg(any(test, feature = "hosts"))]
impl Other {
    fn boxed<M: Machine>(&mut self) -> &mut Boxed<M> {
        self.0.downcast_mut().expect("it was made for these rules")
    }
}

impl<M: Machine> From<M> for Hosted<M> {
    fn from(machine: M) -> Self {
        Self::Shipped(machine)
    }
}

#[cfg(any(test, feature = "hosts"))]
impl<M: Machine> From<Boxed<M>> for Hosted<M> {
    fn from(boxed: Boxed<M>) -> Self {
        Self::Other(Other(Box::new(boxed)))
    }
}

impl<M: Machine> Host<M> for Hosted<M> {
    #[inline(always)]
    fn run<O: Operation<M>>(&mut self, op: &mut O, cx: &mut Cx<'_>) -> Step<O::Ret> {
        match self {
            Self::Shipped(machine) => machine.run(op, cx),
            #[cfg(any(test, feature = "hosts"))]
            Self::Other(other) => other.boxed::<M>().run(op, cx),
        }
    }

    #[inline(always)]
    fn give_up<O: Operation<M>>(&mut self, op: &mut O, cx: &mut Cx<'_>) {
        match self {
            Self::Shipped(machine) => machine.give_up(op, cx),
            #[cfg(any(test, feature = "hosts"))]
            Self::Other(other) => other.boxed::<M>().give_up(op, cx),
        }
    }

    #[inline(always)]
    fn passes_on(&mut self, what: Passed) -> bool {
        match self {
            Self::Shipped(machine) => Machine::passes_on(machine, what),
            #[cfg(any(test, feature = "hosts"))]
            Self::Other(other) => Host::<M>::passes_on(other.boxed::<M>(), what),
        }
    }
}
