//! Requests of controllers go wrong, and all ends well.

use seatrial_sim::apiserver::{Fault, Point, Trouble};

use super::cluster::*;

/// Checks that a deployment is completed although requests of one kind fail.
fn all_ends_well(method: &str, after: u32, times: u32, what: &Trouble) {
    let mut cluster = Cluster::new();
    cluster.create(DEPLOYMENTS, &workload("web", 2));
    let at = Point { method: Some(method.to_owned()), ..Point::default() };
    cluster.server.inject(Fault { at, after, times, what: what.clone() });
    cluster.run();
    let pods = cluster.list(PODS);
    let case = format!("{method} {what:?} {after} {times}");
    assert_eq!(pods.iter().filter(|pod| is_ready(pod)).count(), 2, "{case}");
    assert_eq!((pods.len(), cluster.list(SETS).len()), (2, 1), "{case}");
}

#[test]
fn whatever_request_of_a_controller_is_lost_all_ends_well() {
    let refused = Trouble::Refuse { status: 503, retry_after: None };
    for what in [Trouble::LoseAnswer, Trouble::LoseRequest, refused] {
        for after in 0..20 {
            all_ends_well("WRITE", after, 2, &what);
        }
        for after in (0..160).step_by(8) {
            all_ends_well("READ", after, 2, &what);
            // Enough of them that nothing settles at that time, whatever was due then.
            all_ends_well("READ", after, 40, &what);
        }
    }
}

#[test]
fn a_node_becomes_ready_though_that_was_refused_once() {
    for (method, what) in [
        ("PUT", Trouble::Refuse { status: 409, retry_after: None }),
        ("PUT", Trouble::LoseAnswer),
        ("POST", Trouble::LoseAnswer),
        ("GET", Trouble::Refuse { status: 500, retry_after: None }),
    ] {
        let mut cluster = Cluster::new();
        cluster.create(DEPLOYMENTS, &workload("web", 1));
        let at = Point::of(method, "nodes");
        // The list of the garbage collector comes after the node's own request.
        cluster.server.inject(Fault { at, after: 0, times: 1, what });
        cluster.run();
        assert!(is_ready(&cluster.get("/api/v1/nodes/node-1")), "{method}");
    }
}

#[test]
fn what_did_not_settle_is_tried_again() {
    let mut cluster = Cluster::new();
    let what = Trouble::Refuse { status: 500, retry_after: None };
    let at = Point::of("POST", "pods");
    cluster.server.inject(Fault { at, after: 0, times: 12, what });
    cluster.create(SETS, &workload("web", 1));
    cluster.run();
    assert_eq!(cluster.server.pending_faults(), 0, "it has given up in between");
    assert_eq!(cluster.list(PODS).iter().filter(|pod| is_ready(pod)).count(), 1);
}
