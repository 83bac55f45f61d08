// One controller for every kube: a Secret and a Pod for each ConfigMap. Included where `kube`, `k8s_openapi`
// and `service` are the ones of a version.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
use kube::api::{Api, PostParams};
use kube::runtime::Controller;
use kube::runtime::controller::Action;
use kube::{Client, Error, ResourceExt as _};
use seatrial_sim::simulation::{Connection, Simulation};

struct Context {
    client: Client,
    /// A Secret that is there means that the Pod is there too, which a crash between them refutes.
    is_wrong: bool,
}

async fn reconcile(map: Arc<ConfigMap>, context: Arc<Context>) -> Result<Action, Error> {
    let (client, name) = (context.client.clone(), map.name_any());
    let secrets: Api<Secret> = Api::default_namespaced(client.clone());
    let pods: Api<Pod> = Api::default_namespaced(client);
    let is_new = secrets.get_opt(&name).await?.is_none();
    if is_new {
        secrets.create(&PostParams::default(), &crate::named(&name, "{}")).await?;
    }
    if (is_new || !context.is_wrong) && pods.get_opt(&name).await?.is_none() {
        let spec = r#"{"containers": [{"name": "main", "image": "example"}]}"#;
        pods.create(&PostParams::default(), &crate::named(&name, spec)).await?;
    }
    Ok(Action::await_change())
}

async fn run(connection: Connection, is_wrong: bool) {
    let client = Client::new(service(connection), "default");
    let maps: Api<ConfigMap> = Api::default_namespaced(client.clone());
    let again =
        |_: Arc<ConfigMap>, _: &Error, _: Arc<Context>| Action::requeue(Duration::from_secs(5));
    let controller = Controller::new(maps, Default::default());
    let context = Arc::new(Context { client, is_wrong });
    controller.run(reconcile, again, context).for_each(|_| async {}).await;
}

pub(crate) fn simulation(is_wrong: bool) -> Simulation {
    let map: ConfigMap = crate::named("orders", "{}");
    Simulation::of(move |connection| run(connection, is_wrong)).create(&map)
}
