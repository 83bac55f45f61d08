//! The content of one file, as it is written.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer};
use serde_json::Value;
use zeroize::Zeroizing;

use super::error::KubeconfigError;

/// The largest file that is read, in bytes.
const LARGEST: u64 = 16 << 20;

/// A text that is overwritten when it is dropped.
pub(super) type Hidden = Zeroizing<String>;

/// A kubeconfig. Further fields are ignored, and `null` means that a field is not set.
#[derive(Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub(super) struct File {
    pub(super) current_context: Option<String>,
    pub(super) contexts: Option<Vec<Named<Context>>>,
    pub(super) clusters: Option<Vec<Named<Cluster>>>,
    pub(super) users: Option<Vec<Named<User>>>,
}

#[derive(Deserialize)]
#[serde(bound = "T: DeserializeOwned")]
pub(super) struct Named<T> {
    pub(super) name: String,
    #[serde(alias = "context", alias = "cluster", alias = "user")]
    value: Option<T>,
}

#[derive(Deserialize, Default)]
pub(super) struct Context {
    pub(super) cluster: Option<String>,
    pub(super) user: Option<String>,
    pub(super) namespace: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Cluster {
    pub(super) server: Option<String>,
    pub(super) tls_server_name: Option<String>,
    pub(super) insecure_skip_tls_verify: Option<bool>,
    pub(super) certificate_authority: Option<String>,
    #[serde(default, deserialize_with = "hidden")]
    pub(super) certificate_authority_data: Option<Hidden>,
    pub(super) proxy_url: Option<String>,
    pub(super) disable_compression: Option<bool>,
    pub(super) extensions: Option<Vec<Extension>>,
}

/// What somebody else wants to know of a cluster.
#[derive(Deserialize)]
pub(super) struct Extension {
    pub(super) name: Option<String>,
    pub(super) extension: Option<Value>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub(super) struct User {
    pub(super) client_certificate: Option<String>,
    #[serde(default, deserialize_with = "hidden")]
    pub(super) client_certificate_data: Option<Hidden>,
    pub(super) client_key: Option<String>,
    #[serde(default, deserialize_with = "hidden")]
    pub(super) client_key_data: Option<Hidden>,
    #[serde(default, deserialize_with = "hidden")]
    pub(super) token: Option<Hidden>,
    #[serde(rename = "tokenFile")]
    pub(super) token_file: Option<String>,
    pub(super) username: Option<String>,
    #[serde(default, deserialize_with = "hidden")]
    pub(super) password: Option<Hidden>,
    pub(super) r#as: Option<String>,
    pub(super) as_uid: Option<String>,
    pub(super) as_groups: Option<Vec<String>>,
    pub(super) as_user_extra: Option<BTreeMap<String, Vec<String>>>,
    pub(super) exec: Option<Exec>,
    pub(super) auth_provider: Option<Value>,
}

/// A program that issues credentials.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
pub(super) struct Exec {
    pub(super) api_version: Option<String>,
    pub(super) command: Option<String>,
    pub(super) args: Option<Vec<String>>,
    pub(super) env: Option<Vec<Variable>>,
    pub(super) install_hint: Option<String>,
    pub(super) provide_cluster_info: Option<bool>,
    pub(super) interactive_mode: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Variable {
    pub(super) name: String,
    #[serde(default, deserialize_with = "hidden")]
    pub(super) value: Option<Hidden>,
}

fn hidden<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Hidden>, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.map(Zeroizing::new))
}

/// An entry, and the file where it stands: paths are relative to that.
pub(super) struct Entry<T> {
    pub(super) value: T,
    pub(super) file: Arc<Path>,
}

impl<T> Entry<T> {
    /// Returns a path of the entry.
    pub(super) fn path(&self, written: &str) -> PathBuf {
        self.file.parent().map_or_else(|| written.into(), |folder| folder.join(written))
    }
}

/// Entries by name.
pub(super) type Entries<T> = BTreeMap<String, Entry<T>>;

/// Adds the entries of a file. Those of an earlier file stay, as a whole.
///
/// # Errors
/// The file has two of one name.
pub(super) fn add<T: Default>(
    all: &mut Entries<T>,
    list: &str,
    found: Option<Vec<Named<T>>>,
    file: &Arc<Path>,
) -> Result<(), KubeconfigError> {
    let mut new = Entries::new();
    for (number, Named { name, value }) in found.unwrap_or_default().into_iter().enumerate() {
        let entry = Entry { value: value.unwrap_or_default(), file: Arc::clone(file) };
        if new.insert(name, entry).is_some() {
            let why = "an entry before it has the same name";
            return Err(KubeconfigError::new(&**file, format!("{list}[{number}].name"), why));
        }
    }
    for (name, entry) in new {
        all.entry(name).or_insert(entry);
    }
    Ok(())
}

/// Reads a file; `None` if there is none.
pub(super) fn read(path: &Path) -> Result<Option<File>, KubeconfigError> {
    let mut text = Zeroizing::new(String::new());
    let opened = fs::File::open(path);
    match opened.and_then(|file| file.take(LARGEST + 1).read_to_string(&mut text)) {
        Ok(_) if text.len() as u64 > LARGEST => {
            let why = format!("it has more than {LARGEST} bytes");
            Err(KubeconfigError::new(path, String::new(), why))
        }
        Ok(_) => parse(&text, path).map(Some),
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(why) => Err(KubeconfigError::new(path, String::new(), "it cannot be read").by(why)),
    }
}

/// Reads a text. What the parser says of it may quote a secret, so only the place is told.
fn parse(text: &str, path: &Path) -> Result<File, KubeconfigError> {
    let mut field = String::new();
    let read = serde_saphyr::with_deserializer_from_str(text, |deserializer| {
        serde_path_to_error::deserialize::<_, Option<File>>(deserializer).map_err(|why| {
            field = why.path().to_string();
            why.into_inner()
        })
    });
    read.map(Option::unwrap_or_default).map_err(|why| {
        let line = why.location().map_or_else(String::new, |it| {
            format!(" (line {}, column {})", it.line(), it.column())
        });
        let field = if field == "." || field == "?" { String::new() } else { field.clone() };
        let is_whole = field.is_empty();
        let why = if is_whole { "it is not YAML" } else { "it has another form than is expected" };
        KubeconfigError::new(path, field, format!("{why}{line}"))
    })
}
