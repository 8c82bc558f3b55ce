"""Packages of Debian that the laboratory needs: ``python3 packages.py GROUP`` prints a line for each, PACKAGE TEST.

TEST is a command, or a path (a pattern of the shell) that the package installs.  `lib/system.sh` runs this script
before there is a Python environment, so it imports only the standard library and reads the registrations from the
source: module-level constants ``Tool(…)`` and ``PackageFile(…)`` with literal arguments.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

LABORATORY = Path(__file__).parent / "loadcurve" / "lab"
# Positional arguments, as `loadcurve.lab.hosts.tools` declares them, and their defaults.
PARAMETERS = {
    "Tool": {"name": "", "use": "", "version_option": "", "package": "", "source": "", "group": "lab-test"},
    "PackageFile": {"package": "", "path": "", "use": "", "group": "lab-test"},
}


def needs(group: str, folder: Path = LABORATORY) -> list[tuple[str, str]]:
    """Package and test of everything that the modules of a folder register for a group, in alphabetical order."""
    found = {
        (one["package"], one.get("path") or one["name"])
        for path in folder.rglob("*.py")
        for one in _registered(path)
        if one["package"] and one["group"] == group
    }
    return sorted(found)


def _registered(path: Path) -> Iterator[dict[str, str]]:
    text = path.read_text("utf-8")
    if not any(f"{kind}(" in text for kind in PARAMETERS):
        return
    for node in ast.parse(text).body:
        call = node.value if isinstance(node, ast.Assign) else None
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in PARAMETERS:
            defaults = PARAMETERS[call.func.id]
            given = dict(zip(defaults, map(ast.literal_eval, call.args), strict=False))
            named = {word.arg: ast.literal_eval(word.value) for word in call.keywords if word.arg}
            yield defaults | given | named


if __name__ == "__main__":
    for package, test in needs(sys.argv[1]):
        print(package, test)
