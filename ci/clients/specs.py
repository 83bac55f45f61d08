"""The reports of specs.sh as a table, and the specs that fail on ours: specs.py REPORTS KNOWN PACKAGE..."""

import json
import pathlib
import sys

folder, known, packages = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]


def specs(which, package):
    """The state of each spec that ran, by its name, and how long all took; nothing if there is no report."""
    path = folder / which / (package.replace("/", "-") + ".json")
    if not path.is_file():
        return {}, 0
    states, seconds = {}, 0
    for suite in json.loads(path.read_text()):
        seconds += suite["RunTime"] / 1e9
        for report in suite["SpecReports"] or []:
            words = [*(report["ContainerHierarchyTexts"] or []), report["LeafNodeText"]]
            if report["LeafNodeType"] != "It":
                # A suite that cannot be set up has no other spec.
                if report["State"] == "passed":
                    continue
                words = [report["LeafNodeType"]]
            name, count = package + ": " + " ".join(words), 1
            while name in states:
                count += 1
                name = f"{package}: {' '.join(words)} ({count})"
            if report["State"] not in ("skipped", "pending"):
                states[name] = report["State"]
    return states, seconds


# A line: the name of a spec that is known to fail on ours, a bar, the reason.
reasons = dict(line.split(" | ", 1) for line in known.read_text().splitlines() if " | " in line)
print("| package | specs | pass | seconds | on the real one | seconds |")
print("|---|--:|--:|--:|--:|--:|")
bad, notes, total = [], [], 0
for package in packages:
    (ours, seconds), (real, longer) = specs("ours", package), specs("real", package)
    passed = [sum(state == "passed" for state in it.values()) for it in (ours, real)]
    beside = f"{passed[1]} | {longer:.0f}" if real else "not run |"
    print(f"| `pkg/{package}` | {len(ours)} | {passed[0]} | {seconds:.0f} | {beside} |")
    total += passed[0]
    if not ours:
        bad.append(f"{package}: there is no report")
    for name, state in ours.items():
        beside = real.get(name, "not run")
        if state == "passed":
            if name in reasons:
                notes.append(f"passes by now, strike it out: {name}")
        elif name in reasons:
            notes.append(f"known ({reasons[name]}), {beside} on the real one: {name}")
        elif beside in ("passed", "not run"):
            bad.append(f"{name}: {state}, on the real one {beside}")
        else:
            notes.append(f"{state} on both: {name}")
    missing = [name for name, state in real.items() if state == "passed" and name not in ours]
    bad += [f"{name}: passed on the real one, did not run" for name in missing]
if not total:
    bad.append("no spec passes at all")
for note in notes:
    print(note)
for complaint in bad:
    print(complaint, file=sys.stderr)
sys.exit(bool(bad))
