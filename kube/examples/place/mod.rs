//! Where an example runs: on the server of `KUBECONFIG`, which may use TLS, or else on its own.

use std::sync::Arc;

use hyper_rustls::HttpsConnectorBuilder;
use hyper_util::client::legacy;
use hyper_util::rt::TokioExecutor;
use kube::client::{Body, ConfigExt as _};
use kube::{Client, Config};
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};
use seatrial_sim::apiserver::{Options, Server};
use seatrial_sim::http::{Face, Listen};
use tower::ServiceBuilder;

type Failed = Box<dyn std::error::Error>;

/// Makes a client, and returns the server if it is the example's own; it ends when dropped.
pub(crate) async fn connect() -> Result<(Client, Option<Face>), Failed> {
    if std::env::var_os("KUBECONFIG").is_some() {
        return Ok((client(Config::infer().await?)?, None));
    }
    let face = Face::listen(Server::new(&Options::default()), &Listen::default())?;
    let config = Config::new(format!("http://{}", face.address()).parse()?);
    Ok((Client::try_from(config)?, Some(face)))
}

/// Makes a client with the TLS that this crate is tested with.
fn client(config: Config) -> Result<Client, Failed> {
    let mut trusted = RootCertStore::empty();
    for authority in config.root_cert.iter().flatten() {
        trusted.add(CertificateDer::from(authority.clone()))?;
    }
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let tls = ClientConfig::builder_with_provider(ring)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(trusted)
        .with_no_client_auth();
    let connector =
        HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1();
    let client: legacy::Client<_, Body> =
        legacy::Client::builder(TokioExecutor::new()).build(connector.build());
    let service = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .option_layer(config.auth_layer()?)
        .map_err(tower::BoxError::from)
        .service(client);
    Ok(Client::new(service, config.default_namespace))
}
