//! The texts of generated addresses.

/// A path and parameters.
type Parts = (&'static str, &'static [(&'static str, &'static str)]);

/// A URI, and its parts.
#[derive(PartialEq, Eq, Debug)]
pub struct Uri {
    pub(super) text: &'static str,
    /// Its path and its parameters, or the error in it.
    pub(super) means: Result<Parts, &'static str>,
}

/// A time-out, and its text.
#[derive(PartialEq, Eq, Debug)]
pub struct Timeout {
    pub(super) nanos: i64,
    pub(super) text: &'static str,
}

pub(super) const URIS: [Uri; 8] = [
    Uri { text: "/x/y?b=2&a=1", means: Ok(("/x/y", &[("b", "2"), ("a", "1")])) },
    Uri {
        text: "https://elsewhere:1/z?timeout=9s&timeout=8s",
        means: Ok(("/z", &[("timeout", "9s"), ("timeout", "8s")])),
    },
    Uri { text: "q/?", means: Ok(("q/", &[])) },
    Uri { text: "/%7Ename/%C3%BC?k=a+b%26", means: Ok(("/~name/ü", &[("k", "a b&")])) },
    Uri { text: "", means: Ok(("", &[])) },
    Uri { text: "/api/v1/nodes/n", means: Ok(("/api/v1/nodes/n", &[])) },
    Uri { text: "/bad%zz", means: Err("\"/bad%zz\" has an escape that stands for no UTF-8 text") },
    Uri {
        text: "/white space",
        means: Err("\"/white space\" has a control character or a space: escape it"),
    },
];

pub(super) const TIMEOUTS: [Timeout; 6] = [
    Timeout { nanos: 0, text: "" },
    Timeout { nanos: 100_000_000, text: "100ms" },
    Timeout { nanos: 1_500_000_000, text: "1.5s" },
    Timeout { nanos: 60_000_000_000, text: "1m0s" },
    Timeout { nanos: 3_600_000_000_000, text: "1h0m0s" },
    Timeout { nanos: -1_000_000, text: "-1ms" },
];

/// Texts that the builder treats differently.
pub(super) const WORDS: [&str; 19] = [
    "", ".", "..", "a", "Pods", "web-1", "a/b", "/", "a/", "a%b", "ü", "x y", "{n}", "k&=?#+",
    "status", "finalize", "/api/v1", "b:@", "%/",
];

pub(super) const VERBS: [&str; 6] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"];
