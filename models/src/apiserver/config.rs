//! Files of the command `apiserver`.

use std::hash::{BuildHasher as _, RandomState};
use std::io::ErrorKind;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use seatrial_sim::apiserver::Fault;
use serde_json::{Value, json};

/// The first line of our kubeconfigs.
const MARK: &str = "# Written by `seatrial apiserver`.\n";

/// A kubeconfig for a server: JSON is YAML too.
pub(super) fn kubeconfig(address: &str, authority: Option<&str>, token: Option<&str>) -> String {
    let mut cluster = json!({"server": address});
    if let Some(authority) = authority {
        cluster["certificate-authority-data"] = STANDARD.encode(authority).into();
    }
    let config = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "seatrial", "cluster": cluster}],
        // Without a token kubectl prompts for a user, also where nobody asks for one.
        "users": [{"name": "seatrial", "user": {"token": token.unwrap_or("anybody")}}],
        "contexts": [{"name": "seatrial", "context": {"cluster": "seatrial", "user": "seatrial"}}],
        "current-context": "seatrial",
    });
    format!("{MARK}{config:#}\n")
}

/// A token that nobody can guess: the standard library draws these keys from the system.
pub(super) fn token() -> String {
    let draw = || RandomState::new().hash_one(0_u8);
    format!("{:016x}{:016x}", draw(), draw())
}

/// A kubeconfig that another program wrote is never overwritten.
pub(super) fn check_ours(path: &Path) -> Result<(), String> {
    let name = path.display();
    match std::fs::read(path) {
        Ok(bytes) if !bytes.starts_with(MARK.as_bytes()) && !bytes.is_empty() => Err(format!(
            "{name} is not ours and stays as it is: name another file for --kubeconfig"
        )),
        Err(error) if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::IsADirectory) => {
            Err(format!("{name} may not be ours: {error}; name another file for --kubeconfig"))
        }
        _ => check_folder(path),
    }
}

/// A trace is written once, at the end of a run, so the file must not exist yet.
pub(super) fn check_fresh(path: &Path) -> Result<(), String> {
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => {
            Err(format!("{} is a folder: name a file for --record", path.display()))
        }
        Ok(found) if found.len() > 0 => Err(format!(
            "{} is there and stays as it is: name another file for --record",
            path.display()
        )),
        _ => check_folder(path),
    }
}

fn check_folder(path: &Path) -> Result<(), String> {
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if folder.is_dir() && !path.is_dir() {
        return Ok(());
    }
    Err(format!("{} cannot be written: name a file in a folder that is there", path.display()))
}

/// Reads a list of faults. A word that no fault knows is an error, so that no fault is silently
/// ignored.
pub(super) fn faults(text: &str) -> Result<Vec<Fault>, String> {
    let list: Vec<Value> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let read = |(index, value)| {
        serde_json::from_value(value).map_err(|error| format!("fault {}: {error}", index + 1))
    };
    list.into_iter().enumerate().map(read).collect()
}

pub(crate) mod tests {
    use seatrial::tests;
    use seatrial::tests::Tests;

    use super::*;

    fn a_file_that_somebody_else_wrote_stays_whatever_is_in_it() {
        let folder = std::env::temp_dir().join(format!("seatrial-config-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let file = folder.join("config");
        let mut ours = MARK.as_bytes().to_vec();
        ours.push(0xff);
        let found = [
            None,
            Some(Vec::new()),
            Some(ours),
            Some(b"apiVersion: v1".to_vec()),
            Some(b"\xff\xfea\0p\0i\0".to_vec()),
        ];
        let allowed = found.map(|bytes| {
            if let Some(bytes) = bytes {
                std::fs::write(&file, bytes).expect("the file is written");
            }
            check_ours(&file).is_ok()
        });
        let in_folder = check_ours(&folder).is_ok();
        std::fs::remove_dir_all(&folder).expect("the folder goes");
        assert_eq!(allowed, [true, true, true, false, false]);
        assert!(!in_folder);
    }

    fn the_authority_is_in_base64() {
        let config = kubeconfig("https://127.0.0.1:1", Some("foob"), None);
        assert!(config.contains("\"certificate-authority-data\": \"Zm9vYg==\""), "{config}");
    }

    fn an_unknown_word_in_a_fault_is_named() {
        let what = r#"{"Refuse": {"status": 503, "retry_after": 1}}"#;
        let fault = format!(r#"[{{"at": {{"resource": "pods"}}, "times": 1, "what": {what}}}]"#);
        assert_eq!(faults(&fault).map(|it| it.len()), Ok(1));
        for (from, to, known) in [
            ("resource", "resources", "`method`, `resource`, `name`"),
            ("times", "time", "`at`, `after`, `times`, `what`"),
            ("Refuse", "Refused", "`Refuse`, `Deny`, `Quota`, `ReadOnly`"),
            ("retry_after", "retryAfter", "`status` or `retry_after`"),
        ] {
            let why = faults(&fault.replace(from, to)).expect_err(to);
            let is_named = why.starts_with("fault 1: ") && why.contains(&format!("`{to}`"));
            assert!(is_named && why.contains(known), "{why}");
        }
    }

    pub(crate) const TESTS: Tests = tests![
        a_file_that_somebody_else_wrote_stays_whatever_is_in_it,
        the_authority_is_in_base64,
        an_unknown_word_in_a_fault_is_named
    ];
}
