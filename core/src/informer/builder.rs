//! An informer with custom settings.

use std::fmt;
use std::sync::Arc;

use crate::runtime::{Runtime, System};
use crate::store::Transform;
use crate::store::{Cause, Described, Handle};

use super::health::Recovery;
use super::list_watch::ListWatch;
use super::reflector::{Config, Consistency, Difference, Hooks};
use super::shared::{Informer, OnRejected};

/// Settings for a new informer.
///
/// ```
/// # use std::sync::Arc;
/// # use std::time::Duration;
/// # use seatrial_core::informer::{Informer, ListWatch, reflector::Config};
/// # use seatrial_core::runtime::System;
/// # fn with_settings<O: seatrial_core::store::Handle + seatrial_core::store::Described>(
/// #     source: Arc<dyn ListWatch<O>>, trimmed: fn(O) -> O) -> Informer<O> {
/// Informer::builder(&System::new(), source)
///     .config(Config::default().resync(Duration::from_secs(600)))
///     .transform(move |pod| Ok(trimmed(pod))) // unneeded fields take no memory
///     .build()
/// # }
/// ```
#[must_use = "it is no informer yet"]
pub struct Builder<O, R: Runtime = System> {
    runtime: R,
    settings: Settings<O>,
}

/// The settings of an informer.
pub(super) struct Settings<O> {
    pub(super) source: Arc<dyn ListWatch<O>>,
    pub(super) config: Config,
    pub(super) hooks: Hooks,
    pub(super) refused: OnRejected,
    pub(super) transform: Option<Transform<O>>,
    pub(super) check: Option<Consistency<O>>,
    pub(super) recovery: Recovery,
}

impl<O: Handle + Described, R: Runtime> Builder<O, R> {
    pub(super) fn new(runtime: &R, source: Arc<dyn ListWatch<O>>) -> Self {
        let (config, hooks) = (Config::default(), Hooks::default());
        let refused: OnRejected = Arc::new(|_| ());
        let (transform, check, recovery) = (None, None, Recovery::default());
        let settings = Settings { source, config, hooks, refused, transform, check, recovery };
        Self { runtime: runtime.clone(), settings }
    }

    /// Sets how the reflector lists and watches.
    pub fn config(mut self, config: Config) -> Self {
        self.settings.config = config;
        self
    }

    /// Sets the hooks that the reflector calls.
    pub fn hooks(mut self, hooks: Hooks) -> Self {
        self.settings.hooks = hooks;
        self
    }

    /// Sets the consequence of a panic in a function that the informer calls.
    pub fn recovery(mut self, recovery: Recovery) -> Self {
        self.settings.recovery = recovery;
        self
    }

    /// Sets the function that is told which objects the store refused.
    pub fn refused(mut self, refused: OnRejected) -> Self {
        self.settings.refused = refused;
        self
    }

    /// Changes every object once, before anybody sees it: the place to drop fields that nobody
    /// needs. It must not change the namespace, name, uid and resource version.
    ///
    /// It is called once for each object, even where the first objects come by a stream. (There the
    /// reference calls it twice, `cache:WL-14`.) So it need not be idempotent.
    pub fn transform(
        mut self,
        transform: impl Fn(O) -> Result<O, Cause> + Send + Sync + 'static,
    ) -> Self {
        self.settings.transform = Some(Arc::new(transform));
        self
    }

    /// Compares the objects of a stream with a list of the same version, and reports the
    /// differences. This detects servers that break their promises, and costs a list
    /// (`cache:DC-1`).
    pub fn check_consistency(
        mut self,
        differs: impl Fn(Vec<Difference<O>>) + Send + Sync + 'static,
    ) -> Self
    where
        O: PartialEq,
    {
        self.settings.check = Some(Consistency::new(differs));
        self
    }

    /// Makes the informer.
    #[must_use]
    pub fn build(self) -> Informer<O, R> {
        Informer::with_settings(&self.runtime, self.settings)
    }
}

impl<O: Handle + Described, R: Runtime> Informer<O, R> {
    /// Makes an informer with default settings.
    pub fn new(runtime: &R, source: Arc<dyn ListWatch<O>>) -> Self {
        Self::with(runtime, source, Config::default(), Hooks::default(), Arc::new(|_| ()))
    }

    /// Makes an informer with settings and hooks of the reflector, and a function that is told
    /// which objects the store refused because an index function failed.
    pub fn with(
        runtime: &R,
        source: Arc<dyn ListWatch<O>>,
        config: Config,
        hooks: Hooks,
        refused: OnRejected,
    ) -> Self {
        Self::builder(runtime, source).config(config).hooks(hooks).refused(refused).build()
    }

    /// Begins an informer with custom settings.
    pub fn builder(runtime: &R, source: Arc<dyn ListWatch<O>>) -> Builder<O, R> {
        Builder::new(runtime, source)
    }
}

impl<O, R: Runtime> fmt::Debug for Builder<O, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("config", &self.settings.config).finish_non_exhaustive()
    }
}
