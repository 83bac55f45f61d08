//! Traces in a folder of the user's.

use std::fmt;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

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

/// Reads every `.jsonl` and `.jsonl.gz` of a folder: the component's name and the lines.
///
/// # Errors
/// The folder or a file cannot be read, or there is no such file.
pub fn read_folder(folder: &Path) -> Result<Vec<(String, String)>, FolderError> {
    let io = |path: &Path| {
        let path = path.to_owned();
        move |error| FolderError::Io(path, error)
    };
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(io(folder))? {
        let path = entry.map_err(io(folder))?.path();
        let Some(file) = path.file_name().and_then(|name| name.to_str()) else { continue };
        let (name, packed) = match (file.strip_suffix(".jsonl.gz"), file.strip_suffix(".jsonl")) {
            (Some(name), _) => (name, true),
            (None, Some(name)) => (name, false),
            (None, None) => continue,
        };
        let bytes = fs::read(&path).map_err(io(&path))?;
        let mut text = String::new();
        let read = if packed {
            MultiGzDecoder::new(bytes.as_slice()).read_to_string(&mut text)
        } else {
            bytes.as_slice().read_to_string(&mut text)
        };
        let _bytes_read = read.map_err(io(&path))?;
        if text.trim().is_empty() {
            return Err(FolderError::NoTraces(path));
        }
        files.push((name.to_owned(), text));
    }
    if files.is_empty() {
        return Err(FolderError::Empty(folder.to_owned()));
    }
    files.sort();
    Ok(files)
}
