//! What a controller of replica sets decides, as a function of what its caches show: no lock, no clock,
//! no request. The example `replica_set` of `seatrial-core` compiles this very file: what is checked
//! here is what runs there.

/// A replica set, as the cache shows it. Uids and names are of the type `I`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Set<I> {
    /// It tells this set from one of the same name that was there before.
    pub uid: I,
    /// How many pods the user wants.
    pub wanted: usize,
    /// How many pods the status tells.
    pub ready: usize,
    /// It has our finalizer: it stays until we take that off.
    pub guarded: bool,
    /// A user has deleted it.
    pub deleted: bool,
}

/// A pod, as the cache shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pod<I> {
    /// Its name.
    pub name: I,
    /// The uid of the set that manages it, if one does.
    pub owner: Option<I>,
}

/// One request to the server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Todo<I> {
    /// Put our finalizer on the set.
    Guard,
    /// Create a pod that the set owns, under a name that the server makes up.
    Create,
    /// Delete the pod of that name.
    Delete(I),
    /// Tell in the status how many pods there are.
    Report(usize),
    /// Take our finalizer off the set.
    Release,
}

/// Says what is to be done, in this order. The caller stops at the first request that fails, and
/// asks again with a newer view. The view must show all that the same process has written before.
pub fn plan<I: Clone + Ord>(set: Option<&Set<I>>, pods: &[Pod<I>]) -> Vec<Todo<I>> {
    // What we have guarded has no pods any more when it goes: nothing is left to do.
    let Some(set) = set else { return Vec::new() };
    // The name decides nothing: one that was made anew does not own the pods of the one before.
    let mut mine: Vec<&I> = pods
        .iter()
        .filter(|pod| pod.owner.as_ref() == Some(&set.uid))
        .map(|pod| &pod.name)
        .collect();
    mine.sort();
    let wanted = if set.deleted { 0 } else { set.wanted };
    let surplus = mine.iter().skip(wanted).map(|name| Todo::Delete((*name).clone()));
    if set.deleted {
        // The finalizer comes off once a later view shows that the pods are gone.
        let release = (set.guarded && mine.is_empty()).then_some(Todo::Release);
        return surplus.chain(release).collect();
    }
    // Before the first pod: a set without it may go at any time, and leave its pods behind.
    let guard = (!set.guarded).then_some(Todo::Guard);
    let missing = std::iter::repeat_n(Todo::Create, wanted.saturating_sub(mine.len()));
    let report = (set.ready != wanted).then_some(Todo::Report(wanted));
    guard.into_iter().chain(surplus).chain(missing).chain(report).collect()
}
