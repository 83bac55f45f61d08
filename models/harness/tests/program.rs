//! Programs with and without a bug, as a stranger writes them.

use std::env;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use seatrial::engine::{panic_text, quietly};
use seatrial::linear::{Linearizable, Spec};
use seatrial::program::{Test, run};
use seatrial::seam;

/// Gives a test its bug.
const BUG: &str = "SEATRIAL_TEST_HAS_A_BUG";
const SECOND: Duration = Duration::from_secs(1);

#[seatrial::test]
fn both_increments_count() {
    let seam = seatrial::seam();
    let counter = Arc::new(seam.mutex(0));
    let other = seam.spawn("other", {
        let counter = Arc::clone(&counter);
        move || *counter.lock() += 1
    });
    *counter.lock() += 1;
    other.join();
    assert_eq!(*counter.lock(), 2);
}

#[seatrial::test(engines = "trace, sample", budget = "1000", deadlines = 0, seed = 7)]
fn arguments_are_understood() -> Result<(), String> {
    let seam = seam();
    seam.sleep(SECOND);
    let first = seam.choose(2) == 0;
    seam.sometimes("the first", first);
    seam.sometimes("the second", !first);
    Ok(())
}

#[seatrial::test]
async fn a_task_wakes_another_and_either_may_be_given_up() {
    let seam = seam();
    let times = seam.task("sleeper", {
        let seam = seam.clone();
        async move { seam.cancellable(seam.sleep_async(SECOND)).await }
    });
    seam.sleep_async(2 * SECOND).await;
    let slept = times.join();
    seam.sometimes("it slept", slept.is_some());
    seam.sometimes("it was given up", slept.is_none());
}

#[seatrial::test]
fn a_thread_may_outlive_the_body() {
    let seam = seam();
    seam.spawn("lives on", || {
        let seam = seatrial::seam();
        seam.sleep(SECOND);
        assert!(seatrial::seam().now() >= seam.now());
    });
}

#[seatrial::test]
#[should_panic(expected = "no run reached: the impossible")]
fn a_case_that_no_run_reaches_fails() {
    seam().sometimes("the impossible", false);
}

#[seatrial::test]
#[should_panic(expected = "the test returned an error: \"broken\"")]
fn an_error_fails() -> Result<(), &'static str> {
    Err("broken")
}

/// Returns the text with which a program fails.
fn failure(name: &'static str, body: fn()) -> String {
    failure_on(None, name, body)
}

fn failure_on(engines: Option<&'static str>, name: &'static str, body: fn()) -> String {
    let test = Test {
        name,
        module: module_path!(),
        package: "seatrial",
        engines,
        budget: "smoke",
        deadlines: 1,
        seed: 0,
    };
    let failed = catch_unwind(AssertUnwindSafe(|| quietly(|| run(&test, body))));
    panic_text(&*failed.expect_err("it has a bug"))
}

fn lost_update() {
    let seam = seam();
    let counter = Arc::new(seam.mutex(0));
    let add = {
        let counter = Arc::clone(&counter);
        move || {
            let seen = *counter.lock();
            *counter.lock() = seen + 1;
        }
    };
    let other = seam.spawn("other", add.clone());
    add();
    other.join();
    assert_eq!(*counter.lock(), 2, "an increment is lost");
}

#[test]
fn a_failure_shows_who_did_what_and_how_to_see_it_again() {
    let text = failure("lost_update", lost_update);
    for part in ["an increment is lost", "other", "locks 1", "unlocks 1", "never_panics"] {
        assert!(text.contains(part), "{part} is missing in:\n{text}");
    }
    let replay = "cargo test --package seatrial -- --exact lost_update --nocapture";
    assert!(text.contains("replay: SEATRIAL_REPLAY='seatrial-"), "{text}");
    assert!(text.trim_end().ends_with(replay), "{text}");
}

/// It fails where the test below runs it.
#[seatrial::test(engines = "trace")]
fn has_a_bug() {
    if env::var_os(BUG).is_some() {
        lost_update();
    }
}

