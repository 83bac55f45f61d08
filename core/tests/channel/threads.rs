//! Programs of several threads: what holds of one kind of channels holds of the other.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;
use std::time::Duration;

use quickcheck::QuickCheck;
use seatrial_core::runtime::{Runtime, System};

use super::ends::{Got, Kind, Ours, Theirs};

/// How a thread waits.
#[derive(Clone, Copy, Debug)]
enum Way {
    Blocks,
    Tries,
    InTime,
    Selects,
}

const WAYS: [Way; 4] = [Way::Blocks, Way::Tries, Way::InTime, Way::Selects];

/// Two threads send, and one or two receive until nothing comes any more. With two channels all
/// receivers select: one that waited for a channel alone would leave senders at the other waiting.
#[derive(Clone, Debug)]
struct Program {
    capacities: Vec<Option<usize>>,
    senders: [Way; 2],
    receivers: Vec<Way>,
    /// How many messages each sends.
    each: u32,
    /// After how many messages receivers go, if they do.
    patience: Option<usize>,
}

impl Program {
    fn new(seed: u32) -> Self {
        let digit = |place: u32, base: u32| (seed >> place) % base;
        let way = |place| WAYS[digit(place, 4) as usize];
        let capacity = |place| (digit(place, 4) < 3).then(|| digit(place, 4) as usize);
        let two = digit(20, 2) == 1;
        let receivers = [8, 10].map(|place| match way(place) {
            _ if two => Way::Selects,
            Way::Tries => Way::InTime, // two who only try never meet
            way => way,
        });
        Self {
            capacities: if two { vec![capacity(0), capacity(2)] } else { vec![capacity(0)] },
            senders: [way(4), way(6)],
            receivers: receivers[..1 + digit(12, 2) as usize].to_vec(),
            each: 1 + digit(13, 8),
            patience: (digit(16, 4) == 0).then(|| digit(18, 4) as usize),
        }
    }
}

/// What came of it.
struct Outcome {
    /// The messages that were sent,
    sent: Vec<u32>,
    /// and what each thread received, by the number of the channel.
    received: Vec<Vec<(usize, u32)>>,
}

/// Repeats until it is ready.
fn until_ready<T>(mut run: impl FnMut() -> Got<T>) -> Got<T> {
    loop {
        match run() {
            Err(false) => thread::yield_now(),
            got => return got,
        }
    }
}

const SHORT: Duration = Duration::from_micros(20);

fn send<K: Kind>(senders: &[K::Sender], way: Way, message: u32) -> Got<()> {
    let sender = &senders[message as usize % senders.len()];
    match way {
        Way::Blocks => K::send(sender, message),
        Way::Tries => until_ready(|| K::try_send(sender, message)),
        Way::InTime => until_ready(|| K::send_timeout(sender, message, SHORT)),
        Way::Selects => {
            let cases: Vec<_> = senders.iter().map(|sender| (sender, message)).collect();
            let (_, outcome) = K::select(&cases, &[], true).expect("it waits");
            outcome.map(drop)
        }
    }
}

/// Receives once, from whatever channel: its place, and what came.
fn receive<K: Kind>(receivers: &[&K::Receiver], way: Way) -> (usize, Got<u32>) {
    match way {
        Way::Blocks => (0, K::recv(receivers[0])),
        Way::Tries => (0, until_ready(|| K::try_recv(receivers[0]))),
        Way::InTime => (0, until_ready(|| K::recv_timeout(receivers[0], SHORT))),
        Way::Selects => {
            let (case, outcome) = K::select(&[], receivers, true).expect("it waits");
            (case, outcome.map(|message| message.expect("it receives")))
        }
    }
}

fn receive_all<K: Kind>(
    receivers: &[K::Receiver],
    way: Way,
    patience: Option<usize>,
) -> Vec<(usize, u32)> {
    let (mut open, mut received): (Vec<_>, _) = ((0..receivers.len()).collect(), Vec::new());
    while !open.is_empty() && patience.is_none_or(|most| received.len() < most) {
        let ends: Vec<_> = open.iter().map(|at: &usize| &receivers[*at]).collect();
        match receive::<K>(&ends, way) {
            (at, Ok(message)) => received.push((open[at], message)),
            (at, Err(_)) => drop(open.remove(at)),
        }
    }
    received
}

fn run<K: Kind>(program: &Program) -> Outcome {
    let (senders, receivers): (Vec<_>, Vec<_>) = K::open(&program.capacities).into_iter().unzip();
    let sending = [0, 1].map(|number| {
        let (own, way, each) = (senders.clone(), program.senders[number as usize], program.each);
        System::new().spawn("one of several", move || {
            let messages = (0..each).map(|nth| 2 * nth + number);
            messages.take_while(|message| send::<K>(&own, way, *message).is_ok()).collect()
        })
    });
    let receiving = program.receivers.iter().map(|way| {
        let (own, way, patience) = (receivers.clone(), *way, program.patience);
        System::new().spawn("one of several", move || receive_all::<K>(&own, way, patience))
    });
    let receiving: Vec<_> = receiving.collect();
    drop((senders, receivers));
    let sent: Vec<Vec<u32>> = sending.into_iter().map(|it| it.join().expect("no panic")).collect();
    let received = receiving.into_iter().map(|it| it.join().expect("no panic")).collect();
    Outcome { sent: sent.concat(), received }
}

/// What holds of channels of every kind.
fn check(program: &Program, Outcome { sent, received }: &Outcome) {
    let all: Vec<u32> = received.iter().flatten().map(|(_, message)| *message).collect();
    let unique: BTreeSet<u32> = all.iter().copied().collect();
    assert_eq!(all.len(), unique.len(), "nothing is received twice");
    assert!(unique.iter().all(|message| sent.contains(message)), "what is received was sent");
    let kept: Option<usize> = program.capacities.iter().copied().sum();
    let most = if program.patience.is_some() { kept.unwrap_or(usize::MAX) } else { 0 };
    assert!(sent.len() - all.len() <= most, "what is sent is received, or was kept at the end");
    if program.patience.is_none() {
        assert_eq!(sent.len(), 2 * program.each as usize, "all is sent");
    }
    for thread in received {
        let mut last = BTreeMap::new();
        for (channel, message) in thread {
            let before = last.insert((*channel, message % 2), *message);
            assert!(before < Some(*message), "what one thread sends is in order");
        }
    }
}

fn holds_of_both(seed: u32) -> bool {
    let program = Program::new(seed);
    check(&program, &run::<Theirs>(&program));
    check(&program, &run::<Ours>(&program));
    true
}

#[test]
fn what_holds_of_theirs_when_threads_meet_holds_of_ours() {
    QuickCheck::new().tests(2_000).quickcheck(holds_of_both as fn(u32) -> bool);
}
