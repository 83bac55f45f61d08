//! A context of a kubeconfig, as the configuration of a client.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::request::http::config::{HttpConfig, Trust};
use crate::request::http::error::ConfigError;
use crate::request::http::exec::{LIMIT, Plugin, Program};
use crate::request::http::impersonation::Impersonation;
use crate::request::http::pem::Pem;
use crate::request::http::token::Token;
use crate::request::http::transport::HttpTransport;

use super::Kubeconfig;
use super::error::KubeconfigError;
use super::file::{Cluster, Context, Entry, Exec, Hidden, User};

type Resolved<V> = Result<V, KubeconfigError>;

/// An entry, and how errors name its fields.
struct Part<'k, T> {
    entry: &'k Entry<T>,
    name: String,
}

impl<T> Part<'_, T> {
    fn bad(&self, field: &str, why: impl Into<String>) -> KubeconfigError {
        KubeconfigError::new(&*self.entry.file, format!("{}: {field}", self.name), why)
    }

    /// Translates an error about a field.
    fn about(&self, field: &str) -> impl Fn(ConfigError) -> KubeconfigError + '_ {
        let field = field.to_owned();
        move |why| {
            let told = why.to_string();
            let error = self.bad(&field, told);
            match why {
                ConfigError::File(_, why) => error.by(why),
                _ => error,
            }
        }
    }

    /// Returns a text in PEM; data in base64 wins over a file.
    fn pem(
        &self,
        field: &str,
        data: Option<&Hidden>,
        file: Option<&String>,
    ) -> Resolved<Option<Pem>> {
        if let Some(data) = data.filter(|data| !data.is_empty()) {
            let field = format!("{field}-data");
            let lines: Hidden = Zeroizing::new(data.split_ascii_whitespace().collect());
            let pem = BASE64_STANDARD.decode(lines.as_bytes());
            return pem
                .map(|it| Some(Pem::given(it)))
                .map_err(|_| self.bad(&field, "it is no base64"));
        }
        let Some(file) = set(file) else { return Ok(None) };
        let pem = Pem::File(self.entry.path(file));
        drop(pem.read().map_err(self.about(field))?); // so that a missing file is reported now
        Ok(Some(pem))
    }
}

/// Returns a text that is not empty; an empty one means that a field is not set.
fn set(text: Option<&String>) -> Option<&String> {
    text.filter(|text| !text.is_empty())
}

impl Kubeconfig {
    pub(super) fn resolve(&self) -> Resolved<HttpConfig> {
        let bad = |at: String, why: &str| KubeconfigError::new(&self.file, at, why);
        let Some(name) = set(self.current.as_ref()) else {
            return Err(bad("current-context".to_owned(), "it is not set"));
        };
        let name = format!("context {name:?}");
        let found = self.current.as_ref().and_then(|it| self.contexts.get(it));
        let entry = found.ok_or_else(|| bad(name.clone(), "there is none of this name"))?;
        let context = Part { entry, name };
        let Context { cluster, user, .. } = &context.entry.value;
        let cluster =
            set(cluster.as_ref()).ok_or_else(|| context.bad("cluster", "it is not set"))?;
        let entry = self.clusters.get(cluster);
        let entry = entry
            .ok_or_else(|| context.bad("cluster", format!("there is no cluster {cluster:?}")))?;
        let cluster = Part { entry, name: format!("{}, cluster {cluster:?}", context.name) };
        let config = usable(address(&cluster)?, &cluster)?;
        let Some(user) = set(user.as_ref()) else { return Ok(config) };
        let entry = self.users.get(user);
        let entry =
            entry.ok_or_else(|| context.bad("user", format!("there is no user {user:?}")))?;
        let user = Part { entry, name: format!("{}, user {user:?}", context.name) };
        let impersonation = impersonation(&user)?;
        let mut config = HttpConfig { impersonation, ..config };
        // As in the reference a server without TLS is shown no credentials.
        if !config.base.is_encrypted() {
            return usable(config, &user);
        }
        config = credentials(config, &user)?;
        if let Some(exec) = &user.entry.value.exec {
            config.plugin = Some(plugin(exec, &user, &cluster, &config)?);
        }
        usable(config, &user)
    }
}

