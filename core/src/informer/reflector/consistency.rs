//! Checks that a stream told the same objects as a list (`cache` section 14).

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::cancel::CancelToken;
use crate::cancel::until::unless_ended;
use crate::informer::list_watch::{ListOptions, ListWatch, Match, SourceKind};
use crate::runtime::Runtime;
use crate::store::{Described, Handle};

/// The pause after a list that failed (`cache:DC-2`).
const PAUSE: Duration = Duration::from_secs(1);

/// An object that differs between a stream and a list of the same version. Both are as received,
/// before any transformation (`cache:DC-3`).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference<O> {
    /// The object from the stream.
    pub streamed: Option<O>,
    /// The object from the list.
    pub listed: Option<O>,
}

/// Compares streams with lists.
pub struct Consistency<O> {
    differ: fn(&O, &O) -> bool,
    report: Arc<dyn Fn(Vec<Difference<O>>) + Send + Sync>,
}

type Named<O> = BTreeMap<(String, String), O>;

fn named<O: Described>(objects: impl IntoIterator<Item = O>) -> Named<O> {
    let name = |object: &O| {
        let it = object.metadata()?;
        Some((it.uid.to_owned(), crate::store::join(it.namespace, it.name)))
    };
    objects.into_iter().filter_map(|object| Some((name(&object)?, object))).collect()
}

impl<O: Handle + Described> Consistency<O> {
    /// Calls `report` with all differences. To end the program on a difference, panic in `report`.
    pub fn new(report: impl Fn(Vec<Difference<O>>) + Send + Sync + 'static) -> Self
    where
        O: PartialEq,
    {
        Self { differ: |a, b| a != b, report: Arc::new(report) }
    }

    fn compare(&self, streamed: &[O], listed: Vec<O>) -> Vec<Difference<O>> {
        let (mut streamed, mut differences) = (named(streamed.to_vec()), Vec::new());
        for (name, listed) in named(listed) {
            let streamed = streamed.remove(&name);
            if streamed.as_ref().is_none_or(|streamed| (self.differ)(streamed, &listed)) {
                differences.push(Difference { streamed, listed: Some(listed) });
            }
        }
        let rest = streamed.into_values();
        differences
            .extend(rest.map(|streamed| Difference { streamed: Some(streamed), listed: None }));
        differences
    }

    /// Lists at the version that a stream reached, and reports the differences. A list that fails
    /// is tried again until the token ends, except when the server has forgotten the version.
    pub(super) async fn check<R: Runtime>(
        &self,
        source: &dyn ListWatch<O>,
        (streamed, version): (&[O], &str),
        token: &CancelToken<R>,
    ) {
        if matches!(version, "" | "0") {
            return;
        }
        let options = ListOptions {
            resource_version: version.to_owned(),
            resource_version_match: Some(Match::Exact),
            ..ListOptions::default()
        };
        while !token.is_cancelled() {
            match unless_ended(token, source.list(options.clone())).await {
                Ok(Ok(page)) if page.continue_token.is_empty() => {
                    let differences = self.compare(streamed, page.items);
                    if !differences.is_empty() {
                        (self.report)(differences);
                    }
                    return;
                }
                Ok(Err(error)) if error.kind() != SourceKind::Expired => {
                    let until = token.runtime().now() + PAUSE;
                    token.child_with_deadline(until).wait_async().await;
                }
                _ => return,
            }
        }
    }
}

impl<O> Clone for Consistency<O> {
    fn clone(&self) -> Self {
        Self { differ: self.differ, report: Arc::clone(&self.report) }
    }
}

impl<O> fmt::Debug for Consistency<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Consistency")
    }
}
