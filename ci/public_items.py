"""Lists the public items of a crate from its documentation: types, functions, and what belongs to them.

public_items.py FOLDER: one line for each, sorted. What a type has only because of a trait is the trait's.
"""

import html
import pathlib
import re
import sys

KINDS = "struct|enum|trait|fn|type|constant|static|macro|union"
MEMBER = re.compile(r'id="(method|tymethod|variant|structfield|associatedconstant|associatedtype)\.(\w+)"')


def items(folder):
    all_items = (folder / "all.html").read_text(encoding="utf-8")
    for href, name in re.findall(r'<a href="([^"]+)">([^<]+)</a>', all_items):
        kind = re.match(rf"(?:.*/)?({KINDS})\.", href)
        if not kind:
            continue
        name = html.unescape(name)
        yield f"{kind.group(1)} {name}"
        page = (folder / href).read_text(encoding="utf-8")
        own = re.split(r'id="(?:trait-implementations|synthetic-implementations|implementors)"', page)[0]
        own = re.split(r'id="deref-methods-', own)[0]
        for what, member in MEMBER.findall(own):
            yield f"{what.removeprefix('ty')} {name}::{member}"


found = sorted(set(items(pathlib.Path(sys.argv[1]))))
if not found:
    sys.exit("no documentation was found")
print("\n".join(found))
