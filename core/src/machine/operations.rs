//! Writes the data form of a machine.

/// Writes, for the operations of a machine, the enum of calls, the enum of results, and the
/// [`Machine`](crate::machine::Machine) that steps them.
///
// Without the feature the macro is private to the crate.
#[cfg_attr(feature = "harness", doc = "```")]
#[cfg_attr(not(feature = "harness"), doc = "```ignore")]
/// use seatrial_core::machine::{Cx, Machine, Operation, Step};
///
/// #[derive(Default)]
/// pub struct Counter(u32);
/// #[derive(Clone, Debug)]
/// pub struct Increment(u32);
/// #[derive(Clone, Debug)]
/// pub struct Read;
///
/// seatrial_core::operations! {
///     [] Counter: Op, Ret { Increment(Increment) -> (), Read(Read) -> u32 }
/// }
///
/// impl Operation<Counter> for Increment {
///     fn step(&mut self, counter: &mut Counter, _: &mut Cx<'_>) -> Step<()> {
///         counter.0 += self.0;
///         Step::Done(())
///     }
/// }
/// impl Operation<Counter> for Read {
///     fn step(&mut self, counter: &mut Counter, _: &mut Cx<'_>) -> Step<u32> {
///         Step::Done(counter.0)
///     }
/// }
///
/// let mut counter = Counter::default();
/// let system = seatrial_core::runtime::System::new();
/// let mut cx = Cx::new(&system);
/// counter.step(&mut Op::Increment(Increment(2)), &mut cx);
/// assert!(matches!(counter.step(&mut Op::Read(Read), &mut cx), Step::Done(Ret::Read(2))));
/// ```
///
/// The brackets hold the type parameters, each with one bound: `[K: Key]`, `[K: Key, S:
/// Storage<K>]`. If the operations use only the first parameters, these are repeated after a
/// semicolon, with their bounds: `[K: Key, S: Storage<K>; K: Key]`; otherwise they use all. A machine that checks itself
/// adds `valid = path::to::check` after the braces, one that tells its state
/// (`fn(&Self) -> String`) adds `describe = path::to::describe`, behind a comma if it does both.
#[cfg_attr(feature = "harness", macro_export)]
macro_rules! operations {
    ($g:tt $m:ty : $op:ident, $ret:ident { $($v:ident($t:ty) -> $r:ty),+ $(,)? } $($hook:ident = $with:expr),*) => {
        $crate::operations! { @params $g $g $m, $op, $ret { $($v($t) -> $r),+ } [$($hook $with),*] }
    };
    (@params [$($p:ident : $b:path),* ; $($d:ident : $db:path),*] $g:tt $($rest:tt)+) => {
        $crate::operations! { @write [$($p: $b),*] [$($d: $db),*] $($rest)+ }
    };
    (@params [$($p:ident : $b:path),*] $g:tt $($rest:tt)+) => {
        $crate::operations! { @write [$($p: $b),*] [$($p: $b),*] $($rest)+ }
    };
    (@hook valid $valid:expr) => { fn assert_valid(&self) { $valid(self) } };
    (@hook describe $describe:expr) => {
        fn describe(&self) -> Option<String> { Some($describe(self)) }
    };
    (@write $g:tt $d:tt $m:ty, $op:ident, $ret:ident { $($v:ident($t:ty) -> $r:ty),+ } $valid:tt) => {
        $crate::operations! { @data $g $d $m, $op, $ret { $($v($t) -> $r),+ } $valid }
        $($crate::operations! { @one $g $d $m, $op, $ret, $v, $t, $r })+
    };
    (@data [$($g:ident : $b:path),*] [$($d:ident : $db:path),*] $m:ty, $op:ident, $ret:ident
     { $($v:ident($t:ty) -> $r:ty),+ } [$($hook:ident $with:expr),*]) => {
        /// A call on the machine, as data.
        #[derive(Clone, Debug)]
        pub enum $op<$($d: $db),*> {
            $(#[doc = concat!("The call [`", stringify!($t), "`].")] $v($t)),+
        }
        /// The result of a call on the machine, as data.
        #[derive(Clone, Debug)]
        pub enum $ret<$($d: $db),*> {
            $(#[doc = concat!("What [`", stringify!($t), "`] returned.")] $v($r)),+
        }
        impl<$($g: $b),*> $crate::machine::Machine for $m {
            type Op = $op<$($d),*>;
            type Ret = $ret<$($d),*>;
            fn step(
                &mut self,
                op: &mut Self::Op,
                cx: &mut $crate::machine::Cx<'_>,
            ) -> $crate::machine::Step<Self::Ret> {
                match op {
                    $($op::$v(o) => {
                        $crate::machine::Operation::<$m>::step(o, self, cx).map($ret::$v)
                    })+
                }
            }
            fn cancel(&mut self, op: &mut Self::Op, cx: &mut $crate::machine::Cx<'_>) {
                match op { $($op::$v(o) => $crate::machine::Operation::<$m>::cancel(o, self, cx)),+ }
            }
            $($crate::operations! { @hook $hook $with })*
        }
    };
    (@one [$($g:ident : $b:path),*] [$($d:ident : $db:path),*] $m:ty, $op:ident, $ret:ident,
     $v:ident, $t:ty, $r:ty) => {
        impl<$($g: $b),*> $crate::machine::Embed<$m> for $t {
            type Ret = $r;
            fn embed(self) -> $op<$($d),*> {
                $op::$v(self)
            }
            #[allow(unreachable_patterns, reason = "a machine with one operation has one variant")]
            fn project(op: $op<$($d),*>) -> Self {
                match op {
                    $op::$v(o) => o,
                    _ => unreachable!("an operation comes back as the kind that it went in"),
                }
            }
            #[allow(unreachable_patterns, reason = "a machine with one operation has one variant")]
            fn result(ret: $ret<$($d),*>) -> $r {
                match ret {
                    $ret::$v(r) => r,
                    _ => unreachable!("a call returns the result of its own kind"),
                }
            }
        }
    };
}

#[cfg(not(feature = "harness"))]
pub(crate) use operations;