/// Checks a configuration as a whole.
fn usable<T>(config: HttpConfig, part: &Part<'_, T>) -> Resolved<HttpConfig> {
    HttpTransport::new(&config).map(|_| config).map_err(|why| {
        let field = match &why {
            ConfigError::Certificate("authority", _) => "certificate-authority",
            ConfigError::Certificate("client key", _) => "client-key",
            ConfigError::Certificate("client certificate", _) => "client-certificate",
            ConfigError::ServerName => "tls-server-name",
            ConfigError::Header(_) => "as",
            _ => "it",
        };
        part.about(field)(why)
    })
}

fn address(cluster: &Part<'_, Cluster>) -> Resolved<HttpConfig> {
    let Cluster { server, certificate_authority, certificate_authority_data, .. } =
        &cluster.entry.value;
    let server = set(server.as_ref()).ok_or_else(|| cluster.bad("server", "it is not set"))?;
    let mut config = HttpConfig::new(server).map_err(cluster.about("server"))?;
    let authorities = cluster.pem(
        "certificate-authority",
        certificate_authority_data.as_ref(),
        certificate_authority.as_ref(),
    )?;
    let Cluster { tls_server_name, proxy_url, disable_compression, .. } = &cluster.entry.value;
    config.trust = match (cluster.entry.value.insecure_skip_tls_verify, authorities) {
        (Some(true), None) => Trust::Anyone,
        (Some(true), Some(_)) => {
            let why = "an authority is set as well";
            return Err(cluster.bad("insecure-skip-tls-verify", why));
        }
        (_, Some(pem)) => Trust::Authorities(pem),
        (_, None) if config.base.is_encrypted() => Trust::System,
        (_, None) => Trust::Nobody,
    };
    config.server_name = set(tls_server_name.as_ref()).cloned();
    config.compresses = *disable_compression != Some(true);
    match set(proxy_url.as_ref()) {
        Some(url) => config.proxy(url).map_err(cluster.about("proxy-url")),
        None => config.proxy_from_environment().map_err(cluster.about("proxy-url")),
    }
}

fn impersonation(user: &Part<'_, User>) -> Resolved<Option<Impersonation>> {
    let it = &user.entry.value;
    let groups = it.as_groups.clone().unwrap_or_default();
    let (uid, extra) = (set(it.as_uid.as_ref()), it.as_user_extra.clone().unwrap_or_default());
    let Some(name) = set(it.r#as.as_ref()) else {
        let is_nobody = groups.is_empty() && uid.is_none() && extra.is_empty();
        let why = "it is not set, but a group, an id or an attribute is";
        return if is_nobody { Ok(None) } else { Err(user.bad("as", why)) };
    };
    let mut who = Impersonation::new(name);
    (who.groups, who.uid, who.extra) = (groups, uid.cloned(), extra);
    Ok(Some(who))
}

fn credentials(mut config: HttpConfig, user: &Part<'_, User>) -> Resolved<HttpConfig> {
    let it = &user.entry.value;
    if it.auth_provider.is_some() {
        return Err(user.bad("auth-provider", "there are none any more: use exec"));
    }
    let (chain, key) = (it.client_certificate_data.as_ref(), it.client_key_data.as_ref());
    let chain = user.pem("client-certificate", chain, it.client_certificate.as_ref())?;
    let key = user.pem("client-key", key, it.client_key.as_ref())?;
    config.identity = match (chain, key) {
        (Some(chain), Some(key)) => Some((chain, key)),
        (None, None) => None,
        (Some(_), None) => return Err(user.bad("client-key", "it is not set")),
        (None, Some(_)) => return Err(user.bad("client-certificate", "it is not set")),
    };
    let given = it.token.as_ref().filter(|token| !token.is_empty());
    config.token = given.map(|token| Token::new(token.as_str()));
    if let Some(file) = set(it.token_file.as_ref()) {
        let mut token = Token::file(user.entry.path(file));
        if let Some(fallback) = given {
            token = token.or(fallback);
        }
        drop(token.now().map_err(user.about("tokenFile"))?);
        config.token = Some(token);
    }
    let password = it.password.as_ref().filter(|password| !password.is_empty());
    if let (name, Some(password)) = (set(it.username.as_ref()), password) {
        if config.token.is_some() {
            return Err(user.bad("password", "a token is set as well"));
        }
        let name = name.ok_or_else(|| user.bad("username", "it is not set"))?;
        config = config.basic_auth(name, password.as_str());
    }
    Ok(config)
}

