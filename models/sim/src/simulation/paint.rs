//! A failure for the eye: in colours on a terminal, and as a page.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use super::check::Failure;
use super::picture::{Column, Event};

/// The variable that asks for a page: 1, or the folder of the pages.
const HTML: &str = "SEATRIAL_HTML";
/// The variable that forbids colours, if it is not empty (no-color.org).
const NO_COLOR: &str = "NO_COLOR";

/// The message of a failure.
pub(crate) fn message(failure: &Failure) -> String {
    let mut text = failure.to_string();
    if let Some(wish) = std::env::var_os(HTML).filter(|it| !it.is_empty() && it != "0") {
        let folder = match wish == "1" {
            true => std::env::current_exe().ok().and_then(|it| Some(it.parent()?.join("pages"))),
            false => Some(PathBuf::from(wish)),
        };
        text += &match folder.map(|it| write(failure, it)) {
            Some(Ok(path)) => format!("\nas a page: {}", path.display()),
            Some(Err(error)) => format!("\nno page: {error}"),
            None => "\nno page: the folder of this program is not known".to_owned(),
        };
    }
    let is_plain = std::env::var_os(NO_COLOR).is_some_and(|it| !it.is_empty());
    let is_seen = std::io::stdout().is_terminal() && std::io::stderr().is_terminal();
    if is_seen && !is_plain { coloured(&text) } else { text }
}

fn write(failure: &Failure, folder: PathBuf) -> std::io::Result<PathBuf> {
    std::fs::create_dir_all(&folder)?;
    let thread = std::thread::current();
    let name = thread.name().unwrap_or("failure").replace("::", ".");
    let program = std::env::args().next().unwrap_or_default();
    let program = Path::new(&program).file_stem().unwrap_or_default().to_string_lossy();
    let path = folder.join(format!("{program}.{name}.html"));
    std::fs::write(&path, page(failure))?;
    Ok(path)
}

/// What a line of a message is about: the class of a page, and the colour of a terminal.
fn class(line: &str) -> Option<(&'static str, u8)> {
    let is_life = |it: &str| it.starts_with("-- ") && it.ends_with(" --");
    let cell = line.rsplit("  ").next().unwrap_or_default();
    if line.contains(">>>>>>>>>> FAULT ") {
        Some(("fault", 31))
    } else if line.starts_with("broken: ") || line.starts_with("  broken: ") {
        Some(("broken", 31))
    } else if is_life(cell) {
        Some(("life", 35))
    } else if line.contains("  the user's step: ") || line.contains(": user: ") {
        Some(("user", 36))
    } else if line.contains(": garbage: ") {
        Some(("garbage", 33))
    } else {
        None
    }
}

/// The same text in colours.
fn coloured(text: &str) -> String {
    let line = |line: &str| match class(line) {
        Some((_, colour)) => format!("\x1b[{colour}m{line}\x1b[0m"),
        None => line.to_owned(),
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// A page of it: the message with its picture, and the whole run, folded.
fn page(failure: &Failure) -> String {
    let line = |line: &str| match class(line) {
        Some((class, _)) => format!("<span class={class}>{}</span>", escaped(line)),
        None => escaped(line),
    };
    let text = failure.to_string().split('\n').map(line).collect::<Vec<_>>().join("\n");
    let rows: String = failure.events.iter().map(row).collect();
    format!(
        "<!doctype html><meta charset=utf-8><title>{plan}</title><style>{STYLE}</style>\n\
         <pre>{text}</pre>\n<details><summary>the whole run: {number} events</summary><table>\n\
         <tr><th>seconds<th>server<th>watch<th>controller\n{rows}</table></details>\n\
         <script>{SCRIPT}</script>\n",
        plan = escaped(&failure.plan.to_string()),
        number = failure.events.len(),
    )
}

/// The arrow keys step through the run.
const SCRIPT: &str = "\
let rows = [...document.querySelectorAll('tr')], at = 0;\n\
addEventListener('keydown', (event) => {\n\
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];\n\
  if (!by) return;\n\
  document.querySelector('details').open = true;\n\
  rows[at].className = '';\n\
  at = Math.max(1, Math.min(at + by, rows.length - 1));\n\
  rows[at].className = 'at';\n\
  rows[at].scrollIntoView({ block: 'center' });\n\
});";

const STYLE: &str = ":root{color-scheme:light dark}body{font:14px monospace}.at{outline:2px solid #d9a400}\
td{padding:0 1em;white-space:nowrap}.fault,.broken{color:#c00}\
.fault{font-weight:bold}.life{color:#939}.user{color:#077}.garbage{color:#860}";

fn row(event: &Event) -> String {
    let is_named = event.column != Column::Server && !event.process.is_empty();
    let name = if is_named { format!("{}: ", event.process) } else { String::new() };
    let (at, text) = (event.at.as_secs_f64(), escaped(&format!("{name}{}", event.text)));
    let cells = match event.column {
        Column::Server => format!("<td>{text}"),
        Column::Watch => format!("<td><td>{text}"),
        Column::Controller => format!("<td><td><td>{text}"),
        Column::Fault => format!("<td class=fault colspan=3>{text}"),
    };
    format!("<tr><td>{at:.3}{cells}\n")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "0 plans hold, and this one fails: crash(1)\nbroken: a promise\n\n   seconds  server\n    30.000  the user's step: create\n    30.002  >>>>>>>>>> FAULT crash(1)\n    30.002                 -- dies --\n     1.000  2: garbage: delete <b>\n     1.000  get pods default/a\n";

    #[test]
    fn colours_are_all_that_is_added_to_the_text() {
        let text = coloured(TEXT);
        assert!(text.contains("\x1b[31m    30.002  >>>>>>>>>> FAULT crash(1)\x1b[0m\n"), "{text}");
        assert_eq!(text.matches("\x1b[0m").count(), 5);
        let mut plain = text.replace("\x1b[0m", "");
        for colour in [31, 33, 35, 36] {
            plain = plain.replace(&format!("\x1b[{colour}m"), "");
        }
        assert_eq!(plain, TEXT);
    }

    #[test]
    fn nothing_of_a_cluster_is_markup_on_a_page() {
        let at = std::time::Duration::from_secs(1);
        let event =
            |column| row(&Event { at, column, process: String::new(), text: "<b>&".to_owned() });
        assert_eq!(event(Column::Watch), "<tr><td>1.000<td><td>&lt;b&gt;&amp;\n");
        assert_eq!(event(Column::Fault), "<tr><td>1.000<td class=fault colspan=3>&lt;b&gt;&amp;\n");
    }
}
