//! The connections of a client whose certificates may change.
//!
//! Connections that were made with an old certificate carry their calls and watches to the end, and
//! new calls get connections of their own.

use std::sync::Arc;
use std::time::Duration;

use hyper::Uri;
use hyper_rustls::{FixedServerNameResolver, HttpsConnector};
use hyper_util::client::legacy::connect::HttpConnector;
use parking_lot::Mutex;
use rustls::pki_types::ServerName;
use tokio::time::Instant;

use crate::request::BuildError;

use super::config::HttpConfig;
use super::connect::{Reach, Within};
use super::error::ConfigError;
use super::pem::{Identity, Material};
use super::pool::Pool;
use super::tls::client_config;
use super::token::FRESH;

/// The connections to one server.
pub(super) struct Links {
    config: HttpConfig,
    origin: Uri,
    reach: Reach,
    may_change: bool,
    current: Mutex<Current>,
}

/// The connections for new calls.
struct Current {
    pool: Arc<Pool>,
    material: Material,
    issued: Option<Identity>,
    /// When the files were read; `None` if there may be new ones by now.
    at: Option<Instant>,
}

impl Links {
    pub(super) fn new(config: &HttpConfig) -> Result<Self, ConfigError> {
        let bad = |_| BuildError::Base(config.base.to_string(), "it is no URI");
        let origin: Uri =
            config.base.origin().parse().map_err(bad).map_err(ConfigError::Address)?;
        let reach = Reach::new(connector(config), config.proxy.as_ref());
        let material = Material::read(config, None)?;
        let pool = pool(config, &reach, &origin, &material)?;
        let current = Current { pool, material, issued: None, at: Some(Instant::now()) };
        let may_change = Material::may_change(config);
        let (config, current) = (config.clone(), Mutex::new(current));
        Ok(Self { config, origin, reach, may_change, current })
    }

    /// Returns the connections for a new call, with the identity that was issued for it.
    ///
    /// # Errors
    /// That identity cannot be used. Files that cannot be used are ignored: the program that renews
    /// them may be in the middle.
    pub(super) fn pool(&self, issued: Option<Identity>) -> Result<Arc<Pool>, ConfigError> {
        let mut current = self.current.lock();
        let is_due = self.may_change && current.at.is_none_or(|at| at.elapsed() >= FRESH);
        let is_issued = issued != current.issued;
        if is_due || is_issued {
            let with = |material: Material| {
                let same = material == current.material;
                let pool = match same {
                    true => Arc::clone(&current.pool),
                    false => pool(&self.config, &self.reach, &self.origin, &material)?,
                };
                Ok((material, pool))
            };
            let renewed =
                Material::read(&self.config, issued.as_ref()).and_then(with).or_else(|why| {
                    // What was issued is complete, even if the file of the authorities is not.
                    let Some(identity) = issued.clone().filter(|_| is_issued) else {
                        return Err(why);
                    };
                    let authorities = current.material.authorities.clone();
                    with(Material { authorities, identity: Some(identity) })
                });
            current.at = Some(Instant::now());
            match renewed {
                Ok((material, pool)) => {
                    *current = Current { pool, material, issued, at: current.at };
                }
                Err(why) if is_issued => return Err(why),
                Err(_) => {}
            }
        }
        Ok(Arc::clone(&current.pool))
    }

    /// Notes that a server and this client do not trust each other: the files are read again for the
    /// next call.
    pub(super) fn doubt(&self) {
        self.current.lock().at = None;
    }
}

fn pool(
    config: &HttpConfig,
    reach: &Reach,
    origin: &Uri,
    material: &Material,
) -> Result<Arc<Pool>, ConfigError> {
    let mut tls = client_config(config, material)?;
    tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let (reach, tls) = (reach.clone(), Arc::new(tls));
    let inner = match &config.server_name {
        None => HttpsConnector::from((reach, tls)),
        Some(name) => {
            let name = ServerName::try_from(name.clone());
            let name = name.map_err(|_| ConfigError::ServerName)?;
            let fixed = Arc::new(FixedServerNameResolver::new(name));
            HttpsConnector::new(reach, tls, false, fixed)
        }
    };
    let within = Within { inner, limit: config.connect };
    Ok(Pool::new(within, origin.clone(), config.dead_after / 3))
}

fn connector(config: &HttpConfig) -> HttpConnector {
    let ping = config.dead_after / 3;
    let mut connector = HttpConnector::new();
    connector.enforce_http(false);
    connector.set_connect_timeout(Some(config.connect));
    connector.set_nodelay(true);
    let least = Duration::from_secs(1); // TCP counts in seconds, and refuses zero
    connector.set_keepalive(Some(ping.max(least)));
    connector.set_keepalive_interval(Some((ping / 2).max(least)));
    connector.set_keepalive_retries(Some(2));
    // Also give up data that is never acknowledged, where the system supports that.
    #[cfg(target_os = "linux")]
    connector.set_tcp_user_timeout(Some(config.dead_after));
    connector
}
