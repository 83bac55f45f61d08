//! The answers to the page: itself, executions, and saved witnesses.

use std::hash::{BuildHasher as _, RandomState};
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use serde::{Deserialize, Serialize};

use super::http::{Answer, Request, Taken, decoded};
use super::subject::Explorable;
use crate::cli::Failure;
use crate::engine::Schedule;
use crate::outcome::Explored;
use crate::report::{counted, write_atomically};
use crate::trial::Witness;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// How many executions run at a time. One that never comes back keeps its place.
const RUNS: usize = 4;

/// Answers the requests of one page.
pub(super) struct Page {
    explored: Explorable,
    folder: PathBuf,
    /// Only the page knows it: other pages of the same browser can neither run nor save anything.
    pub(super) token: String,
    runs: Arc<AtomicUsize>,
}

/// A place in the source.
#[derive(Serialize)]
struct Place {
    text: String,
    link: String,
}

/// What the page knows from the beginning.
#[derive(Serialize)]
struct Begins<'a> {
    subject: String,
    says: &'a str,
    stated: Option<Place>,
    choices: String,
    token: &'a str,
}

/// An execution, for the page.
#[derive(Serialize)]
struct Shows<'a> {
    #[serde(flatten)]
    explored: &'a Explored,
    witness: String,
    /// The promise of each broken invariant, and where it is stated.
    promises: Vec<(&'static str, Option<Place>)>,
}

/// A wish of the page: these choices, under this name.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Save {
    choices: String,
    name: String,
}

/// A refusal: its code, and why.
type Refusal = (u16, String);

impl Page {
    pub(super) fn new(explored: Explorable, folder: &Path) -> Result<Self, Failure> {
        let folder = std::path::absolute(folder)
            .map_err(|error| Failure::usage(format!("the folder of witnesses: {error}")))?;
        let chance = || RandomState::new().hash_one(std::time::SystemTime::now());
        let token = format!("{:016x}{:016x}", chance(), chance());
        Ok(Self { explored, folder, token, runs: Arc::default() })
    }

    pub(super) fn answer(&self, request: &Request) -> Answer {
        let answered = match (request.method.as_str(), request.path.as_str()) {
            ("GET", "/") => Ok(self.page()),
            ("GET", "/run") | ("POST", "/save") if request.token != self.token => {
                Err((403, "only the page may ask for this".to_owned()))
            }
            ("GET", "/run") => self.shown(&request.query),
            ("POST", "/save") => self.save(&request.body),
            (_, "/" | "/run" | "/save") => Err((405, "another method".to_owned())),
            _ => Err((404, "there is nothing here".to_owned())),
        };
        answered.unwrap_or_else(|(code, why)| Answer::refuse(code, &why))
    }

    fn page(&self) -> Answer {
        let Witness { component, scenario, mutant, .. } = &self.explored.begins;
        let mutant = mutant.as_ref().map_or(String::new(), |name| format!("+{name}"));
        let begins = Begins {
            subject: format!("{component}/{scenario}{mutant}"),
            says: self.explored.says,
            stated: self.explored.stated.and_then(place),
            choices: self.explored.beginning().to_string(),
            token: &self.token,
        };
        // No text in it can end the script that it is in.
        let begins = serde_json::to_string(&begins).unwrap_or_default().replace('<', "\\u003c");
        let body = PAGE.replacen("/*style*/", STYLE, 1).replacen("/*script*/", SCRIPT, 1);
        let body = body.replace("NONCE", &self.token).replacen("/*begins*/", &begins, 1);
        let header = format!(
            "Content-Security-Policy: default-src 'none'; img-src data:; connect-src 'self'; base-uri 'none'; \
             form-action 'none'; frame-ancestors 'none'; style-src 'nonce-{0}'; script-src \
             'nonce-{0}'\r\nReferrer-Policy: no-referrer\r\n",
            self.token
        );
        Answer { code: 200, kind: "text/html; charset=utf-8", header, body }
    }

