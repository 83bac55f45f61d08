"""Compares the lines that nothing reached with those that have a reason.

coverage.py LCOV ROOT UNCOVERED: UNCOVERED has lines `path | text of the source line | reason`, so that
they survive when code moves within its file.
"""

import re
import sys

# Where the rules are: states, operations, and what every call goes through.
RULES = re.compile(
    r"core/src/(.*/)?(state|operations|machine|position|stream|list|initial|execution|later|"
    r"sleepers|step|line|call|monitor/awaited|around|then|slots|bucket|failures|per_item|combine|delta|"
    r"pending|items|latch|turn|attempt|release|run|sighting|fence|steps|host_backoff)\.rs$"
)
# What is printed, and what exists because Rust asks for it, is no rule.
NO_RULE = re.compile(r" *(pub )?fn (fmt|default)\(|.*\bunreachable!\(")


def shipped(lines):
    """The numbers of the lines in front of a file's own tests."""
    for number, line in enumerate(lines):
        if line.startswith("#[cfg(test)]") and lines[number + 1 : number + 2][0].startswith("mod tests"):
            return number
    return len(lines)


def of_no_rule(lines):
    """The numbers of the lines that print, or that exist because Rust asks for them."""
    numbers, end = set(), None
    for number, line in enumerate(lines, 1):
        if end is None and NO_RULE.match(line):
            is_one_line = not re.match(r".*\{\s*$", line) and "fn " not in line
            end = None if is_one_line else line[: len(line) - len(line.lstrip())] + "}"
            numbers.add(number)
        elif end is not None:
            numbers.add(number)
            end = None if line == end else end
    return numbers


def uncovered(lcov, root):
    """Yields path, text and whether it was reached, of every line that is counted."""
    counts, path = {}, None
    for line in open(lcov, encoding="utf-8"):
        if line.startswith("SF:"):
            path = line[3:].strip().removeprefix(root + "/")
        elif line.startswith("DA:") and RULES.match(path) and "/tests" not in path:
            number, count = line[3:].split(",")[:2]
            key = (path, int(number))
            counts[key] = max(counts.get(key, 0), int(count))
    texts = {}
    for path, number in sorted(counts):
        if path not in texts:
            lines = open(f"{root}/{path}", encoding="utf-8").read().split("\n")
            texts[path] = lines, shipped(lines), of_no_rule(lines)
        lines, end, no_rule = texts[path]
        if number <= end and number not in no_rule:
            yield path, lines[number - 1].strip(), counts[path, number] > 0


def main(lcov, root, reasons):
    known = set()
    for line in open(reasons, encoding="utf-8"):
        if line.strip() and not line.startswith("#"):
            # The line itself may have bars.
            path, _, rest = line.partition(" | ")
            text, _, reason = rest.rpartition(" | ")
            if not text or not reason.strip():
                sys.exit(f"{reasons}: not `path | line | reason`: {line.strip()}")
            known.add((path.strip(), text.strip()))
    lines = list(uncovered(lcov, root))
    if len(lines) < 2000:
        sys.exit(f"only {len(lines)} lines were counted: the program was not built to count")
    missed = {(path, text) for path, text, reached in lines if not reached}
    # Braces alone end what is above them.
    missed = {(path, text) for path, text in missed if re.search(r"\w", text)}
    reached = sum(1 for line in lines if line[2])
    print(f"{reached} of {len(lines)} lines of the rules are reached ({100 * reached / len(lines):.1f} %)")
    for path, text in sorted(known - missed):
        print(f"reached by now, or gone: strike it out: {path} | {text}")
    new = sorted(missed - known)
    for path, text in new:
        print(f"nothing reaches: {path} | {text}")
    if new or known - missed:
        sys.exit(1)


main(*sys.argv[1:])
