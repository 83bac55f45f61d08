//! An informer and an election on core's own client, on the cluster of `KUBECONFIG` or on a server of
//! their own: the leader writes an object, and the informer sees it. The example ends by itself.
//!
//! ```text
//! cargo run -p seatrial-core --features kubeconfig --example cluster
//! ```

use std::collections::BTreeMap;
use std::error::Error;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use seatrial_core::cancel::CancelToken;
use seatrial_core::elector::{AsyncCallbacks, Config, Elector, Leadership, LeaseLock, Timing};
use seatrial_core::informer::Informer;
use seatrial_core::request::http::{HttpConfig, HttpTransport, Kubeconfig};
use seatrial_core::request::{
    Api, ApiResource, DeleteParams, Leases, ListParams, ObjectMeta, Resource,
};
use seatrial_core::runtime::{Ambient as _, System};
use seatrial_core::store::{Described, Metadata};
use seatrial_sim::apiserver::{Options, Server};
use seatrial_sim::http::{Face, Listen, Tls};
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Serialize, Deserialize, Debug, Default)]
#[serde(default)]
struct ConfigMap {
    metadata: ObjectMeta,
    data: BTreeMap<String, String>,
}

impl Resource for ConfigMap {
    fn api_resource() -> ApiResource {
        ApiResource::namespaced("", "v1", "ConfigMap", "configmaps")
    }
}

impl Described for ConfigMap {
    fn metadata(&self) -> Option<Metadata<'_>> {
        Some(self.metadata.described())
    }
}

/// What the leader does.
struct Worker {
    maps: Api<System, HttpTransport, ConfigMap>,
    informer: Informer<Arc<ConfigMap>>,
    stop: CancelToken,
}

impl Worker {
    async fn work(&self) -> Result<(), Box<dyn Error>> {
        let metadata = ObjectMeta::new("seatrial-example");
        let data = BTreeMap::from([("colour".to_owned(), "blue".to_owned())]);
        let map = self.maps.create(&ConfigMap { metadata, data }).await?;
        println!("{} has version {}", map.metadata.name, map.metadata.resource_version);
        self.informer.wrote(map.metadata.described())?;
        let until = self.stop.runtime().now() + Duration::from_secs(10);
        let seen = self.informer.get_written_async("default/seatrial-example", until).await?;
        println!("the informer has seen {:?}", seen.map(|map| map.data.clone()));
        self.maps.delete("seatrial-example", &DeleteParams::default()).await?;
        Ok(())
    }
}

impl AsyncCallbacks<System> for Worker {
    async fn started_leading(&self, leadership: Leadership<System>) {
        println!("leads, with {:?}", leadership.fence());
        self.work().await.expect("the server answers");
        self.stop.cancel();
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let (config, _server) = place()?; // your program says `HttpConfig::infer()?`
    let system = System::new();
    let stop = CancelToken::new(&system);

    let client = Arc::new(config.client(&system)?);
    let maps: Api<_, _, ConfigMap> = Api::namespaced(&client, "default");
    let informer = Informer::new(&system, Arc::new(maps.collection(&ListParams::default())));

    let leases = Leases::new(config.client(&system)?, &Timing::DEFAULT);
    let lock = LeaseLock::new(leases, "default", "seatrial-example");
    let elector = Elector::new(&system, lock, Config::new("me").release_on_cancel(true))?;

    let worker = Worker { maps, informer, stop: stop.clone() };
    let (followed, led) =
        tokio::join!(worker.informer.run_async(&stop), elector.run_async(&stop, &worker));
    followed?;
    assert!(led?, "it has led");
    Ok(())
}

/// Returns the cluster of `KUBECONFIG`, or a server of its own with the kubeconfig for it.
fn place() -> Result<(HttpConfig, Option<Face>), Box<dyn Error>> {
    if std::env::var_os("KUBECONFIG").is_some() {
        return Ok((HttpConfig::infer()?, None));
    }
    let tls = Tls::generate(Ipv4Addr::LOCALHOST.into())?;
    let folder = std::env::temp_dir().join(format!("seatrial-client-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let authority = BASE64_STANDARD.encode(tls.authority());
    let listen = Listen { tls: Some(tls), ..Listen::default() };
    let face = Face::listen(Server::new(&Options::default()), &listen)?;
    let address = format!("https://localhost:{}", face.address().port());
    let cluster = json!({ "server": address, "certificate-authority-data": authority });
    let kubeconfig = json!({
        "current-context": "ours",
        "contexts": [{ "name": "ours", "context": { "cluster": "ours", "user": "me" } }],
        "clusters": [{ "name": "ours", "cluster": cluster }],
        "users": [{ "name": "me", "user": { "token": "any" } }],
    });
    std::fs::write(folder.join("config"), kubeconfig.to_string())?;
    let config = Kubeconfig::read(folder.join("config"))?.config()?;
    std::fs::remove_dir_all(folder)?;
    Ok((config, Some(face)))
}
