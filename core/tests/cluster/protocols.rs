//! The tests of this program once more, against a server that does not speak HTTP/2.

use std::env;
use std::process::Command;

use crate::bed::{Address, HTTP1};

/// Its connections carry many requests at a time, which is what these look at.
const OF_HTTP2: [&str; 2] = ["wire::", "throughput::"];

#[test]
fn everything_goes_over_http1_as_well() {
    if Address::given().is_some() || env::var_os(HTTP1).is_some() {
        return;
    }
    let mut command = Command::new(env::current_exe().expect("this program"));
    command.env(HTTP1, "1").args(["--skip", "protocols::"]);
    let output = command.args(OF_HTTP2.iter().flat_map(|it| ["--skip", it])).output();
    let output = output.expect("it starts");
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{told}");
    let passed = told.rsplit("test result: ok. ").next().and_then(|it| it.split(' ').next());
    let passed: u32 = passed.and_then(|it| it.parse().ok()).expect("a number of tests");
    assert!(passed > 15, "{told}");
}
