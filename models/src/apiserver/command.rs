//! `apiserver`: the server on loopback, for clients in any language.

use std::io::Write as _;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::time::{Duration, SystemTime};

use clap::{ArgMatches, Args, FromArgMatches as _};
use seatrial_sim::apiserver::{Fault, Options, Server, User};
use seatrial_sim::controllers::Controllers;
use seatrial_sim::http::{Face, Listen, Tls};

use super::config;
use crate::cli::{ExtraCommand, Failure, Outcome};
use crate::report::{Colour, write_atomically};

/// The largest size of a recording, in bytes of requests and answers.
const RECORDED: usize = 256 * 1024 * 1024;

#[derive(Debug, Args)]
struct ApiserverArguments {
    /// Where to listen; port 0 is any free one.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// Accepts an address that other machines can reach. Nobody is asked who they are, but for
    /// `--authorization`.
    #[arg(long)]
    beyond_loopback: bool,
    /// Speaks TLS, with a certificate made for this run.
    #[arg(long)]
    tls: bool,
    /// Writes a kubeconfig for this server.
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// Writes a trace of all requests and answers when the server ends, as `conformance` reads it.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Injects the faults of a file: a JSON list.
    #[arg(long, value_name = "FILE")]
    faults: Option<PathBuf>,
    /// Runs the controllers of a cluster as well: garbage collection, namespaces, workloads, and a
    /// node on which pods become ready.
    #[arg(long, conflicts_with = "record")]
    controllers: bool,
    /// Asks who may do what: roles and bindings decide. The user of the kubeconfig may do everything, and
    /// may be anybody (`kubectl --as`).
    #[arg(long, requires = "kubeconfig", conflicts_with = "record")]
    authorization: bool,
    /// How many connections may be open at once; more are answered with 503.
    #[arg(long, value_name = "N", default_value_t = 512)]
    connections: usize,
    /// Decides uids and generated names.
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

/// The command `apiserver`.
pub const COMMAND: ExtraCommand = ExtraCommand { definition, run };

fn definition() -> clap::Command {
    let says = "Runs the simulated API server on loopback until Ctrl-C";
    let after = "It prints its address in one line once it listens. Everything is in memory and \
                 gone when it ends.\n\nA fault is such as {\"at\": {\"method\": \"PUT\", \"resource\": \
                 \"leases\"}, \"after\": 2, \"times\": 1, \"what\": {\"Refuse\": {\"status\": 503}}}: \
                 `what` may also be LoseRequest, LoseAnswer, Repeat, CutWatches, Compact, Restart, \
                 {\"Stale\": 5}, {\"Delay\": {\"secs\": 1, \"nanos\": 0}} or {\"SilenceWatches\": …}.";
    let command = clap::Command::new("apiserver").about(says).after_help(after);
    ApiserverArguments::augment_args(command)
}

fn run(matches: &ArgMatches, _: Colour) -> Outcome {
    let arguments = ApiserverArguments::from_arg_matches(matches)
        .map_err(|error| Failure::usage(error.to_string()))?;
    let listen = listen(&arguments)?;
    let tls = listen.tls.clone();
    let mut server = server(&arguments)?;
    let token = arguments.authorization.then(config::token);
    if let Some(token) = &token {
        server.authorize([(token.clone(), User::admin())]);
    }
    let face = Face::listen(server, &listen)
        .map_err(|error| Failure::usage(format!("cannot listen on {}: {error}", listen.address)))?;
    let scheme = if tls.is_some() { "https" } else { "http" };
    let address = format!("{scheme}://{}", face.address());
    if let Some(path) = &arguments.kubeconfig {
        let authority = tls.as_ref().map(Tls::authority);
        write(path, &config::kubeconfig(&address, authority, token.as_deref()))?;
        #[cfg(unix)]
        own(path)?;
    }
    let (stop, stopped) = channel();
    let handler = move || {
        let _nobody_waits_any_more = stop.send(());
    };
    ctrlc::set_handler(handler)
        .map_err(|error| Failure::usage(format!("cannot listen for Ctrl-C: {error}")))?;
    // The reader of this line may have ended by now, so a failed write is no error.
    drop(writeln!(std::io::stdout(), "{address}").and_then(|()| std::io::stdout().flush()));
    let _asked = stopped.recv();
    if let Some(path) = &arguments.record {
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or("recorded");
        let trace = face.trace(name).unwrap_or_default();
        write(path, &format!("{trace}\n"))?;
        if face.recording_is_full() {
            let most = RECORDED / 1024 / 1024;
            eprintln!("the trace ends early: it would have taken more than {most} MiB");
        }
    }
    Ok(0)
}

/// Everything that can be refused is refused before the server listens.
fn listen(arguments: &ApiserverArguments) -> Result<Listen, Failure> {
    let address = arguments.listen;
    if !address.ip().is_loopback() && !arguments.beyond_loopback {
        return Err(Failure::usage(format!(
            "other machines could reach {address}: listen on 127.0.0.1, or say --beyond-loopback"
        )));
    }
    if arguments.connections == 0 {
        return Err(Failure::usage("with --connections 0 nobody gets in: say 1 or more"));
    }
    if let Some(path) = &arguments.kubeconfig {
        config::check_ours(path).map_err(Failure::usage)?;
    }
    if let Some(path) = &arguments.record {
        config::check_fresh(path).map_err(Failure::usage)?;
    }
    let tls = arguments.tls.then(|| certificate(address.ip())).transpose()?;
    let record = if arguments.record.is_some() { RECORDED } else { 0 };
    let (beyond_loopback, connections) = (arguments.beyond_loopback, arguments.connections);
    let controllers = arguments.controllers.then(Controllers::all);
    let bounds = Listen { beyond_loopback, connections, ..Listen::default() };
    Ok(Listen { address, record, tls, controllers, ..bounds })
}

fn certificate(address: IpAddr) -> Result<Tls, Failure> {
    Tls::generate(address).map_err(|error| Failure::usage(error.to_string()))
}

fn server(arguments: &ApiserverArguments) -> Result<Server, Failure> {
    let faults = arguments.faults.as_deref().map(faults).transpose()?;
    let begins_at = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let begins_at = begins_at.unwrap_or(Duration::ZERO);
    let mut server =
        Server::new(&Options { seed: arguments.seed, begins_at, ..Options::default() });
    for fault in faults.into_iter().flatten() {
        server.inject(fault);
    }
    Ok(server)
}

fn faults(path: &Path) -> Result<Vec<Fault>, Failure> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("cannot read {}: {error}", path.display())))?;
    config::faults(&text).map_err(|why| {
        Failure::usage(format!("{} is no list of faults: {why}; see --help", path.display()))
    })
}

/// Only the user may read it: there may be a token in it.
#[cfg(unix)]
fn own(path: &Path) -> Result<(), Failure> {
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(path, mode)
        .map_err(|error| Failure::usage(format!("cannot protect {}: {error}", path.display())))
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    write_atomically(path, text)
        .map_err(|error| Failure::usage(format!("cannot write {}: {error}", path.display())))
}
