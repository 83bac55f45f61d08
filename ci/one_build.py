"""Compares what Cargo builds for two commands: says which crates both need and would compile twice.

Called by one-build.sh with two unit graphs, as `cargo --unit-graph` prints them: of the program, and of the
tests. A crate is compiled again if its features or its profile differ, or if one of its dependencies is
compiled again. Only the first cause is worth reading, so that is what is printed.
"""

import json
import sys


def own(unit):
    """What tells two builds of one crate apart, but for its dependencies."""
    profile = {key: value for key, value in unit["profile"].items() if key != "name"}
    return json.dumps([unit["pkg_id"], unit["target"]["name"], unit["target"]["kind"], unit["mode"],
                       unit.get("platform"), sorted(unit["features"]), profile], sort_keys=True)


def builds(graph):
    """Every unit by everything that decides whether it is compiled anew: a text, and its index."""
    units, known = graph["units"], {}

    def key(index):
        if index not in known:
            below = sorted(key(it["index"]) for it in units[index]["dependencies"])
            known[index] = hash((own(units[index]), tuple(below)))
        return known[index]

    return {key(index): index for index in range(len(units))}, known


def name(unit):
    return f'{unit["target"]["name"]} ({", ".join(sorted(unit["features"]))})'


def place(unit):
    return unit["pkg_id"], unit["target"]["name"], unit["mode"], unit.get("platform")


def main():
    program, tests = (json.load(open(path)) for path in sys.argv[1:3])
    of_tests, _ = builds(tests)
    _, keys = builds(program)
    twice, causes = 0, []
    for index, unit in enumerate(program["units"]):
        if keys[index] in of_tests or "bin" in unit["target"]["kind"]:
            continue
        twice += 1
        if all(keys[it["index"]] in of_tests for it in unit["dependencies"]):
            others = [it for it in tests["units"] if place(it) == place(unit)]
            causes.append((name(unit), [name(it) for it in others]))
    for mine, others in causes:
        print(f"{mine}\n    in the tests: {'; '.join(others) or 'not at all'}")
    print(f"{len(program['units'])} units of the program, {twice} of them compiled again for the tests")
    return 1 if twice else 0


sys.exit(main())
