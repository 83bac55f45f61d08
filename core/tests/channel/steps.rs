//! Programs of one thread: every call returns the same.

use std::time::Duration;

use quickcheck::QuickCheck;

use super::ends::{Kind, Ours, Theirs};

/// Capacities of the three channels of a program.
fn capacities(seed: u8) -> [Option<usize>; 3] {
    [seed, seed / 4, seed / 16].map(|digit| match digit % 4 {
        3 => None,
        most => Some(usize::from(most)),
    })
}

/// The users of one channel.
struct Users<K: Kind> {
    senders: Vec<K::Sender>,
    receivers: Vec<K::Receiver>,
}

fn users<K: Kind>(seed: u8) -> Vec<Users<K>> {
    let ends = K::open(&capacities(seed)).into_iter();
    ends.map(|(sender, receiver)| Users { senders: vec![sender], receivers: vec![receiver] })
        .collect()
}

/// Channels of both kinds, to which the same happens.
struct Both {
    ours: Vec<Users<Ours>>,
    theirs: Vec<Users<Theirs>>,
    messages: u32,
}

/// Does the same with an end of a channel of each kind, if somebody has it.
macro_rules! both {
    ($both:ident, $at:expr, $end:ident, $call:ident $(, $with:expr)*) => {{
        let at = $at;
        let ours = $both.ours[at].$end.first().map(|end| Ours::$call(end $(, $with)*));
        let theirs = $both.theirs[at].$end.first().map(|end| Theirs::$call(end $(, $with)*));
        assert_eq!(ours, theirs, "{} of channel {at}", stringify!($call));
    }};
}

impl Both {
    fn run(&mut self, call: u8) {
        let at = usize::from(call >> 6) % 3;
        self.messages += 1;
        let message = self.messages;
        match call & 31 {
            0..=6 => both!(self, at, senders, try_send, message),
            7..=12 => both!(self, at, receivers, try_recv),
            13 => both!(self, at, senders, send_timeout, message, Duration::ZERO),
            14 => both!(self, at, receivers, recv_timeout, Duration::ZERO),
            // Behind the last receiver their bounded channels keep and count what nobody can receive,
            // and their others do not. Ours never do.
            15..=16 if self.ours[at].receivers.is_empty() => {}
            15..=16 => both!(self, at, senders, look),
            17 => both!(self, at, receivers, look_back),
            18 => self.count(at, true, true),
            19 => self.count(at, false, true),
            20 => self.count(at, true, false),
            21 => self.count(at, false, false),
            which => self.select(call, which),
        }
    }

    /// One more uses an end, or one less.
    fn count(&mut self, at: usize, sends: bool, more: bool) {
        fn change<T: Clone>(users: &mut Vec<T>, more: bool) {
            match users.first().filter(|_| more).cloned() {
                Some(user) => users.push(user),
                None => drop(users.pop()),
            }
        }
        if sends {
            change(&mut self.ours[at].senders, more);
            change(&mut self.theirs[at].senders, more);
        } else {
            change(&mut self.ours[at].receivers, more);
            change(&mut self.theirs[at].receivers, more);
        }
    }

    /// Selects among some of all ends. Which of those that are ready is left to chance, so the other
    /// kind then does the chosen one by itself, and must find that one ready as well.
    fn select(&mut self, call: u8, which: u8) {
        let wanted = |bit: usize| usize::from(call) >> bit & 1 == 1;
        let first = self.messages;
        self.messages += 3;
        let some = |at: &usize| wanted(*at) || which & 1 == 1;
        let [sends, receives] = [
            (0..3).filter(|at| some(at) && !self.ours[*at].senders.is_empty()).collect::<Vec<_>>(),
            (0..3).filter(|at| some(&(2 - at)) && !self.ours[*at].receivers.is_empty()).collect(),
        ];
        if sends.len() + receives.len() == 0 {
            return;
        }
        let did = select(&self.ours, &sends, &receives, first);
        let Some((case, _)) = did else {
            assert_eq!(select(&self.theirs, &sends, &receives, first), None, "none is ready");
            return;
        };
        let theirs = match case.checked_sub(sends.len()) {
            None => select(&self.theirs, &sends[case..=case], &[], first),
            Some(nth) => select(&self.theirs, &[], &receives[nth..=nth], first),
        };
        let outcome = |did: Option<(usize, _)>| did.map(|(_, outcome)| outcome);
        assert_eq!(outcome(did), outcome(theirs), "case {case} of {sends:?} and {receives:?}");
    }
}

fn select<K: Kind>(
    users: &[Users<K>],
    sends: &[usize],
    receives: &[usize],
    first: u32,
) -> Option<super::ends::Case> {
    let sends: Vec<_> =
        sends.iter().map(|at| (&users[*at].senders[0], first + *at as u32)).collect();
    let receives: Vec<_> = receives.iter().map(|at| &users[*at].receivers[0]).collect();
    K::select(&sends, &receives, false)
}

fn run(seed: u8, calls: Vec<u8>) -> bool {
    let mut both = Both { ours: users(seed), theirs: users(seed), messages: 0 };
    calls.into_iter().for_each(|call| both.run(call));
    true
}

#[test]
fn programs_of_one_thread_do_the_same_on_both() {
    QuickCheck::new().tests(10_000).quickcheck(run as fn(u8, Vec<u8>) -> bool);
}
