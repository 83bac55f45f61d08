//! A folder with `etcd` and `kube-apiserver`, for test libraries that start these: envtest and others.
//!
//! Both are this program under another name. They are hard links, so they still work when the program is
//! moved, deleted or built again; a link by name would not. Where there can be no hard link, as on
//! another file system, they are copies.

mod apiserver;
mod etcd;
mod flags;
mod stop;

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use flags::{Asked, Flag};
use stop::Stop;

/// The file that tells our folders from others.
const MARK: &str = ".seatrial-assets";

/// A program of the folder.
struct Program {
    name: &'static str,
    about: &'static str,
    flags: &'static [Flag],
    run: fn(&flags::Flags, Stop) -> io::Result<()>,
}

const PROGRAMS: [Program; 2] = [etcd::PROGRAM, apiserver::PROGRAM];

/// Makes the folder, or makes it anew, and tells its absolute path. Without a name it lies in the user's
/// cache. `kubectl` is linked into it if there is one in `PATH`.
///
/// # Errors
///
/// The folder holds what somebody else put there, or it cannot be written.
pub fn make(folder: Option<&Path>) -> io::Result<PathBuf> {
    let folder = folder.map_or_else(in_cache, |it| Ok(it.to_owned()))?;
    fs::create_dir_all(&folder)?;
    // The mark is always there first, so a folder that is just being made is known.
    let names = fs::read_dir(&folder)?.map(|it| Ok(it?.file_name()));
    let names = names.collect::<io::Result<Vec<_>>>()?;
    if !names.is_empty() && !names.iter().any(|name| name == MARK) {
        let why = format!("{} holds other files: name a new folder", folder.display());
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, why));
    }
    fs::write(folder.join(MARK), "")?;
    let folder = folder.canonicalize()?;
    let own = env::current_exe()?.canonicalize()?;
    for program in PROGRAMS {
        put(&folder, program.name, |to| {
            fs::hard_link(&own, to).or_else(|_| fs::copy(&own, to).map(drop))
        })?;
    }
    if let Some(kubectl) = find(&format!("kubectl{}", env::consts::EXE_SUFFIX), &folder) {
        #[cfg(unix)]
        put(&folder, "kubectl", |to| std::os::unix::fs::symlink(&kubectl, to))?;
        #[cfg(not(unix))]
        put(&folder, "kubectl", |to| fs::copy(&kubectl, to).map(drop))?;
    }
    Ok(folder)
}

fn in_cache() -> io::Result<PathBuf> {
    let set = |name| env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
    let cache = set("XDG_CACHE_HOME").or_else(|| set("LOCALAPPDATA"));
    let cache = cache.or_else(|| Some(set("HOME")?.join(".cache")));
    let why = || io::Error::new(io::ErrorKind::NotFound, "there is no cache folder: name a folder");
    Ok(cache.ok_or_else(why)?.join(concat!("seatrial/assets-", env!("CARGO_PKG_VERSION"))))
}

/// Makes a file under another name first: one that runs is never written, and none is ever half there.
fn put(folder: &Path, name: &str, make: impl Fn(&Path) -> io::Result<()>) -> io::Result<()> {
    let name = format!("{name}{}", env::consts::EXE_SUFFIX);
    let fresh = folder.join(format!(".{name}.{}", std::process::id()));
    let remove = || match fs::remove_file(&fresh) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    };
    remove()?; // of a process with that number that was killed: it may be another name of a program
    let made = make(&fresh).and_then(|()| fs::rename(&fresh, folder.join(name)));
    // A file that already had the other name as well keeps both.
    made.and(remove())
}

/// A program of `PATH`, but for the one in our own folder.
fn find(name: &str, but: &Path) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let folders = env::split_paths(&path).filter_map(|it| it.canonicalize().ok());
    folders.filter(|it| it != but).map(|it| it.join(name)).find(|it| it.is_file())
}

/// Runs as the program under whose name this one was started, to its end. None: it has its own name.
pub fn run_as() -> Option<ExitCode> {
    let mut words = env::args_os();
    let name = PathBuf::from(words.next()?);
    let program = PROGRAMS.into_iter().find(|it| name.file_stem() == Some(OsStr::new(it.name)))?;
    let words = words.map(|it| it.to_string_lossy().into_owned());
    let ended = match flags::read(program.flags, words) {
        Asked::Help => tell(&flags::help(program.name, program.about, program.flags)),
        Asked::Version => tell("Kubernetes v1.36.2 (simulated by seatrial)\n"),
        Asked::Run(flags) => {
            for unknown in &flags.unknown {
                warn(program.name, &format!("--{unknown} is not known here and changes nothing"));
            }
            // From here on signals are waited for, also by a program that is not yet ready.
            Stop::new().and_then(|stop| (program.run)(&flags, stop))
        }
    };
    Some(match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            warn(program.name, &error.to_string());
            ExitCode::FAILURE
        }
    })
}

fn tell(text: &str) -> io::Result<()> {
    io::stdout().write_all(text.as_bytes())
}

/// One line for people. That nobody reads it is no error.
fn warn(name: &str, text: &str) {
    drop(writeln!(io::stderr(), "{name}: {text}"));
}