    /// Runs the execution that begins with these choices.
    fn run(&self, choices: &str) -> Result<(Explored, Witness), Refusal> {
        let choices: Schedule = choices.parse().map_err(|error| (400, format!("{error}")))?;
        let place = Taken::of(&self.runs, RUNS);
        let place = place.ok_or((503, "other executions are still running".to_owned()))?;
        let explored = (self.explored.run)(&choices).map_err(|why| (400, why))?;
        drop(place);
        let witness = self.explored.witness(&explored).map_err(|why| (500, why))?;
        Ok((explored, witness))
    }

    fn shown(&self, query: &str) -> Result<Answer, Refusal> {
        let choices = query.split('&').find_map(|one| one.strip_prefix("choices="));
        let choices = choices.and_then(decoded).ok_or((400, "?choices= is missing".to_owned()))?;
        let (explored, witness) = self.run(&choices)?;
        let promise = |name: &str| {
            let known = self.explored.invariants.iter().find(|known| known.name == name);
            known.map_or(("", None), |known| (known.says, known.stated.and_then(place)))
        };
        let promises = explored.broken.iter().map(|broken| promise(&broken.invariant)).collect();
        json(&Shows { explored: &explored, witness: witness.to_string(), promises })
    }

    /// Writes the witness of an execution in the form of all witnesses.
    fn save(&self, body: &[u8]) -> Result<Answer, Refusal> {
        let wish: Save = serde_json::from_slice(body).map_err(|error| (400, error.to_string()))?;
        let in_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if wish.name.is_empty() || wish.name.len() > 64 || !wish.name.chars().all(in_name) {
            return Err((400, "a name has letters, digits, _ and -, at most 64".to_owned()));
        }
        let (explored, witness) = self.run(&wish.choices)?;
        let folder = self.folder.join(&witness.component);
        let path = folder.join(format!("{}.txt", wish.name));
        let text = text(&wish.name, &explored, &witness);
        let there = std::fs::read(&path);
        if there.is_ok_and(|there| there != text.as_bytes()) || path.is_dir() {
            return Err((409, format!("{} is there already: choose another name", path.display())));
        }
        let failed = |error: &dyn std::fmt::Display| (500, format!("{}: {error}", path.display()));
        std::fs::create_dir_all(&folder).map_err(|error| failed(&error))?;
        write_atomically(&path, &text).map_err(|error| failed(error.cause()))?;
        let line = text.lines().count();
        json(&Place { text: path.display().to_string(), link: link(&path, line as u32) })
    }
}

/// The file of a witness.
fn text(name: &str, explored: &Explored, witness: &Witness) -> String {
    let Witness { component, scenario, .. } = witness;
    let breaks: Vec<_> = explored.broken.iter().map(|one| one.invariant.as_str()).collect();
    let breaks = match breaks[..] {
        [] => format!("an execution of {scenario} that breaks nothing"),
        _ => format!("breaks {} in {scenario}", breaks.join(", ")),
    };
    let how = explored.preemptions.map(|count| counted(count.into(), "preemption"));
    let how = how.map_or(String::new(), |how| format!(", {how}"));
    format!("# {component}: {name}\n# {breaks}{how}\n{witness}\n")
}

fn json(value: &impl Serialize) -> Result<Answer, Refusal> {
    let body = serde_json::to_string(value).map_err(|error| (500, error.to_string()))?;
    Ok(Answer { code: 200, kind: "application/json", header: String::new(), body })
}

/// Finds a file of the source from where this process runs: paths are told from the root of a workspace.
fn place(stated: &'static Location<'static>) -> Option<Place> {
    let here = std::env::current_dir().ok()?;
    let path = here.ancestors().map(|folder| folder.join(stated.file())).find(|it| it.is_file())?;
    let text = format!("{}:{}", stated.file(), stated.line());
    Some(Place { text, link: link(&path, stated.line()) })
}

/// An address that opens a file in the editor VS Code.
fn link(path: &Path, line: u32) -> String {
    let path = path.display().to_string().replace('\\', "/");
    let path: String = path
        .bytes()
        .map(|byte| match byte {
            b'/' | b':' | b'.' | b'-' | b'_' => char::from(byte).to_string(),
            _ if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
            _ => format!("%{byte:02X}"),
        })
        .collect();
    let slash = if path.starts_with('/') { "" } else { "/" };
    format!("vscode://file{slash}{path}:{line}")
}
