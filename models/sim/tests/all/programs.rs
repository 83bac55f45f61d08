//! Made-up programs, recorded on our server, replay on any that is like it: in process, and over TLS.

use seatrial_sim::apiserver::MISTAKES;
use seatrial_sim::conformance::{program, replay, world};

const STEPS: usize = 30;

#[test]
fn a_program_replays_on_another_server_of_ours_and_not_on_a_wrong_one() {
    let fresh = world(1_000);
    let programs: Vec<_> = (0..30).map(|seed| program(seed, STEPS).expect("a program")).collect();
    let mut steps = 0;
    for trace in &programs {
        let report = replay(trace, fresh.clone());
        assert_eq!(report.departures, [], "{}", trace.name);
        steps += trace.steps.len();
    }
    assert!(steps > 30 * STEPS * 2 / 3, "{steps} steps");
    let mut noticed = 0;
    for mistake in MISTAKES.iter().flat_map(|(_, all)| all.iter()) {
        let wrong = fresh.clone().with_mistake(*mistake);
        let departs = |trace| !replay(trace, wrong.clone()).departures.is_empty();
        noticed += usize::from(programs.iter().any(departs));
    }
    // More than half of the mistakes lie where these programs do not go.
    assert!(noticed >= 25, "{noticed} mistakes are noticed");
}

#[test]
fn the_same_seed_is_the_same_program() {
    let shown = |seed| format!("{:?}", program(seed, STEPS).expect("a program"));
    assert_eq!(shown(7), shown(7));
    assert_ne!(shown(7), shown(8));
}

#[cfg(feature = "tls")]
mod live {
    use seatrial_sim::apiserver::Server;
    use seatrial_sim::conformance::{Live, TRACES, Trace, program, replay_on, world};
    use seatrial_sim::http::{Face, Listen, Tls};
    use std::io::Read as _;

    fn listening(server: Server) -> (Face, Live) {
        let tls = Tls::generate([127, 0, 0, 1].into()).expect("a certificate");
        let listen = Listen { tls: Some(tls.clone()), ..Listen::default() };
        let face = Face::listen(server, &listen).expect("a port is free");
        let live = Live::new(face.address(), tls.authority(), "token").expect("a client");
        (face, live)
    }

    fn departing(live: &mut Live, traces: &[Trace]) -> Vec<String> {
        let mut departing = Vec::new();
        for trace in traces {
            let report = replay_on(trace, live, &trace.name.to_lowercase(), &mut |_| {});
            departing.extend(report.departures.first().map(|it| format!("{}: {it:?}", trace.name)));
        }
        departing
    }

    #[test]
    fn programs_and_recorded_traces_replay_over_the_wire() {
        let (face, mut live) = listening(world(1));
        let mut traces: Vec<_> =
            (0..10).map(|seed| program(seed, 30).expect("a program")).collect();
        for (_, bytes) in TRACES {
            let mut text = String::new();
            flate2::read::GzDecoder::new(*bytes).read_to_string(&mut text).expect("it is gzip");
            let has_none = |line: &&str| !line.contains(r#""op":"compact""#);
            let some = text.lines().filter(has_none).take(3);
            traces.extend(some.map(|line| Trace::parse(line).expect("a trace")));
        }
        assert_eq!(departing(&mut live, &traces), [""; 0]);
        drop(face);
    }

    #[test]
    fn a_wrong_server_on_the_wire_is_noticed() {
        let mut all = seatrial_sim::apiserver::MISTAKES.iter().flat_map(|(_, all)| all.iter());
        let mistake =
            all.find(|it| it.name == "counts_labels_as_generation").expect("it is listed");
        let (face, mut live) = listening(world(1).with_mistake(*mistake));
        let traces: Vec<_> = (0..40).map(|seed| program(seed, 30).expect("a program")).collect();
        assert!(!departing(&mut live, &traces).is_empty());
        drop(face);
    }
}