#[test]
fn the_line_that_a_failure_prints_replays_it() {
    let run = |witness: Option<&str>| {
        let mut command = Command::new(env::current_exe().expect("this program"));
        command.args(["--exact", "has_a_bug"]).env_remove("SEATRIAL_REPLAY").env(BUG, "1");
        command.envs(witness.map(|witness| ("SEATRIAL_REPLAY", witness)));
        let output = command.output().expect("it starts");
        (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (holds, said) = run(None);
    let quoted = said.split("SEATRIAL_REPLAY='").nth(1).and_then(|it| it.split('\'').next());
    let witness = quoted.unwrap_or_else(|| panic!("no witness in:\n{said}"));
    assert!(!holds, "{said}");
    let (holds, said) = run(Some(witness));
    assert!(!holds && said.contains("an increment is lost"), "{said}");
    assert!(!said.contains("SEATRIAL_REPLAY="), "one execution, and no search:\n{said}");
    let (holds, said) = run(Some(&witness.replace("trace", "other")));
    assert!(!holds && said.contains("SEATRIAL_REPLAY: this witness is damaged"), "{said}");
}

#[test]
fn a_test_is_explored_on_a_page() {
    let mut command = Command::new(env::current_exe().expect("this program"));
    command.args(["--exact", "both_increments_count"]).env_remove("SEATRIAL_REPLAY");
    let mut served = command.env("SEATRIAL_EXPLORE", "1").stdout(Stdio::piped()).spawn().unwrap();
    let said = BufReader::new(served.stdout.take().expect("a pipe"));
    let mut lines = said.lines().map(|line| line.expect("text"));
    let address = lines.find_map(|line| Some(line.split_once("http://")?.1.replace('/', "")));
    let address = address.expect("it says where");
    let ask = |path: &str, token: &str| {
        let mut stream = TcpStream::connect(&address).expect("it listens");
        let head = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nX-Seatrial-Token: {token}");
        write!(stream, "{head}\r\n\r\n").expect("it reads");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("it answers");
        text
    };
    let page = ask("/", "");
    let token = page.split(r#""token":""#).nth(1).and_then(|it| it.split('"').next());
    let run = ask("/run?choices=b", token.expect("the page knows a token"));
    served.kill().expect("it serves until it is ended");
    served.wait().expect("it ends");
    assert!(page.contains("tests/program.rs:"), "where the test is:\n{page}");
    for part in [r#""threads":["main","other"]"#, "locks 1", r#""taken":"b""#, "finished"] {
        assert!(run.contains(part), "{part} is missing in:\n{run}");
    }
}

#[test]
fn a_lost_wake_up_is_a_deadlock() {
    let text = failure("lost_wake_up", || {
        let seam = seam();
        let pair = Arc::new((seam.mutex(false), seam.condvar()));
        let waiter = seam.spawn("waiter", {
            let pair = Arc::clone(&pair);
            move || {
                if !*pair.0.lock() {
                    // It may be set, and the only wake-up gone, before this sleeps.
                    drop(pair.1.wait(pair.0.lock()));
                }
            }
        });
        let mut is_set = pair.0.lock();
        *is_set = true;
        pair.1.notify_one(&is_set);
        drop(is_set);
        waiter.join();
    });
    assert!(text.contains("terminates") && text.contains("waits on 2"), "{text}");
}

#[test]
fn a_wait_that_ends_by_its_time_is_tried_in_the_middle() {
    // The permit that comes just as the wait ends is lost.
    let text = failure("lost_permit", || {
        let seam = seam();
        let pair = Arc::new((seam.mutex(0), seam.condvar()));
        let taker = seam.spawn("taker", {
            let pair = Arc::clone(&pair);
            move || {
                let (mut permits, is_late) = pair.1.wait_for(pair.0.lock(), SECOND);
                if !is_late && *permits > 0 {
                    *permits -= 1;
                    return true;
                }
                is_late && *permits == 0
            }
        });
        let mut permits = pair.0.lock();
        *permits += 1;
        pair.1.notify_one(&permits);
        drop(permits);
        assert!(taker.join(), "a permit was there, and the taker left without it");
    });
    assert!(text.contains("left without it"), "{text}");
}

#[test]
fn shared_numbers_and_read_write_locks_say_what_happens_to_them() {
    let text = failure("numbers", || {
        let seam = seam();
        let (number, lock) = (Arc::new(seam.atomic(0)), Arc::new(seam.rw_lock(0)));
        let other = seam.spawn("other", {
            let (number, lock) = (Arc::clone(&number), Arc::clone(&lock));
            move || {
                *lock.write() = number.load(Ordering::SeqCst);
                number.fetch_add(1, Ordering::SeqCst);
            }
        });
        number.store(5, Ordering::SeqCst);
        let seen = *lock.read();
        other.join();
        assert!(seen == 0 && number.swap(0, Ordering::SeqCst) == 6, "in between");
    });
    for part in ["loads 1: ", "adds 1 to 1: ", "stores in 1: 5", "locks 2 for writing"] {
        assert!(text.contains(part), "{part} is missing in:\n{text}");
    }
}

/// A number that is written and read.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Register(u64);

impl Spec for Register {
    type Call = Option<u64>;
    type Answer = u64;

    fn apply(&mut self, write: &Option<u64>) -> u64 {
        self.0 = write.unwrap_or(self.0);
        self.0
    }
}

/// A write that leaves the last step to another thread: one who reads meanwhile sees the old number.
fn written_and_read(is_shown_late: bool) {
    let seam = seam();
    let (calls, shown) = (Arc::new(Linearizable::new(Register(0))), Arc::new(seam.atomic(0)));
    let reader = seam.spawn("reader", {
        let (calls, shown) = (Arc::clone(&calls), Arc::clone(&shown));
        move || calls.call(None, || shown.load(Ordering::SeqCst))
    });
    let show = move || shown.store(1, Ordering::SeqCst);
    let mut later = None;
    calls.call(Some(1), || {
        match is_shown_late {
            true => later = Some(seam.spawn("shows", show)),
            false => show(),
        }
        1
    });
    reader.join();
    if let Some(later) = later {
        later.join();
    }
    calls.assert();
}

#[seatrial::test]
fn a_register_is_linearizable() {
    written_and_read(false);
}

#[test]
fn a_read_that_is_late_is_not_linearizable() {
    for engine in ["loom", "trace", "sample"] {
        let text = failure_on(Some(engine), "late", || written_and_read(true));
        for part in ["not linearizable", "Some(1) -> 1", "None -> 0, in place of 1"] {
            assert!(text.contains(part), "{engine}: {part} is missing in:\n{text}");
        }
    }
}

#[test]
#[should_panic(expected = "seatrial::seam() needs a #[seatrial::test] around it")]
fn outside_of_a_test_there_is_no_seam() {
    let _none = seam();
}