fn plugin(
    exec: &Exec,
    user: &Part<'_, User>,
    cluster: &Part<'_, Cluster>,
    config: &HttpConfig,
) -> Resolved<Plugin> {
    let unset = |field: &str| user.bad(field, "it is not set");
    let command = set(exec.command.as_ref()).ok_or_else(|| unset("exec.command"))?;
    let version = set(exec.api_version.as_ref()).ok_or_else(|| unset("exec.apiVersion"))?;
    let is_first = match version.as_str() {
        "client.authentication.k8s.io/v1" => true,
        "client.authentication.k8s.io/v1beta1" => false,
        _ => return Err(user.bad("exec.apiVersion", "only v1 and v1beta1 are known")),
    };
    match set(exec.interactive_mode.as_ref()).map(String::as_str) {
        Some("Never" | "IfAvailable") => {}
        None if !is_first => {}
        None => return Err(unset("exec.interactiveMode")),
        Some("Always") => {
            let why = "the program wants to talk to a person, and there is none";
            return Err(user.bad("exec.interactiveMode", why));
        }
        Some(_) => return Err(user.bad("exec.interactiveMode", "it is no such mode")),
    }
    let mut spec = json!({ "interactive": false });
    if exec.provide_cluster_info == Some(true) {
        spec["cluster"] = cluster_info(&cluster.entry.value, config)
            .map_err(cluster.about("certificate-authority"))?;
    }
    let env = exec.env.iter().flatten();
    if env.clone().any(|it| it.name.is_empty() || it.name.contains(['=', '\0'])) {
        return Err(user.bad("exec.env", "a variable has a name that none can have"));
    }
    // A name without a slash is looked up in `PATH`.
    let is_path = command.contains(std::path::MAIN_SEPARATOR);
    Ok(Plugin::new(Program {
        program: if is_path { user.entry.path(command).into() } else { command.into() },
        args: exec.args.clone().unwrap_or_default(),
        env: env.map(|it| (it.name.clone(), it.value.clone().unwrap_or_default())).collect(),
        info: json!({ "kind": "ExecCredential", "apiVersion": version, "spec": spec }).to_string(),
        version: version.clone(),
        hint: exec.install_hint.clone().unwrap_or_default(),
        user: format!("{}: {}", user.entry.file.display(), user.name),
        limit: LIMIT,
    }))
}

/// What a plugin is told of its cluster.
fn cluster_info(cluster: &Cluster, config: &HttpConfig) -> Result<Value, ConfigError> {
    let mut info = json!({ "server": cluster.server });
    let mut tell = |field: &str, value: Value| {
        info[field] = value;
    };
    if let Some(name) = &config.server_name {
        tell("tls-server-name", json!(name));
    }
    match &config.trust {
        Trust::Anyone => tell("insecure-skip-tls-verify", json!(true)),
        Trust::Authorities(pem) => {
            let pem = BASE64_STANDARD.encode(pem.read()?.as_slice());
            tell("certificate-authority-data", json!(pem));
        }
        _ => {}
    }
    if let Some(url) = set(cluster.proxy_url.as_ref()) {
        tell("proxy-url", json!(url));
    }
    if cluster.disable_compression == Some(true) {
        tell("disable-compression", json!(true));
    }
    let mut extensions = cluster.extensions.iter().flatten();
    let of_plugins =
        |name: &Option<String>| name.as_deref() == Some("client.authentication.k8s.io/exec");
    if let Some(found) = extensions.find(|it| of_plugins(&it.name)) {
        tell("config", found.extension.clone().unwrap_or_default());
    }
    Ok(info)
}
