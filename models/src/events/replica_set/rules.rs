//! The decisions of a controller of replica sets, as a function of the state of its caches: no
//! lock, no clock, no request. The example `replica_set` of `seatrial-core` compiles this same
//! file, so the code that is checked here is the code that runs there.

/// A replica set, as the cache shows it. Uids and names are of the type `I`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Set<I> {
    /// It distinguishes this set from an earlier one of the same name.
    pub uid: I,
    /// How many pods the user wants.
    pub wanted: usize,
    /// The number of pods in the status.
    pub ready: usize,
    /// Whether it has our finalizer: it stays until we take that off.
    pub guarded: bool,
    /// Whether a user has deleted it.
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
    /// Delete the pod with this name.
    Delete(I),
    /// Write the number of pods to the status.
    Report(usize),
    /// Take our finalizer off the set.
    Release,
}

/// Returns the requests to make, in this order. The caller stops at the first request that fails,
/// and asks again with a newer view. The view must show all earlier writes of the same process.
pub fn plan<I: Clone + Ord>(set: Option<&Set<I>>, pods: &[Pod<I>]) -> Vec<Todo<I>> {
    // A set with our finalizer goes only after its pods, so nothing is left to do.
    let Some(set) = set else { return Vec::new() };
    // The uid decides, not the name: a set that was made again does not own the old set's pods.
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
    // The finalizer comes before the first pod: a set without it may go any time and leave its
    // pods.
    let guard = (!set.guarded).then_some(Todo::Guard);
    let missing = std::iter::repeat_n(Todo::Create, wanted.saturating_sub(mine.len()));
    let report = (set.ready != wanted).then_some(Todo::Report(wanted));
    guard.into_iter().chain(surplus).chain(missing).chain(report).collect()
}
