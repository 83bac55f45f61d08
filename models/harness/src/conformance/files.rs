//! Traces in a folder of the user's.

use std::fmt;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use serde::Deserialize;

/// Why a folder of traces cannot be read.
#[derive(Debug)]
pub enum FolderError {
    /// A file or the folder itself cannot be read.
    Io(PathBuf, std::io::Error),
    /// No file in it has the name of a trace file.
    Empty(PathBuf),
    /// A file of traces holds none.
    NoTraces(PathBuf),
}

impl fmt::Display for FolderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(path, error) => write!(f, "cannot read {}: {error}", path.display()),
            Self::Empty(path) => write!(
                f,
                "{} holds no traces: expected files such as workqueue.jsonl or workqueue.jsonl.gz",
                path.display()
            ),
            Self::NoTraces(path) => {
                write!(f, "{} holds no traces: one is expected in every line", path.display())
            }
        }
    }
}

impl std::error::Error for FolderError {}

/// Reads files of traces, and every `.jsonl` and `.jsonl.gz` of folders: the component's name and
/// the lines. A trace that names another file in its `file` belongs there.
///
/// # Errors
/// A folder or a file cannot be read, or a folder has no such file.
pub fn read_traces(paths: &[PathBuf]) -> Result<Vec<(String, String)>, FolderError> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            files.append(&mut read_folder(path)?);
        } else {
            files.push(read_file(path)?);
        }
    }
    files.sort();
    Ok(files)
}

fn read_folder(folder: &Path) -> Result<Vec<(String, String)>, FolderError> {
    let io = |error| FolderError::Io(folder.to_owned(), error);
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(io)? {
        let path = entry.map_err(io)?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
        if name.ends_with(".jsonl") || name.ends_with(".jsonl.gz") {
            files.push(read_file(&path)?);
        }
    }
    if files.is_empty() {
        return Err(FolderError::Empty(folder.to_owned()));
    }
    Ok(files)
}

fn read_file(path: &Path) -> Result<(String, String), FolderError> {
    let io = |error| FolderError::Io(path.to_owned(), error);
    let bytes = fs::read(path).map_err(io)?;
    let mut text = String::new();
    let read = if bytes.starts_with(GZIP) {
        MultiGzDecoder::new(bytes.as_slice()).read_to_string(&mut text)
    } else {
        bytes.as_slice().read_to_string(&mut text)
    };
    let _bytes_read = read.map_err(io)?;
    let first = text.trim_start().lines().next().unwrap_or("");
    if first.is_empty() {
        return Err(FolderError::NoTraces(path.to_owned()));
    }
    let said: Option<Named> = serde_json::from_str(first).ok();
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
    let name = name.strip_suffix(".gz").unwrap_or(name);
    let name = name.strip_suffix(".jsonl").unwrap_or(name);
    Ok((said.map_or_else(|| name.to_owned(), |said| said.file), text))
}

/// How a packed file begins.
const GZIP: &[u8] = &[0x1f, 0x8b];

/// A trace that says which file it belongs to.
#[derive(Deserialize)]
struct Named {
    file: String,
}
