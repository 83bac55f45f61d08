//! The models of states detect mistakes. The rules are also tested alone.

use super::rules::plan;
use super::states::{Whole, crashes, deletions};
use super::{Pod, Set, Todo};
use crate::engine::state::{Callers, Limits, search};

/// Returns the first invariant that a subject breaks.
fn broken(subject: Whole, mistake: &'static str) -> Option<&'static str> {
    let model = Callers { subject: subject.mistaken(mistake), rules: Default::default() };
    let space = search(&model, Limits::default());
    space.wrong.first().map(|found| found.wrong.invariant)
}

fn mistakes_show_in_some_state() {
    for mistake in
        ["acts_on_a_stale_cache", "works_before_the_sync", "counts_from_memory", "owns_later"]
    {
        assert_eq!(broken(crashes(), mistake), Some("never_more_than_wanted"), "{mistake}");
    }
    for mistake in ["never_guards", "releases_first"] {
        assert_eq!(broken(deletions(), mistake), Some("no_pod_outlives_its_set"), "{mistake}");
    }
    for mistake in ["deletions_are_not_told", "counts_what_it_created_twice"] {
        assert_eq!(broken(crashes(), mistake), Some("comes_to_what_is_wanted"), "{mistake}");
    }
}

/// Carries out a plan on a copy of the view, as a server does.
fn carry_out(set: &mut Option<Set>, pods: &mut Vec<Pod>, plan: Vec<Todo>) {
    for todo in plan {
        let it = set.as_mut().expect("a plan is about a set");
        match todo {
            Todo::Guard => it.guarded = true,
            Todo::Report(ready) => it.ready = ready,
            Todo::Release => *set = None,
            Todo::Create => {
                let name = 1 + pods.iter().map(|pod| pod.name).max().unwrap_or(0);
                pods.push(Pod { name, owner: Some(it.uid) });
            }
            Todo::Delete(name) => pods.retain(|pod| pod.name != name),
        }
    }
}

fn what_is_done_is_not_planned_again_wherever_it_was_interrupted() {
    for bits in 0..64_u8 {
        let [deleted, guarded] = [bits & 1 == 1, bits & 2 == 2];
        let (wanted, pods) = (usize::from(bits >> 2 & 3), u64::from(bits >> 4));
        let set = Set { uid: 9, wanted, ready: 1, guarded, deleted };
        let stranger = [(0, None), (7, Some(8))].map(|(name, owner)| Pod { name, owner });
        let own = (1..=pods).map(|name| Pod { name, owner: Some(9) });
        let pods: Vec<Pod> = own.chain(stranger.clone()).collect();
        let whole = plan(Some(&set), &pods);
        for done in 0..=whole.len() {
            let (mut set, mut pods) = (Some(set.clone()), pods.clone());
            carry_out(&mut set, &mut pods, whole[..done].to_vec());
            for _ in 0..2 {
                let rest = plan(set.as_ref(), &pods);
                carry_out(&mut set, &mut pods, rest);
            }
            assert_eq!(plan(set.as_ref(), &pods), [], "{set:?} {pods:?}");
            let mine = pods.iter().filter(|pod| pod.owner == Some(9)).count();
            assert_eq!(mine, if deleted { 0 } else { wanted });
            assert!(stranger.iter().all(|it| pods.contains(it)), "pods of others stay");
        }
    }
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    mistakes_show_in_some_state,
    what_is_done_is_not_planned_again_wherever_it_was_interrupted
];
