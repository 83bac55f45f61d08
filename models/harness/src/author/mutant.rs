//! Seeded bugs: a harness is worth what it convicts.

use super::component::{Component, MachineOf};

/// The fate that is expected of a mutant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MutantKind {
    /// A mistake that somebody made or could make. It must be convicted.
    Seeded,
    /// A defect that the reference still has, rebuilt faithfully. It must be convicted, while our
    /// own rule holds.
    Exhibit,
    /// It differs in no observable way, for this reason. It must not be convicted.
    Equivalent(&'static str),
}

/// A broken variant of a component's machine.
pub struct Mutant<C: Component> {
    /// Its name: the mistake, in snake case.
    pub name: &'static str,
    /// The source of the mistake.
    pub origin: &'static str,
    /// The invariants that it breaks, by name.
    pub breaks: &'static [&'static str],
    /// The expected fate.
    pub kind: MutantKind,
    /// Makes the broken machine.
    pub make: fn() -> MachineOf<C>,
}

impl<C: Component> Clone for Mutant<C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C: Component> Copy for Mutant<C> {}

impl<C: Component> std::fmt::Debug for Mutant<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mutant").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Lists mutants, one after another: the expectation, the name, the origin, the arguments of its
/// machine, and the invariants that it breaks. The function that makes the machine comes first, or
/// a ready-made wrapper and the machine in it: `Edited(machine())`. Where no arguments are given, the
/// function gets the name of the mutant, as a list of one mistake.
#[macro_export]
macro_rules! mutants {
    ($make:ident:
     $($kind:ident $(($why:expr))? $name:literal from $origin:literal
       breaks [$($broken:literal),*];)+) => {
        $crate::author::mutants! { $make:
            $($kind $(($why))? $name from $origin: (&[$name]) breaks [$($broken),*];)+
        }
    };
    ($make:ident:
     $($kind:ident $(($why:expr))? $name:literal from $origin:literal:
       $with:tt breaks [$($broken:literal),*];)+) => {
        vec![$($crate::author::Mutant {
            name: $name,
            origin: $origin,
            breaks: &[$($broken),*],
            kind: $crate::author::MutantKind::$kind $(($why))?,
            make: || $make $with,
        }),+]
    };
    ($wrapper:ident($machine:expr):
     $($kind:ident $(($why:expr))? $name:literal from $origin:literal:
       ($($with:tt)*) breaks [$($broken:literal),*];)+) => {
        vec![$($crate::author::Mutant {
            name: $name,
            origin: $origin,
            breaks: &[$($broken),*],
            kind: $crate::author::MutantKind::$kind $(($why))?,
            make: || Box::new($crate::author::$wrapper::new($machine, $($with)*)),
        }),+]
    };
}

pub use mutants;

/// Lists the mistakes that one may make in an algorithm, and all of them in one place.
#[macro_export]
macro_rules! mistakes {
    ($(#[$says:meta])* $seen:vis enum $name:ident {
        $($(#[$what:meta])* $mistake:ident,)+
    }) => {
        $(#[$says])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        $seen enum $name {
            $($(#[$what])* $mistake,)+
        }

        impl $name {
            /// All of them.
            #[allow(dead_code, reason = "not every algorithm has a property that a caller sees")]
            $seen const ALL: &'static [Self] = &[$(Self::$mistake),+];
        }
    };
}

pub use mistakes;
