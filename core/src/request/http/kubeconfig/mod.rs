//! Where people keep their clusters: kubeconfig (client-go `clientcmd`).

mod error;
mod file;
mod resolve;

use std::env;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use self::file::{Cluster, Context, Entries, User, add, read};
use super::config::HttpConfig;
use super::error::ConfigError;

pub use self::error::KubeconfigError;

/// One kubeconfig, or several that are merged by client-go's rules: the first file that has an
/// entry of a name, or a current context, decides it as a whole.
///
/// ```no_run
/// use seatrial_core::request::http::Kubeconfig;
/// use seatrial_core::runtime::System;
///
/// # fn connect() -> Result<(), Box<dyn std::error::Error>> {
/// let kubeconfig = Kubeconfig::load()?.with_context("staging");
/// println!("works in {}", kubeconfig.namespace());
/// let client = kubeconfig.config()?.client(&System::new())?;
/// # Ok(())
/// # }
/// ```
pub struct Kubeconfig {
    /// The first file, which errors about all of them name.
    file: PathBuf,
    current: Option<String>,
    contexts: Entries<Context>,
    clusters: Entries<Cluster>,
    users: Entries<User>,
}

impl Kubeconfig {
    /// Reads the files that `KUBECONFIG` lists, or else `~/.kube/config`. Those that do not exist
    /// are skipped.
    ///
    /// # Errors
    /// There is none, or one cannot be read.
    pub fn load() -> Result<Self, KubeconfigError> {
        let files = files();
        let first = files.first().cloned().unwrap_or_default();
        let none = || KubeconfigError::new(first, String::new(), "there is no kubeconfig");
        Self::merged(&files)?.ok_or_else(none)
    }

    /// Reads one file.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read(path: impl Into<PathBuf>) -> Result<Self, KubeconfigError> {
        let path = path.into();
        let merged = Self::merged(std::slice::from_ref(&path))?;
        merged.ok_or_else(|| KubeconfigError::new(path, String::new(), "there is no such file"))
    }

    /// Merges files; `None` if none of them exists.
    pub(in crate::request::http) fn merged(
        files: &[PathBuf],
    ) -> Result<Option<Self>, KubeconfigError> {
        let mut all: Option<Self> = None;
        for path in files {
            let Some(found) = read(path)? else { continue };
            let all = all.get_or_insert_with(|| Self {
                file: path.clone(),
                current: None,
                contexts: Entries::new(),
                clusters: Entries::new(),
                users: Entries::new(),
            });
            let file: Arc<Path> = Arc::from(path.as_path());
            let named = found.current_context.filter(|name| !name.is_empty());
            all.current = all.current.take().or(named);
            add(&mut all.contexts, "contexts", found.contexts, &file)?;
            add(&mut all.clusters, "clusters", found.clusters, &file)?;
            add(&mut all.users, "users", found.users, &file)?;
        }
        Ok(all)
    }

    /// Chooses a context in place of the current one.
    #[must_use]
    pub fn with_context(mut self, name: impl Into<String>) -> Self {
        self.current = Some(name.into());
        self
    }

    /// Returns the name of the chosen context.
    #[must_use]
    pub fn context(&self) -> Option<&str> {
        self.current.as_deref()
    }

    /// Visits the names of all contexts, in order.
    pub fn contexts(&self) -> impl Iterator<Item = &str> {
        self.contexts.keys().map(String::as_str)
    }

    /// Returns the namespace of the chosen context, `default` if it has none.
    #[must_use]
    pub fn namespace(&self) -> &str {
        let context = self.current.as_ref().and_then(|name| self.contexts.get(name));
        let namespace = context.and_then(|it| it.value.namespace.as_deref());
        namespace.filter(|it| !it.is_empty()).unwrap_or("default")
    }

    /// Returns the configuration of a client for the chosen context. Files that it names are read
    /// again when they change. If it names no proxy, that of the environment is used.
    ///
    /// # Errors
    /// The context is incomplete, or says something that cannot be used.
    pub fn config(&self) -> Result<HttpConfig, ConfigError> {
        self.resolve().map_err(ConfigError::Kubeconfig)
    }
}

impl HttpConfig {
    /// The cluster of the kubeconfig ([`Kubeconfig::load`]), or else the one that this program runs
    /// in.
    ///
    /// # Errors
    /// There is neither, or it cannot be used.
    pub fn infer() -> Result<Self, ConfigError> {
        match Kubeconfig::merged(&files()).map_err(ConfigError::Kubeconfig)? {
            Some(kubeconfig) if kubeconfig.current.is_some() => kubeconfig.config(),
            _ => Self::in_cluster(),
        }
    }
}

/// Returns the files that a kubeconfig may have.
fn files() -> Vec<PathBuf> {
    match env::var_os("KUBECONFIG").filter(|list| !list.is_empty()) {
        Some(list) => env::split_paths(&list).filter(|it| !it.as_os_str().is_empty()).collect(),
        None => env::home_dir().map(|home| home.join(".kube/config")).into_iter().collect(),
    }
}

/// Entries may be secrets, so only names are shown.
impl fmt::Debug for Kubeconfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kubeconfig")
            .field("file", &self.file)
            .field("context", &self.current)
            .field("contexts", &self.contexts.keys())
            .finish_non_exhaustive()
    }
}
