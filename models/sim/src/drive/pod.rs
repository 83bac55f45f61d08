//! What a process of a pod finds: its credentials where those of a pod lie, and the address of the server in
//! its environment.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};

use super::process::folder;
use crate::http::Tls;

/// The process has a file system of its own in the place where clients look; as a user in a namespace it needs
/// no rights for that. It covers the deepest folder that is there. That may be `/run`, so what else lies in it
/// is bound back: all is put together elsewhere, and moved. `-n`: the table of mounts is that of the machine.
const SCRIPT: &str = r#"set -e
place=/var/run/secrets/kubernetes.io/serviceaccount
top=$place
until [ -d "$top/" ]; do top=${top%/*}; done
new=$top
[ "$top" = "$place" ] || new=/tmp
mount -n -t tmpfs -o mode=755 none "$new"
if [ "$new" != "$top" ]; then
  for old in "$top"/* "$top"/.[!.]*; do
    at=$new/${old##*/}
    if [ -L "$old" ]; then cp -P "$old" "$at"
    elif [ -d "$old" ]; then mkdir "$at"; mount -n --rbind "$old" "$at" || rmdir "$at"
    elif [ -e "$old" ]; then : >"$at"; mount -n --bind "$old" "$at" || rm "$at"
    fi
  done
  mount -n --move "$new" "$top"
fi
mkdir -p "$place"
cp "$0"/* "$place"
exec "$@""#;

/// What to do where this is not possible.
const ADVICE: &str = "to be as in a pod, a process needs `unshare` and `mount` (util-linux), and the right to make \
user namespaces. Ubuntu 24.04 grants it by `sysctl kernel.apparmor_restrict_unprivileged_userns=0`, Docker by \
`--security-opt seccomp=unconfined --security-opt apparmor=unconfined`. A process that reads KUBECONFIG needs none of \
this";

/// An error unless processes can be as in a pod on this machine.
pub(super) fn try_out(at: &Path, tls: &Tls) -> io::Result<()> {
    let command = inside(vec!["true".to_owned()], at, (tls, "", ""))?;
    let done = succeeds(&command);
    std::fs::remove_dir_all(at).and(done)
}

fn succeeds(command: &[String]) -> io::Result<()> {
    let mut made = Command::new(&command[0]);
    let why = match made.args(&command[1..]).stdin(Stdio::null()).output() {
        Ok(it) if it.status.success() => return Ok(()),
        Ok(it) => String::from_utf8_lossy(&it.stderr).trim().to_owned(),
        Err(error) => error.to_string(),
    };
    Err(io::Error::other(format!("{} does not work here: {why}; {ADVICE}", command[0])))
}

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

/// The error of the system if there is no such program: `unshare` would start all the same, and end.
pub(super) fn found(program: &str) -> io::Result<()> {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let is_found = match program.contains('/') {
        true => Path::new(program).is_file(),
        false => std::env::split_paths(&paths).any(|it| it.join(program).is_file()),
    };
    if is_found { Ok(()) } else { Err(io::Error::from_raw_os_error(2)) }
}

/// The environment of a process in a pod: it has no kubeconfig, also not that of the user.
pub(super) fn environment(address: SocketAddr, home: &Path) -> [(&'static str, String); 3] {
    let (host, port) = (address.ip().to_string(), address.port().to_string());
    let home = home.to_string_lossy().into_owned();
    [("KUBERNETES_SERVICE_HOST", host), ("KUBERNETES_SERVICE_PORT", port), ("HOME", home)]
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_work_is_told_with_what_to_do() {
        let words = |it: &[&str]| it.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        for (command, why) in [
            (words(&["/no/such/unshare"]), "/no/such/unshare does not work here"),
            (words(&["sh", "-c", "echo not permitted >&2; exit 1"]), "here: not permitted; "),
        ] {
            let told = succeeds(&command).expect_err("it cannot").to_string();
            assert!(told.contains(why) && told.contains("seccomp=unconfined"), "{told}");
        }
        assert!(succeeds(&words(&["true"])).is_ok());
    }

    #[test]
    fn a_program_is_looked_for_as_the_system_does() {
        assert!(found("sh").is_ok() && found("/bin/sh").is_ok());
        for none in ["no-such-program", "/no/such/program", "/", ""] {
            let told = found(none).expect_err(none);
            assert_eq!(told.kind(), io::ErrorKind::NotFound, "{none}");
        }
    }
}
