//! The same controller on each generation of kube: the correct one holds under the default plan, the one with
//! a bug is convicted by a crash after its first write.

use std::process::ExitCode;
use std::time::Instant;

use seatrial_sim::simulation::Simulation;

/// An object with a name and a specification, of any version of its type.
fn named<K: serde::de::DeserializeOwned>(name: &str, spec: &str) -> K {
    let text = format!(r#"{{"metadata": {{"name": "{name}"}}, "spec": {spec}}}"#);
    serde_json::from_str(&text).expect("an object")
}

/// The controller on one version; `$service` makes of a connection what its client takes.
macro_rules! version {
    ($name:ident, $kube:ident, $k8s:ident, $service:path) => {
        mod $name {
            use $k8s as k8s_openapi;
            use $kube as kube;
            use $service as service;
            include!("controller.rs");
        }
    };
}
#[cfg(feature = "v0_78")]
version!(v0_78, kube_0_78, k8s_0_17, seatrial_sim::tower::Http02);
#[cfg(feature = "v0_87")]
version!(v0_87, kube_0_87, k8s_0_20, seatrial_sim::tower::Http02);
#[cfg(feature = "v1")]
version!(v1, kube_1, k8s_0_25, std::convert::identity);
#[cfg(feature = "v2")]
version!(v2, kube_2, k8s_0_26, std::convert::identity);
#[cfg(feature = "v3")]
version!(v3, kube_3, k8s_0_27, std::convert::identity);
#[cfg(feature = "v4")]
version!(v4, kube_4, k8s_0_28, std::convert::identity);
#[cfg(feature = "v5")]
version!(v5, kube_5, k8s_0_29, std::convert::identity);

type Version = (&'static str, fn(bool) -> Simulation);

const VERSIONS: &[Version] = &[
    #[cfg(feature = "v0_78")]
    ("0.78", v0_78::simulation),
    #[cfg(feature = "v0_87")]
    ("0.87", v0_87::simulation),
    #[cfg(feature = "v1")]
    ("1", v1::simulation),
    #[cfg(feature = "v2")]
    ("2", v2::simulation),
    #[cfg(feature = "v3")]
    ("3", v3::simulation),
    #[cfg(feature = "v4")]
    ("4", v4::simulation),
    #[cfg(feature = "v5")]
    ("5", v5::simulation),
];

fn main() -> ExitCode {
    let mut is_fine = !VERSIONS.is_empty();
    println!("| kube | the correct controller | the bug | seconds |\n|---|---|---|---|");
    for (name, simulation) in VERSIONS {
        let began = Instant::now();
        let holds = match simulation(false).try_check() {
            Ok(report) => format!("{} plans hold", report.plans),
            Err(failure) => {
                is_fine = false;
                eprintln!("kube {name}: {failure}");
                format!("fails under {}", failure.plan)
            }
        };
        let bug = match simulation(true).try_check() {
            Ok(_) => "not found".to_owned(),
            Err(failure) if failure.inadmissible.is_some() => "inadmissible".to_owned(),
            Err(failure) => failure.plan.to_string(),
        };
        is_fine &= bug == "crash(1)";
        println!("| {name} | {holds} | {bug} | {:.1} |", began.elapsed().as_secs_f64());
    }
    if is_fine { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
