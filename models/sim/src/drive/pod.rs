//! What a process of a pod finds: its credentials where those of a pod lie, and the address of the server in
//! its environment.

use std::io;
use std::net::SocketAddr;
use std::path::Path;

use super::process::folder;
use crate::http::Tls;

/// The process has a file system of its own in the place where clients look. As a user in a namespace it needs
/// no rights for that.
const SCRIPT: &str = "place=/var/run/secrets/kubernetes.io/serviceaccount
mount -t tmpfs none /var/run && mkdir -p $place && cp \"$0\"/* $place && exec \"$@\"";

/// The command that runs this one as in a pod of a namespace. Its credentials are written to the folder.
pub(super) fn inside(
    command: Vec<String>,
    at: &Path,
    (tls, token, namespace): (&Tls, &str, &str),
) -> io::Result<Vec<String>> {
    let at = folder(at.to_owned())?;
    std::fs::write(at.join("ca.crt"), tls.authority())?;
    std::fs::write(at.join("token"), token)?;
    std::fs::write(at.join("namespace"), namespace)?;
    let at = at.to_string_lossy().into_owned();
    let words = ["unshare", "--map-root-user", "--mount", "--", "sh", "-c", SCRIPT];
    Ok(words.map(str::to_owned).into_iter().chain([at]).chain(command).collect())
}

/// The environment of a process in a pod.
pub(super) fn environment(address: SocketAddr) -> [(&'static str, String); 2] {
    let (host, port) = (address.ip().to_string(), address.port().to_string());
    [("KUBERNETES_SERVICE_HOST", host), ("KUBERNETES_SERVICE_PORT", port)]
}
