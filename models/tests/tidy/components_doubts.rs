//! The checks of files complain about every problem that they are made for.

use std::collections::BTreeSet;

use crate::components::{Wants, manifest, missing_files, orphans, unfuzzed, untested};
use crate::tree::File;

fn files(texts: &[(&str, &str)]) -> Vec<File> {
    let file =
        |(path, text): &(&str, &str)| File { path: (*path).to_owned(), text: (*text).to_owned() };
    texts.iter().map(file).collect()
}

#[test]
fn a_component_without_its_files_is_noticed() {
    let wants =
        Wants { name: "queue".to_owned(), is_tried: true, is_fuzzed: true, has_traces: true };
    let all = [
        "models/requirements/queue.toml",
        "models/src/queue/scenarios/mod.rs",
        "models/src/queue/invariants.rs",
        "models/src/queue/mutants.rs",
        "models/src/queue/op.rs",
        "models/src/queue/conformance.rs",
        "fuzz/fuzz_targets/queue.rs",
    ];
    assert_eq!(missing_files(&wants, &all.into()), [""; 0]);
    for absent in all {
        let paths: BTreeSet<&str> = all.into_iter().filter(|path| *path != absent).collect();
        assert_eq!(missing_files(&wants, &paths).len(), 1, "{absent}");
    }
}

#[test]
fn a_component_without_tests_is_noticed() {
    let wants =
        |is_tried| Wants { name: "heap".to_owned(), is_tried, is_fuzzed: false, has_traces: false };
    let page = |text| files(&[("models/src/heap/mod.rs", text)]);
    assert_eq!(untested(&wants(true), &page("\ncomponent_tests! {\n    Heap;\n}\n")), None);
    assert!(untested(&wants(true), &page("use crate::trial::component_tests;\n")).is_some());
    assert!(untested(&wants(true), &[]).is_some());
    assert_eq!(untested(&wants(false), &page("")), None, "there is nothing to test");
}

#[test]
fn a_property_that_no_fuzzer_feeds_is_noticed() {
    let property = ("models/src/heap/op.rs", "pub fn decode(bytes: &[u8]) -> Vec<Op> {");
    let target = ("fuzz/fuzz_targets/heap.rs", "");
    let past = ("proptest-regressions/heap.txt", "");
    let named = "path = \"fuzz_targets/heap.rs\"";
    let count = |texts: &[(&str, &str)], manifest: &str, seeds: bool| {
        unfuzzed(&files(texts), manifest, &|_| seeds).len()
    };
    assert_eq!(count(&[property, target, past], named, true), 0);
    assert_eq!(count(&[property, past], named, true), 1);
    assert_eq!(count(&[property, target, past], "", true), 1);
    assert_eq!(count(&[property, target, past], named, false), 1);
    assert_eq!(count(&[property, target], named, true), 1);
}

#[test]
fn a_source_that_nothing_declares_is_noticed() {
    let lib = ("core/src/lib.rs", "pub mod queue;\nmod slab {\n}\n");
    let queue = ("core/src/queue/mod.rs", "#[cfg(test)]\nmod tests;\n");
    let test = ("core/src/queue/tests.rs", "");
    assert_eq!(orphans(&files(&[lib, queue, test])), [""; 0]);
    let lost = [("core/src/queue/lost.rs", ""), ("core/src/stray/mod.rs", "")];
    let found = orphans(&files(&[lib, queue, test, lost[0], lost[1]]));
    assert_eq!(found, lost.map(|(path, _)| format!("{path}: nothing declares it")));
}

#[test]
fn cargo_finds_the_roots() {
    let roots = [
        ("models/src/bin/seatrial/main.rs", "mod args;"),
        ("models/src/bin/seatrial/args.rs", ""),
        ("models/tests/cli.rs", ""),
        ("models/tests/tidy/main.rs", "mod size;"),
        ("models/tests/tidy/size.rs", ""),
        ("kube/examples/client.rs", "mod place;"),
        ("kube/examples/place/mod.rs", ""),
        ("models/build.rs", ""),
        ("models/harness/build.rs", ""),
        ("core/benches/table.rs", ""),
        ("core/examples/worker.rs", ""),
        ("fuzz/fuzz_targets/queue.rs", ""),
    ];
    assert_eq!(orphans(&files(&roots)), [""; 0]);
    let lost = ("models/tests/tidy/lost.rs", "");
    let in_source = ("core/src/queue/tests/lost.rs", "");
    assert_eq!(orphans(&files(&[roots[3], lost, in_source])).len(), 2);
}

#[test]
fn a_package_with_lints_of_its_own_is_noticed() {
    let good = "[package]\nname = \"core\"\n[lints]\nworkspace = true\n";
    assert_eq!(manifest("core/Cargo.toml", good), [""; 0]);
    for bad in ["workspace = false", "rust = { }", ""] {
        let text = good.replace("workspace = true", bad);
        assert_eq!(manifest("core/Cargo.toml", &text).len(), 1, "{bad}");
    }
    let hidden = good.replace("name", "autotests = false\nname");
    assert_eq!(manifest("core/Cargo.toml", &hidden).len(), 1);
    assert_eq!(manifest("core/Cargo.toml", "[").len(), 1);
}
