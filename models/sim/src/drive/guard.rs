//! Ends what a campaign has started, if the campaign dies without doing so: it may be killed in a way that no
//! code of its own sees.
//!
//! The guard is a shell that reads from a pipe of which only the campaign has the other end. When that end is
//! closed, whatever was the cause, it looks for processes that bear the mark of the campaign. This needs
//! `/proc`, so elsewhere there is none.

use std::process::{Child, Command, Stdio};

use super::process::MARK;

/// Waits for the end of the pipe; then ends each process with the mark, and the group that it leads. What
/// forks at the same time is found by the next look.
const SCRIPT: &str = r#"
cat >/dev/null
for look in 1 2 3 4 5 6 7 8 9 10; do
  found=$(grep -alz "^$0$1" /proc/[0-9]*/environ 2>/dev/null)
  [ -n "$found" ] || exit 0
  for file in $found; do
    process=${file#/proc/}
    process=${process%/environ}
    kill -9 "-$process" 2>/dev/null
    kill -9 "$process" 2>/dev/null
  done
done
"#;

/// A guard of the lives whose marks begin with a text.
#[derive(Debug)]
pub(super) struct Guard(Option<Child>);

impl Guard {
    /// Begins to wait. Without a shell there is no guard, and the campaign is as good as before.
    pub(super) fn over(marks: &str) -> Self {
        let mut made = Command::new("sh");
        made.args(["-c", SCRIPT, &format!("{MARK}="), marks]);
        made.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // A signal to the group of the campaign is not for it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut made, 0);
        let is_of_use = cfg!(target_os = "linux");
        Self(is_of_use.then(|| made.spawn().ok()).flatten())
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            drop(child.stdin.take());
            drop(child.wait()); // it looks once, and ends
        }
    }
}
