"""Makes random changes of core and asks the harness about each: see unseen.sh.

unseen.py TREE CHANGES COUNT SEED FOLDER: TREE is a checkout that may be changed, CHANGES what
`cargo mutants --list --json` prints there.
"""

import json
import pathlib
import random
import re
import subprocess
import sys

BUILD = "CARGO_INCREMENTAL=1 cargo build --quiet --package seatrial-models --bin seatrial --features loom,shuttle"
# Which pages look at a folder of core; a folder that is not here is looked at by all of them.
PAGES = {
    "queue": "queue/ pool/",
    "delaying_queue": "delaying_queue/ limited_queue/",
    "limited_queue": "limited_queue/ pool/",
    "priority_queue": "priority_queue/",
    "delta_fifo": "delta_fifo/",
    "fifo": "fifo/",
    "ordered_fifo": "ordered_fifo/",
    "events": "fifo/ delta_fifo/ ordered_fifo/",
    "store": "_store/ heap/ mutation_cache/ cancel/ delta_fifo/",
    "limiter": "limiter/ token_bucket/ backoff/ limited_queue/ cancel/ client/",
    "elector": "elector/ candidate/ leases/",
    "informer": "informer/ reflector/ registry/ feed/ own_writes/ delivery/ replica_set/",
    "request": "request/ leases/ client/ address/ watch/",
    "channel": "channel/",
    "cancel": "cancel/",
    "pool": "pool/ priority_queue/ delivery/",
}
# What is printed, what the harness never calls, what checks itself, and what does not compile.
SKIPPED = re.compile(r"Debug|Display|fmt::|/prometheus|/facade|request/http|::check\b|assert_|Default|Error for|with (Step|Work|Finished)::")


def folder_of(change):
    return change["file"].split("/")[2]


def chosen(changes, count, seed, folder):
    """At most one change of a function, in random order."""
    random.Random(seed).shuffle(changes)
    functions = {}
    for change in changes:
        if not SKIPPED.search(change["name"]) and folder in ("", folder_of(change)):
            name = (change["function"] or {}).get("function_name", change["name"])
            functions.setdefault((change["file"], name), change)
    return list(functions.values())[:count]


def changed(text, change):
    """The text with its span replaced."""
    lines = text.splitlines(keepends=True)

    def at(place):
        return sum(map(len, lines[: place["line"] - 1])) + place["column"] - 1

    span = change["span"]
    return text[: at(span["start"])] + change["replacement"] + text[at(span["end"]) :]


def asked(tree, command):
    """Whether a command succeeds within ten minutes."""
    try:
        return subprocess.run(command, cwd=tree, shell=True, capture_output=True, timeout=600).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def run_of(folder):
    return f"run {PAGES.get(folder, '')} --fail-fast --as-found"


def verdict(tree, program, change):
    if not asked(tree, BUILD):
        return "does not compile"
    if not asked(tree, f"{program} {run_of(folder_of(change))}"):
        return "seen by run"
    if not asked(tree, f"{program} conformance"):
        return "seen by conformance"
    return "UNSEEN"


def main():
    tree, changes, count, seed, folder = sys.argv[1:]
    tree = pathlib.Path(tree)
    program = tree.parent / "target/debug/seatrial"
    selected = chosen(json.loads(pathlib.Path(changes).read_text()), int(count), int(seed), folder)
    if not selected:
        sys.exit(f"no change is in core/src/{folder}: name a folder of core/src, e.g. store")
    print("building it unchanged, which takes minutes the first time", flush=True)
    if subprocess.run(BUILD, cwd=tree, shell=True).returncode != 0:
        sys.exit("it does not build without a change")
    # Else every change would pass for seen.
    for command in {run_of(folder_of(change)) for change in selected} | {"conformance"}:
        if not asked(tree, f"{program} {command}"):
            sys.exit(f"it fails without a change: {program} {command}")
    counts = {}
    for change in selected:
        path = tree / change["file"]
        text = path.read_text()
        path.write_text(changed(text, change))
        says = verdict(tree, program, change)
        path.write_text(text)
        counts[says] = counts.get(says, 0) + 1
        print(f"{says:20} {change['name']}", flush=True)
    print(", ".join(f"{number} {says}" for says, number in sorted(counts.items())))


main()
