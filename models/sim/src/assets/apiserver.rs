//! `kube-apiserver`: the simulated server over TLS, for clients with a certificate.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::json;

use super::flags::Flags;
use super::{Program, Stop};
use crate::apiserver::{Options, Request, Server, User};
use crate::controllers::Controllers;
use crate::http::{Face, Listen, Tls};

/// Says whether the controllers of a cluster run.
const CONTROLLERS: &str = "SEATRIAL_CONTROLLERS";

pub(super) const PROGRAM: Program = Program {
    name: "kube-apiserver",
    about: "seatrial's simulated API server in place of kube-apiserver. Everything is in memory, and gone \
            when it ends. With --authorization-mode=RBAC roles and bindings decide who may \
            do what; else a client with a certificate of the client authority, or with a token of the file, \
            may do everything. SEATRIAL_CONTROLLERS=all runs the controllers of a \
            cluster as well.",
    flags: &[
        (
            "bind-address",
            "where to listen (127.0.0.1); other machines are served only with a client authority",
        ),
        ("secure-port", "the port (6443)"),
        ("cert-dir", "the folder of apiserver.crt and apiserver.key; without them one is made up"),
        ("tls-cert-file", "the certificate, in place of the one in the folder"),
        ("tls-private-key-file", "its key"),
        (
            "client-ca-file",
            "who signs the certificates of clients; without it nobody is asked for one",
        ),
        ("token-auth-file", "tokens that are known as well: lines of token,user,uid,\"groups\""),
        (
            "authorization-mode",
            "with RBAC roles and bindings decide; else who is known may do everything",
        ),
        ("advertise-address", ""),
        ("allow-privileged", ""),
        ("disable-admission-plugins", ""),
        ("etcd-prefix", ""),
        ("etcd-servers", ""),
        ("service-account-issuer", ""),
        ("service-account-key-file", ""),
        ("service-account-signing-key-file", ""),
        ("service-cluster-ip-range", ""),
        ("v", ""),
    ],
    run,
};

fn run(flags: &Flags, stop: Stop) -> io::Result<()> {
    let address = flags.parsed::<IpAddr>("bind-address")?.unwrap_or(Ipv4Addr::LOCALHOST.into());
    let address = SocketAddr::new(address, flags.parsed("secure-port")?.unwrap_or(6443));
    let decides = flags.get("authorization-mode").is_some_and(|it| it.contains("RBAC"));
    let tls = match certificate(flags)? {
        Some((chain, key)) => Tls::with_certificate(&read(&chain)?, &read(&key)?)?,
        None => Tls::generate(address.ip())?,
    };
    let (authority, file) = (flags.get("client-ca-file"), flags.get("token-auth-file"));
    if file.is_some() && authority.is_none() && !decides {
        let why =
            "--token-auth-file needs --client-ca-file: without it nobody is asked who they are";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    let knows_clients = authority.is_some();
    let tokens = file.map(|it| read(Path::new(it))).transpose()?.unwrap_or_default();
    let tokens: Vec<_> = tokens.lines().filter_map(token).collect();
    let authority = authority.map(|it| read(Path::new(it))).transpose()?;
    let tls = match authority {
        Some(authority) if decides => tls.identifying(&authority)?,
        Some(authority) => {
            tls.for_clients(&authority, tokens.iter().map(|(token, _)| token.clone()))?
        }
        None => tls,
    };
    let listen = Listen {
        address,
        beyond_loopback: knows_clients,
        controllers: controllers()?,
        tls: Some(tls),
        ..Listen::default()
    };
    let begins_at = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    // Two servers of one suite do not give the same uids.
    let seed = u64::from(address.port());
    let mut server = Server::new(&Options { seed, begins_at, ..Options::default() });
    advertise(&mut server, begins_at, address, flags.get("service-cluster-ip-range"));
    if decides {
        server.authorize(tokens);
    }
    let _face = Face::listen(server, &listen)
        .map_err(|error| io::Error::new(error.kind(), format!("{address}: {error}")))?;
    stop.wait()
}

/// The token and the user of a line: `token,user,uid,"group,group"`.
fn token(line: &str) -> Option<(String, User)> {
    let mut parts = line.splitn(4, ',').map(|it| it.trim().trim_matches('"'));
    let token = parts.next().filter(|it| !it.is_empty())?;
    let (name, uid) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
    let groups = parts.next().unwrap_or("").split(',').map(str::trim).filter(|it| !it.is_empty());
    let user = User { uid: uid.to_owned(), ..User::new(name, groups.map(str::to_owned)) };
    Some((token.to_owned(), user))
}

/// Makes the service under which a real server names itself, and where it is.
fn advertise(server: &mut Server, now: Duration, address: SocketAddr, range: Option<&str>) {
    let first = range.and_then(|it| it.split('/').next()?.parse::<Ipv4Addr>().ok());
    let first = first.unwrap_or(Ipv4Addr::new(10, 0, 0, 0));
    let own = Ipv4Addr::from(u32::from(first).saturating_add(1)).to_string();
    let metadata = json!({
        "name": "kubernetes", "labels": {"component": "apiserver", "provider": "kubernetes"},
    });
    let port = |number: u16| json!({"name": "https", "port": number, "protocol": "TCP"});
    let mut served = port(443);
    served["targetPort"] = address.port().into();
    let service = json!({"metadata": metadata, "spec": {
        "clusterIP": own, "clusterIPs": [own], "ipFamilies": ["IPv4"], "type": "ClusterIP",
        "internalTrafficPolicy": "Cluster", "ipFamilyPolicy": "SingleStack", "ports": [served],
        "sessionAffinity": "None",
    }});
    let subset = json!({"addresses": [{"ip": address.ip()}], "ports": [port(address.port())]});
    let endpoints = json!({"metadata": {"name": "kubernetes"}, "subsets": [subset]});
    for (plural, body) in [("services", service), ("endpoints", endpoints)] {
        let path = format!("/api/v1/namespaces/default/{plural}");
        server.handle(now, &Request::new("POST", &path).json(&body));
    }
}

/// The files of the certificate and of its key.
fn certificate(flags: &Flags) -> io::Result<Option<(PathBuf, PathBuf)>> {
    if let (Some(chain), Some(key)) =
        (flags.get("tls-cert-file"), flags.get("tls-private-key-file"))
    {
        return Ok(Some((chain.into(), key.into())));
    }
    let Some(folder) = flags.get("cert-dir").map(Path::new) else { return Ok(None) };
    let files = (folder.join("apiserver.crt"), folder.join("apiserver.key"));
    Ok(files.0.try_exists()?.then_some(files))
}

fn read(path: &Path) -> io::Result<String> {
    std::fs::read_to_string(path)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}

fn controllers() -> io::Result<Option<Controllers>> {
    match std::env::var(CONTROLLERS).as_deref() {
        Err(_) | Ok("" | "none") => Ok(None),
        Ok("all") => Ok(Some(Controllers::all())),
        Ok(_) => {
            let why = format!("{CONTROLLERS} may be all or none");
            Err(io::Error::new(io::ErrorKind::InvalidInput, why))
        }
    }
}
